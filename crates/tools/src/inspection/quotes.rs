//! Finds quotes in a model's files.

use plumbline_documents::quotes::SHORTEST;
use serde_json::Value;

/// Opening quotation marks, each with its possible closing ones.
const MARKS: [(char, &[char]); 5] =
    [('"', &['"']), ('“', &['”']), ('„', &['“', '”', '"']), ('«', &['»']), ('»', &['«'])];
/// Fewer words in quotation marks are a term, not a quote.
const LEAST_WORDS: usize = 3;
/// A key with one of these in its name contains a quote.
const KEYS: [&str; 4] = ["quote", "quotation", "verbatim", "excerpt"];
/// Delimiters before the source at the end of a block quote: a dash, or a parenthesis.
const BEFORE_SOURCE: [&str; 5] = ["— ", "– ", "-- ", "(", "["];
/// Maximum characters of a source at the end of a quote.
const LONGEST_SOURCE: usize = 120;
/// Beginnings of a source that does not name its document.
const PLACES: [&str; 12] =
    ["p.", "pp.", "page", "pages", "§", "section", "clause", "article", "art.", "annex", "source:", "seite"];
/// A shorter name occurs in any sentence.
const LEAST_NAME: usize = 4;

/// The quotes in a file: in JSON the texts of quote keys; otherwise block quotes and text in quotation marks, except in
/// link titles and headings.
pub(crate) fn quotes(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let lines = || text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    match ending(path) {
        "json" => serde_json::from_str(text).iter().for_each(|value| in_json(value, false, &mut found)),
        "jsonl" => lines().for_each(|value| in_json(&value, false, &mut found)),
        _ => in_text(text, &mut found),
    }
    found.retain(|quote| counts(quote));
    found.dedup();
    found
}

/// The quotes in headings of a text; [`quotes`] has the others. A heading may repeat a question, which is not a quote.
pub(crate) fn in_headings(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_code = false;
    if !matches!(ending(path), "json" | "jsonl") {
        for line in text.lines().map(str::trim) {
            in_code ^= line.starts_with("```");
            if !in_code && is_heading(line) {
                in_marks(line, &mut found);
            }
        }
    }
    found.retain(|quote| counts(quote));
    found
}

/// `## Question 7`.
fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - text.len())) && text.starts_with([' ', '\t'])
}

/// Whether a quote is long enough to prove anything.
fn counts(quote: &str) -> bool {
    quote.chars().count() >= SHORTEST && quote.split_whitespace().count() >= LEAST_WORDS
}

/// The forms of a quote to look up: verbatim and, as fallbacks, without the punctuation at its end, which may belong to
/// the surrounding sentence, and without the source at its end. `documents` are the names by which a source is
/// recognized.
pub(crate) fn forms<'a>(quote: &'a str, documents: &[&str]) -> Vec<&'a str> {
    let mut forms = vec![quote, bare(quote)];
    forms.extend(without_source(quote, documents).into_iter().flat_map(|quote| [quote, bare(quote)]));
    forms.dedup();
    forms.retain(|form| counts(form));
    forms
}

fn bare(quote: &str) -> &str {
    quote.trim_end_matches(['.', ',', ';', ':', '!', '?'])
}

/// The text before `— policy.md, page 3` or `(policy.md, page 3)`.
fn without_source<'a>(quote: &'a str, documents: &[&str]) -> Option<&'a str> {
    let ends = BEFORE_SOURCE.iter().filter_map(|before| Some((quote.rfind(before)?, before.len())));
    let mut ends: Vec<(usize, usize)> = ends.collect();
    ends.sort_unstable();
    let end = ends.into_iter().find(|(at, before)| is_source(&quote[at + before..], documents));
    end.map(|(at, _)| quote[..at].trim_end().trim_end_matches(is_mark).trim_end())
}

