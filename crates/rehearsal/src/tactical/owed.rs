//! Deliverables of other job types: files filled with quotes of the documents, if their schema allows it.

use crate::call::{Call, Turn, read_file, todo_complete, turn, write_in_pieces};
use crate::plan::manifest::chunk_file;
use crate::request_view::{RequestView, opening};
use crate::text::{Kind, Sentence, Shown, findings};
use plumbline_bounds::pattern;
use serde_json::{Map, Value, json};

/// Maximum quotes of a file.
const MOST: usize = 100;
/// Maximum depth of a schema.
const DEPTH: usize = 12;
/// Placeholder for a person's judgement.
const NOTHING: &str = "the rehearsal model is rule-based: it quotes, and judges nothing";
/// Why a deliverable is missing.
pub(crate) const UNFILLED: &str = "the rehearsal model is rule-based: it cannot fill this file's schema";

/// A sentence of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Quote {
    text: String,
    document: String,
}

/// Writes a deliverable from the texts read in this phase; without any, the first passage is read.
pub(super) fn write(view: &RequestView<'_>, path: &str) -> Turn {
    let first = chunk_file(1);
    let texts: Vec<&str> = view.passages_read().collect();
    if texts.is_empty() && view.read(&first).is_none() {
        return turn("Reading the first passage.", vec![read_file(&first)]);
    }
    let quotes = quotes(&texts, &opening::no_sources(view.system()));
    let schema = view.owed().into_iter().find(|owed| owed.path == path).and_then(|owed| owed.schema);
    let content = match schema {
        None if path.ends_with(".json") => Some(json!(listed(&quotes)).to_string()),
        None => Some(text(path, &quotes)),
        Some(schema) => {
            fill(&schema, &schema, "", &quotes, DEPTH).and_then(|value| serde_json::to_string_pretty(&value).ok())
        }
    };
    let (calls, notes): (Vec<Call>, String) = match content {
        Some(content) => (write_in_pieces(path, &content), format!("{path} has {} quotes", quotes.len())),
        None => (Vec::new(), format!("{path} is not written: {UNFILLED}")),
    };
    turn(notes.clone(), calls.into_iter().chain([todo_complete(&notes)]).collect())
}

/// The duties of the texts, or else their first sentences; nothing from documents that are no sources.
fn quotes(texts: &[&str], no_sources: &[String]) -> Vec<Quote> {
    let shown = texts.iter().map(|text| Shown::read(text));
    let shown: Vec<Shown> = shown.filter(|shown| !no_sources.iter().any(|name| matches(name, &shown.source))).collect();
    let quote =
        |shown: &Shown, sentence: &Sentence| Quote { text: sentence.text.clone(), document: shown.source.clone() };
    let duties = shown.iter().flat_map(|shown| findings(shown).into_iter().map(move |found| (shown, found.sentence)));
    let mut quotes: Vec<Quote> = duties.map(|(shown, sentence)| quote(shown, sentence)).take(MOST).collect();
    if quotes.is_empty() {
        let sentences = shown.iter().flat_map(|shown| shown.sentences.iter().map(move |sentence| (shown, sentence)));
        let prose =
            sentences.filter(|(_, sentence)| sentence.kind != Kind::Heading && sentence.text.split(' ').count() > 2);
        quotes.extend(prose.map(|(shown, sentence)| quote(shown, sentence)).take(3));
    }
    quotes
}

/// Whether a name with `*` as a wildcard is a document's path or file name.
fn matches(name: &str, document: &str) -> bool {
    let file = document.rsplit('/').next().unwrap_or(document);
    let name = regex::escape(name).replace(r"\*", ".*");
    pattern::of_search(&format!("^(?:{name})$"), false).is_ok_and(|name| name.is_match(file) || name.is_match(document))
}

fn listed(quotes: &[Quote]) -> Vec<Value> {
    quotes.iter().map(|quote| json!({ "quote": quote.text })).collect()
}

/// A text file: one block per quote.
fn text(path: &str, quotes: &[Quote]) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let quoted: String = quotes.iter().map(|quote| format!("> {}\n\n", quote.text)).collect();
    format!("# {name}\n\n{}\n\n{NOTHING}\n\n{quoted}", crate::DISCLAIMER)
}

/// A value that satisfies a schema, with quotes for quote keys; `None` if this model finds none.
fn fill(schema: &Value, whole: &Value, key: &str, quotes: &[Quote], depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    if let Some(pointer) = schema["$ref"].as_str() {
        return fill(whole.pointer(pointer.strip_prefix('#')?)?, whole, key, quotes, depth);
    }
    if let Some(value) = schema.get("const").or_else(|| schema["enum"].as_array()?.first()) {
        return Some(value.clone());
    }
    if let Some(choices) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        return choices.iter().find_map(|choice| fill(choice, whole, key, quotes, depth));
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"].as_array()?.first()?.as_str());
    match kind {
        Some("object") | None => object(schema, whole, quotes, depth),
        Some("array") => array(schema, whole, key, quotes, depth),
        Some("string") => string(schema, key, quotes),
        Some("integer" | "number") => Some(schema.get("minimum").cloned().unwrap_or_else(|| json!(0))),
        Some("boolean") => Some(json!(false)),
        Some("null") => Some(Value::Null),
        Some(_) => None,
    }
}

/// Required keys, and keys for quotes.
fn object(schema: &Value, whole: &Value, quotes: &[Quote], depth: usize) -> Option<Value> {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut filled = Map::new();
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        if required.contains(&key.as_str()) || holds_quotes(key) {
            filled.insert(key.clone(), fill(property, whole, key, quotes, depth)?);
        }
    }
    required.iter().all(|key| filled.contains_key(*key)).then_some(Value::Object(filled))
}

