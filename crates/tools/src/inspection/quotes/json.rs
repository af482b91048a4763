//! Quotes in JSON: the texts of keys such as `quote`, each with the document and page that its object gives for it.

use super::{Quoted, SaidDocument, SaidPlace};
use serde_json::{Map, Value};

/// A key with one of these words in its name contains a quote.
pub(super) const KEYS: [&str; 4] = ["quote", "quotation", "verbatim", "excerpt"];
/// Words of a key whose value is the name of a document.
const NAME: [&str; 4] = ["document", "doc", "file", "filename"];
/// Words of a key whose value may name a document and a page, in words or as an object.
const PLACE: [&str; 5] = ["source", "location", "reference", "place", "citation"];
/// Words of a key whose value is a page.
const PAGE: [&str; 2] = ["page", "pages"];
/// Words without a meaning of their own in these keys: `source_page`, `file_name`, `page_number`, `quote_text`.
const FILLERS: [&str; 8] = ["name", "path", "number", "no", "text", "source", "id", "of"];
/// An object with more keys is a list of its own kind: each of its quotes would be held against each key.
const MOST_FIELDS: usize = 100;

/// The quotes of a value and all values in it.
pub(super) fn quotes_of(value: &Value, found: &mut Vec<Quoted>) {
    of(value, &SaidPlace::default(), found);
}

fn of(value: &Value, above: &SaidPlace, found: &mut Vec<Quoted>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| of(item, above, found)),
        Value::Object(fields) => {
            let below = beside(fields, &[], above).seen_from_below();
            for (key, value) in fields {
                match marks_of(key) {
                    Some(marks) => quoted(value, &beside(fields, &marks, above), found),
                    None => of(value, &below, found),
                }
            }
        }
        _ => {}
    }
}

/// The value of a quote key: texts, or objects with keys of their own.
fn quoted(value: &Value, place: &SaidPlace, found: &mut Vec<Quoted>) {
    match value {
        Value::String(text) => {
            let text = text.trim().to_owned();
            found.push(Quoted { text, place: place.clone(), is_value: true });
        }
        Value::Array(items) => items.iter().for_each(|item| quoted(item, place, found)),
        Value::Object(_) => of(value, &place.clone().seen_from_below(), found),
        _ => {}
    }
}

/// The words of a key of a quote that distinguish it from others in its object, such as `a` in `quote_a`; none for the
/// key of anything else.
pub(super) fn marks_of(key: &str) -> Option<Vec<String>> {
    let is_quote = KEYS.iter().any(|name| key.to_lowercase().contains(name));
    is_quote.then(|| {
        let words = words_of(key).into_iter();
        words.filter(|word| !KEYS.iter().any(|name| word.contains(name)) && !FILLERS.contains(&word.as_str())).collect()
    })
}

/// What the object of a quote says about its place: keys with the same marks, else keys without any, else the object
/// above.
pub(super) fn beside(fields: &Map<String, Value>, marks: &[String], above: &SaidPlace) -> SaidPlace {
    if fields.len() > MOST_FIELDS {
        return SaidPlace::default();
    }
    let with = |names: &[&str], marks: &[String]| {
        let found = fields.iter().find(|(key, value)| !value.is_null() && is_key_of(key, names, marks));
        found.map(|(_, value)| value)
    };
    let of = |names: &[&str]| with(names, marks).or_else(|| with(names, &[]));
    let text = |value: &Value| value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let (name, place) = (of(&NAME).and_then(text), of(&PLACE));
    let inner = place.and_then(Value::as_object).map(|inner| beside(inner, &[], &SaidPlace::default()));
    let inner = inner.unwrap_or_default();
    let words = place.and_then(text);
    let mut pages = of(&PAGE).map(pages_of).unwrap_or(inner.pages);
    if let (true, Some(_), Some(words)) = (pages.is_empty(), &name, &words) {
        // A number alone may be a section.
        pages = super::place::pages(&format!("in {words}"));
    }
    match name.map(SaidDocument::Name).or(inner.document).or(words.map(SaidDocument::Words)) {
        // A page above belongs to the document above.
        Some(document) => SaidPlace { document: Some(document), pages },
        None if pages.is_empty() => above.clone(),
        None => SaidPlace { document: above.document.clone(), pages },
    }
}

