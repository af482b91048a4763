//! Deliverables of other job types: files filled with quotes of the documents, if their schema allows it.

use crate::call::{Call, Turn, read_file, todo_complete, turn, write_in_pieces};
use crate::plan::manifest::chunk_file;
use crate::request_view::RequestView;
use crate::text::{Kind, Shown, findings};
use serde_json::{Map, Value, json};

/// Maximum quotes of a file.
const MOST: usize = 100;
/// Maximum depth of a schema.
const DEPTH: usize = 12;
/// Placeholder for a person's judgement.
const NOTHING: &str = "the rehearsal model is rule-based: it quotes, and judges nothing";
/// Why a deliverable is missing.
pub(crate) const UNFILLED: &str = "the rehearsal model is rule-based: it cannot fill this file's schema";

/// Writes a deliverable from the texts read in this phase; without any, the first passage is read.
pub(super) fn write(view: &RequestView<'_>, path: &str) -> Turn {
    let first = chunk_file(1);
    let texts: Vec<&str> = view.passages_read().collect();
    if texts.is_empty() && view.read(&first).is_none() {
        return turn("Reading the first passage.", vec![read_file(&first)]);
    }
    let quotes = quotes(&texts);
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

/// The duties of the texts, or else their first sentences.
fn quotes(texts: &[&str]) -> Vec<String> {
    let shown: Vec<Shown> = texts.iter().map(|text| Shown::read(text)).collect();
    let duties = shown.iter().flat_map(findings).map(|finding| finding.sentence.text.clone());
    let mut quotes: Vec<String> = duties.take(MOST).collect();
    if quotes.is_empty() {
        let sentences =
            shown.iter().flat_map(|shown| &shown.sentences).filter(|sentence| sentence.kind != Kind::Heading);
        quotes
            .extend(sentences.map(|sentence| sentence.text.clone()).filter(|text| text.split(' ').count() > 2).take(3));
    }
    quotes
}

fn listed(quotes: &[String]) -> Vec<Value> {
    quotes.iter().map(|quote| json!({ "quote": quote })).collect()
}

/// A text file: one block per quote.
fn text(path: &str, quotes: &[String]) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let quoted: String = quotes.iter().map(|quote| format!("> {quote}\n\n")).collect();
    format!("# {name}\n\n{}\n\n{NOTHING}\n\n{quoted}", crate::DISCLAIMER)
}

/// A value that satisfies a schema, with quotes for quote keys; `None` if this model finds none.
fn fill(schema: &Value, whole: &Value, key: &str, quotes: &[String], depth: usize) -> Option<Value> {
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
fn object(schema: &Value, whole: &Value, quotes: &[String], depth: usize) -> Option<Value> {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut filled = Map::new();
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        if required.contains(&key.as_str()) || holds_quotes(key) {
            filled.insert(key.clone(), fill(property, whole, key, quotes, depth)?);
        }
    }
    required.iter().all(|key| filled.contains_key(*key)).then_some(Value::Object(filled))
}

/// One item per quote, as many as the schema allows.
fn array(schema: &Value, whole: &Value, key: &str, quotes: &[String], depth: usize) -> Option<Value> {
    let bound = |key: &str| schema[key].as_u64().and_then(|bound| usize::try_from(bound).ok());
    let (least, most) = (bound("minItems").unwrap_or(0), bound("maxItems").unwrap_or(MOST));
    let count = quotes.len().clamp(least, most.max(least));
    let items = schema.get("items").filter(|items| items.is_object());
    let any = json!({"type": "string"});
    let item = |at: usize| {
        let from = if quotes.is_empty() { 0 } else { at % quotes.len() };
        fill(items.unwrap_or(&any), whole, key, &quotes[from..], depth)
    };
    (0..count).map(item).collect::<Option<Vec<_>>>().map(Value::Array)
}

fn string(schema: &Value, key: &str, quotes: &[String]) -> Option<Value> {
    if schema.get("pattern").is_some() || schema.get("format").is_some() {
        return None;
    }
    let text = if holds_quotes(key) { quotes.first()?.as_str() } else { NOTHING };
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

#[cfg(test)]
mod tests {
    use super::{DEPTH, NOTHING, fill, quotes};
    use serde_json::{Value, json};

    fn filled(schema: &Value, quotes: &[&str]) -> Option<Value> {
        let quotes: Vec<String> = quotes.iter().map(|quote| (*quote).to_owned()).collect();
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
        assert_eq!(quotes(&["[1] It is so. [2] Keys must be kept."]), ["Keys must be kept."]);
        assert_eq!(quotes(&["# [1] Head\n\n[2] It is so.", "[1] Yes."]), ["It is so."]);
    }
}