/// Whether a text is the source of a quote: it names a document, or begins with a place.
fn is_source(said: &str, documents: &[&str]) -> bool {
    let said = said.trim().to_lowercase();
    let is_place = |place: &str| said.strip_prefix(place).is_some_and(|rest| !rest.starts_with(char::is_alphabetic));
    let is_document = |name: &str| name.chars().count() >= LEAST_NAME && said.contains(&name.to_lowercase());
    said.chars().count() <= LONGEST_SOURCE
        && (PLACES.iter().any(|place| is_place(place)) || documents.iter().any(|name| is_document(name)))
}

fn is_mark(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '«' | '»')
}

/// How to write a quote in a file so that it counts, for use after a colon.
pub(crate) fn how_to_quote(path: &str) -> String {
    match ending(path) {
        "json" | "jsonl" => {
            let keys = KEYS.map(|key| format!("`{key}`")).join(", ");
            format!(
                "in JSON the text of a key counts whose name has one of {keys} in it, of {LEAST_WORDS} words or more"
            )
        }
        _ => format!("{LEAST_WORDS} words or more count that stand in quotation marks or in a block quote (`> …`)"),
    }
}

fn ending(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or_default()
}

fn in_json(value: &Value, is_quote: bool, found: &mut Vec<String>) {
    match value {
        Value::String(text) if is_quote => found.push(text.trim().to_owned()),
        Value::Array(items) => items.iter().for_each(|item| in_json(item, is_quote, found)),
        Value::Object(fields) => {
            let named = |key: &str| KEYS.iter().any(|name| key.to_lowercase().contains(name));
            fields.iter().for_each(|(key, value)| in_json(value, named(key), found));
        }
        _ => {}
    }
}

/// Paragraph by paragraph: an unclosed quotation mark ends with its paragraph.
fn in_text(text: &str, found: &mut Vec<String>) {
    let (mut block, mut paragraph) = (String::new(), String::new());
    let mut in_code = false;
    for line in text.lines().chain([""]) {
        let line = line.trim();
        in_code ^= line.starts_with("```");
        match line.strip_prefix('>') {
            Some(quoted) if !in_code => join(&mut block, quoted.trim()),
            _ => {
                end_of_block(&mut block, found);
                let ends = line.is_empty() || in_code || is_definition(line) || is_heading(line);
                match ends {
                    true => in_marks(&std::mem::take(&mut paragraph), found),
                    false => join(&mut paragraph, line),
                }
            }
        }
    }
    end_of_block(&mut block, found);
}

fn join(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(line);
}

/// `[name]: address "title"`, a link reference definition.
fn is_definition(line: &str) -> bool {
    line.starts_with('[') && line.contains("]: ")
}

/// A block quote is one quote, unless it begins with a quotation mark: then the quotes are in quotation marks, and the
/// rest is the source.
fn end_of_block(block: &mut String, found: &mut Vec<String>) {
    let whole = std::mem::take(block);
    let whole = whole.trim();
    let before = found.len();
    if whole.starts_with(is_mark) {
        in_marks(whole, found);
        if found[before..].iter().any(|quote| counts(quote)) {
            return;
        }
        found.truncate(before);
    }
    let bare = whole.trim_matches(is_mark);
    if !bare.is_empty() {
        found.push(bare.to_owned());
    }
}

fn in_marks(paragraph: &str, found: &mut Vec<String>) {
    let mut rest = paragraph;
    while let Some((at, open)) = rest.char_indices().find(|(_, c)| MARKS.iter().any(|(mark, _)| mark == c)) {
        if let Some(link) = rest[..at].find("](")
            && let Some(behind) = behind_address(&rest[link + 2..])
        {
            rest = behind;
            continue;
        }
        let inner = &rest[at + open.len_utf8()..];
        let closing = MARKS.iter().find(|(mark, _)| *mark == open).map_or(&[][..], |(_, closing)| closing);
        let Some(end) = inner.find(|c| closing.contains(&c)) else { return };
        found.push(inner[..end].trim().to_owned());
        rest = inner[end..].char_indices().nth(1).map_or("", |(next, _)| &inner[end + next..]);
    }
}