/// Whether a key has one of the names, these marks, and nothing else but fillers.
fn is_key_of(key: &str, names: &[&str], marks: &[String]) -> bool {
    let words = words_of(key);
    let is_named = words.iter().any(|word| names.contains(&word.as_str()));
    let known = |word: &String| names.contains(&word.as_str()) || FILLERS.contains(&word.as_str());
    let others: Vec<&String> = words.iter().filter(|word| !known(word)).collect();
    is_named && others.iter().copied().eq(marks)
}

/// `documentA` and `document_a` are `document` and `a`.
fn words_of(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in key.chars() {
        let begins = c.is_uppercase() && before.is_lowercase() || c.is_ascii_digit() && before.is_alphabetic();
        if !c.is_alphanumeric() || begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// `12`, `[12, 13]`, `"12"`, `"p. 12-13"`.
fn pages_of(value: &Value) -> Vec<u32> {
    match value {
        Value::Number(number) => number.to_string().trim_end_matches(".0").parse().into_iter().collect(),
        Value::String(text) => super::place::pages(text),
        Value::Array(items) => items.iter().flat_map(pages_of).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Quoted, SaidDocument, quotes_of};
    use serde_json::{Value, json};

    fn places(value: &Value) -> Vec<(String, Option<String>, Vec<u32>)> {
        let mut found = Vec::new();
        quotes_of(value, &mut found);
        let place = |Quoted { text, place, .. }: Quoted| {
            let document = place.document.map(|document| match document {
                SaidDocument::Name(name) => name,
                SaidDocument::Words(words) => format!("~{words}"),
            });
            (text, document, place.pages)
        };
        let mut places: Vec<_> = found.into_iter().map(place).collect();
        places.sort();
        places
    }

    #[test]
    fn keys_beside_a_quote_say_where_it_is() {
        for (value, document, pages) in [
            (json!({"quote": "q", "document": "a.pdf", "page": 3}), Some("a.pdf"), vec![3]),
            (json!({"quote": "q", "source": "a.pdf, page 4", "pages": [3, 4]}), Some("~a.pdf, page 4"), vec![3, 4]),
            (json!({"quote_text": "q", "sourceDocument": "a.pdf", "page_number": "3-4"}), Some("a.pdf"), vec![3, 4]),
            (json!({"document": "a.pdf", "page": "p. 3", "quotes": ["q"]}), Some("a.pdf"), vec![3]),
            (json!({"source_quote": "q", "source_file": "a.pdf", "source_page": 7}), Some("a.pdf"), vec![7]),
            (json!({"quote": "q", "document": null, "document_type": "policy", "page_count": 9}), None, vec![]),
            (json!({"source": "a.pdf", "page": 2, "quotes": [{"quote": "q"}]}), Some("~a.pdf"), vec![2]),
            (json!({"document": "a.pdf", "page": 2, "rows": [{"quote": "q", "page": 3}]}), Some("~a.pdf"), vec![3]),
            (
                json!({"document": "a.pdf", "page": 2, "quotes": [{"quote": "q", "file": "b.pdf"}]}),
                Some("b.pdf"),
                vec![],
            ),
        ] {
            assert_eq!(places(&value), [("q".to_owned(), document.map(str::to_owned), pages)], "{value}");
        }
    }

    #[test]
    fn each_of_several_quotes_has_its_own_keys() {
        let value = json!({"quote_a": "one", "document_a": "a.pdf", "pageA": 1, "quoteB": "two", "document_b": "b.pdf", "page": 9});
        let (a, b) = (Some("a.pdf".to_owned()), Some("b.pdf".to_owned()));
        assert_eq!(places(&value), [("one".into(), a, vec![1]), ("two".into(), b, vec![9])]);
    }
}