/// One item per quote, as many as the schema allows: a list within an item has the item's quote alone.
fn array(schema: &Value, whole: &Value, key: &str, quotes: &[Quote], depth: usize) -> Option<Value> {
    let bound = |key: &str| schema[key].as_u64().and_then(|bound| usize::try_from(bound).ok());
    let (least, most) = (bound("minItems").unwrap_or(0), bound("maxItems").unwrap_or(MOST));
    let count = quotes.len().clamp(least, most.max(least));
    let items = schema.get("items").filter(|items| items.is_object());
    let any = json!({"type": "string"});
    let item = |at: usize| {
        let own = at.checked_rem(quotes.len()).map_or(quotes, |at| &quotes[at..=at]);
        fill(items.unwrap_or(&any), whole, key, own, depth)
    };
    (0..count).map(item).collect::<Option<Vec<_>>>().map(Value::Array)
}

fn string(schema: &Value, key: &str, quotes: &[Quote]) -> Option<Value> {
    if schema.get("pattern").is_some() || schema.get("format").is_some() {
        return None;
    }
    let text = match quotes.first() {
        Some(quote) if holds_quotes(key) => quote.text.as_str(),
        Some(quote) if names_document(key) => quote.document.as_str(),
        None if holds_quotes(key) => return None,
        _ => NOTHING,
    };
    let length = |key: &str| schema[key].as_u64().and_then(|bound| usize::try_from(bound).ok());
    let count = text.chars().count();
    let fits = count >= length("minLength").unwrap_or(0) && count <= length("maxLength").unwrap_or(usize::MAX);
    fits.then(|| json!(text))
}

/// Whether the value of a key is looked up in the documents.
fn holds_quotes(key: &str) -> bool {
    let key = key.to_lowercase();
    ["quote", "quotation", "verbatim", "excerpt"].iter().any(|word| key.contains(word))
}

/// Whether the value of a key names the document of the quote beside it.
fn names_document(key: &str) -> bool {
    ["document", "source", "file"].contains(&key.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::{DEPTH, NOTHING, Quote, fill, matches, quotes};
    use serde_json::{Value, json};

    fn filled(schema: &Value, quotes: &[&str]) -> Option<Value> {
        let quote = |text: &&str| Quote { text: (*text).to_owned(), document: "input/a.md".to_owned() };
        let quotes: Vec<Quote> = quotes.iter().map(quote).collect();
        fill(schema, schema, "", &quotes, DEPTH)
    }

    #[test]
    fn a_schema_is_filled_with_quotes() {
        let answer = json!({"type": "object", "required": ["quote", "verdict", "page"], "properties": {
            "quote": {"type": "string"}, "verdict": {"enum": ["yes", "no"]}, "page": {"type": "integer", "minimum": 1},
            "remark": {"type": "string"}
        }});
        let schema = json!({"type": "object", "required": ["answers", "summary"], "properties": {
            "answers": {"type": "array", "items": {"$ref": "#/$defs/answer"}}, "summary": {"type": "string"}
        }, "$defs": {"answer": answer}});
        let expected = json!({"summary": NOTHING, "answers": [
            {"quote": "It must.", "verdict": "yes", "page": 1}, {"quote": "It shall.", "verdict": "yes", "page": 1}
        ]});
        assert_eq!(filled(&schema, &["It must.", "It shall."]), Some(expected));
    }

    #[test]
    fn a_schema_that_asks_for_more_is_not_filled() {
        for schema in [
            json!({"type": "string", "pattern": "^[A-Z]{3}$"}),
            json!({"type": "object", "required": ["a"]}),
            json!({"type": "string", "maxLength": 3}),
            json!({"$ref": "#"}),
            json!({"type": "object", "required": ["quote"], "properties": {"quote": {"type": "string"}}}),
        ] {
            assert_eq!(filled(&schema, &[]), None, "{schema}");
        }
    }

    #[test]
    fn duties_are_quoted_or_else_the_first_sentences() {
        let texts = |given: &[&str]| quotes(given, &[]).into_iter().map(|quote| quote.text).collect::<Vec<_>>();
        assert_eq!(texts(&["[1] It is so. [2] Keys must be kept."]), ["Keys must be kept."]);
        assert_eq!(texts(&["# [1] Head\n\n[2] It is so.", "[1] Yes."]), ["It is so."]);
    }

    #[test]
    fn a_document_that_is_no_source_is_not_quoted() {
        let questions = "<!-- source: input/questions-7.csv -->\n\n[1] Keys must be kept?";
        let policy = "<!-- source: input/policy.md | section: 1 -->\n\n[1] Keys must be kept.";
        let expected = Quote { text: "Keys must be kept.".to_owned(), document: "input/policy.md".to_owned() };
        assert_eq!(quotes(&[questions, policy], &["questions*".to_owned()]), [expected]);
        assert!(matches("input/a.md", "input/a.md") && matches("a.md", "input/a.md") && !matches("aa*aa", "aaa"));
        assert!(matches("*-q*.csv", "input/new-q7.csv") && !matches("a.md", "input/a_md"));
    }

    #[test]
    fn a_list_within_an_item_has_the_items_quote() {
        let quote = json!({"type": "object", "required": ["quote", "document"],
                           "properties": {"quote": {"type": "string"}, "document": {"type": "string"}}});
        let answer = json!({"type": "object", "required": ["quotes"],
                            "properties": {"quotes": {"type": "array", "items": quote}}});
        let schema = json!({"type": "array", "items": answer, "minItems": 3});
        let item = |quote: &str| json!({"quotes": [{"quote": quote, "document": "input/a.md"}]});
        let expected = json!([item("It must."), item("It shall."), item("It must.")]);
        assert_eq!(filled(&schema, &["It must.", "It shall."]), Some(expected));
    }
}