/// The text after a link's address and title, `address "title")`; none if the link is never closed.
fn behind_address(link: &str) -> Option<&str> {
    let (mut depth, mut in_title) = (1, false);
    for (at, c) in link.char_indices() {
        match c {
            '"' => in_title = !in_title,
            '(' if !in_title => depth += 1,
            ')' if !in_title => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&link[at + 1..]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{forms, in_headings, quotes};
    use serde_json::json;

    #[test]
    fn quotes_are_in_marks_and_blocks_and_under_keys() {
        let text = "The policy says “records are kept for ten years.” and calls a \"record\" so.\n\n> Invoices are kept\n> for \
                    six years.\n\nA mark \" that is never closed\n\nEr sagt „es gilt für alle“ und «tout est bien dit».\n";
        let expected = [
            "records are kept for ten years.",
            "Invoices are kept for six years.",
            "es gilt für alle",
            "tout est bien dit",
        ];
        assert_eq!(quotes("output/a.md", text), expected);
        let json = json!({"differences": [{"quote_a": "one two three", "note": "\"four five six\"", "Quotes": ["seven eight nine"]}]});
        let mut found = quotes("output/a.json", &json.to_string());
        found.sort();
        assert_eq!(found, ["one two three", "seven eight nine"]);
        assert_eq!(quotes("output/a.jsonl", "{\"quote\": \"one two three\"}\n{\"quote\": \"x\"}\n"), ["one two three"]);
    }

    #[test]
    fn a_link_and_its_title_are_no_quote() {
        let text = "See [the policy](https://example.com/a_(b) \"The policy of the office\"), which says \"kept for ten years\".\n\
                    ![A scan](scan.png \"Page one of two\")\n\n[policy]: https://example.com \"The policy of the office\"\n\n\
                    A [list](of things, and \"words that do count\".\n";
        assert_eq!(quotes("output/a.md", text), ["kept for ten years", "words that do count"]);
    }

    #[test]
    fn headings_are_distinguished_from_the_text_around_them() {
        let text = "It says \"kept for ten years\".\n## Who is the \"sole and final owner\"?\n#\"one two three\"\n\n\
                    ```\n# \"four five six\"\n```\n";
        assert_eq!(quotes("output/a.md", text), ["kept for ten years", "one two three"]);
        assert_eq!(in_headings("output/a.md", text), ["sole and final owner"]);
        assert_eq!(in_headings("output/a.json", text), Vec::<String>::new());
    }

    #[test]
    fn a_block_quote_may_name_its_source() {
        let blocks = "> \"Invoices are kept for six years.\" (policy.md, page 3)\n\n> Logs are kept for a year.\n> — policy.md, page 4\n";
        let found = quotes("output/a.md", blocks);
        assert_eq!(found, ["Invoices are kept for six years.", "Logs are kept for a year. — policy.md, page 4"]);
        let documents = ["policy.md", "policy"];
        let whole = "Logs are kept for a year.";
        for (quote, meant) in [
            ("Logs are kept for a year. — policy.md, page 4", whole),
            ("Logs are kept for a year. (p. 4)", whole),
            ("Logs are kept for a year. [Policy, clause 4]", whole),
            ("Logs are kept for a year\" (section 4.2)", "Logs are kept for a year"),
        ] {
            assert!(forms(quote, &documents).contains(&meant), "{quote}: {:?}", forms(quote, &documents));
        }
        for quote in
            ["Logs are kept for a year (unless they are not)", "Logs are kept — by the office", "A term (policy.md)"]
        {
            let shorter = quote.split(['(', '—']).next().unwrap_or_default().trim_end();
            assert!(!forms(quote, &documents).contains(&shorter), "{quote}: {:?}", forms(quote, &documents));
        }
    }

    #[test]
    fn keys_of_json_that_hold_a_quote() {
        let json = json!({"a": {"verbatim_text": "one two three", "source_excerpt": "four five six", "answer": "\"seven eight nine\""}});
        let mut found = quotes("output/a.json", &json.to_string());
        found.sort();
        assert_eq!(found, ["four five six", "one two three"]);
    }
}
