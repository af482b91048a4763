//! The content of a refusal: which fields and which message it names.

use plumbline_bounds::pattern;
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// Maximum bytes of a body that are read.
const MOST_BYTES: usize = 16 << 10;

/// Locations in a refusal: `messages[3]`, `messages.3`, `input[3]`, and so in a list of steps (`loc`).
static PLACE: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"\b(?:messages|input)(?:\[|\.|/)(\d{1,6})\b"));

/// Numbers that are not part of a name.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"[\w.,-]+"));

/// Words of a refusal of something, not of its value.
const REFUSES: [&str; 15] = [
    "support",
    "allow",
    "unrecognized",
    "unrecognised",
    "unknown",
    "unexpected",
    "unsupported",
    "extra",
    "not permitted",
    "not enabled",
    "verified",
    "disabled",
    "deprecated",
    "no such field",
    "additional propert",
];

/// The text of a refusal, in lower case.
#[derive(Debug)]
pub(super) struct Said {
    /// The complete original text.
    pub(super) all: String,
    /// The texts in it, and lists of steps as one text.
    texts: Vec<String>,
}

impl Said {
    pub(super) fn of(body: &[u8]) -> Self {
        let all = String::from_utf8_lossy(&body[..body.len().min(MOST_BYTES)]).to_lowercase();
        let mut texts = Vec::new();
        match serde_json::from_str::<Value>(&all) {
            Ok(value) => collect(&value, &mut texts),
            Err(_) => texts.push(all.clone()),
        }
        Self { all, texts }
    }

    pub(super) fn says(&self, any: &[&str]) -> bool {
        any.iter().any(|words| self.all.contains(words))
    }

    /// Whether anything is refused.
    pub(super) fn refuses(&self) -> bool {
        self.says(&REFUSES)
    }

    /// Whether one of these is refused.
    pub(super) fn refuses_one_of(&self, names: &[&str]) -> bool {
        names.iter().any(|name| has_word(&self.all, name)) && self.refuses()
    }

    /// Whether a field is named: in quotes, as a step of a path or as a whole text; and by its bare name, if that is
    /// not an ordinary word or if something is refused.
    pub(super) fn names(&self, field: &str) -> bool {
        let field = field.to_lowercase();
        let bare = field.contains('_') || self.refuses();
        self.texts.iter().any(|text| *text == field || is_named(text, &field, bare))
    }

    /// The index of the rejected message in the request.
    pub(super) fn place(&self) -> Option<usize> {
        self.texts.iter().find_map(|text| PLACE.captures(text)?[1].parse().ok())
    }

    /// The numbers in it that are not part of a word.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        let words = self.texts.iter().flat_map(|text| NUMBER.find_iter(text));
        words.filter_map(|word| word.as_str().trim_end_matches(['.', ',']).replace(',', "").parse().ok())
    }

    /// Whether it contains a word in quotes.
    pub(super) fn quotes(&self, word: &str) -> bool {
        self.texts.iter().any(|text| places(text, word).any(|(before, after)| is_quote(before) && is_quote(after)))
    }

    /// Whether it contains a word by itself.
    pub(super) fn has_word(&self, word: &str) -> bool {
        self.texts.iter().any(|text| places(text, word).any(|(before, after)| !is_part(before) && !is_part(after)))
    }
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => {
            let steps: Vec<String> = items.iter().filter_map(step).collect();
            if steps.len() == items.len() && items.len() > 1 {
                texts.push(steps.join("."));
            }
            items.iter().for_each(|item| collect(item, texts));
        }
        Value::Object(fields) => fields.values().for_each(|value| collect(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A step of a path to a field: a name or an index.
fn step(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned).or_else(|| value.as_u64().map(|place| place.to_string()))
}

fn is_named(text: &str, field: &str, bare: bool) -> bool {
    places(text, field).any(|(before, after)| {
        !is_part(before) && !is_part(after) && (bare || is_quote(before) && is_quote(after) || before == Some('.'))
    })
}

/// The text before and after each occurrence of a word.
fn places<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = (Option<char>, Option<char>)> + 'a {
    let around = |(at, found): (usize, &str)| (text[..at].chars().next_back(), text[at + found.len()..].chars().next());
    text.match_indices(word).map(around)
}

/// Whether a name continues with this character.
fn is_part(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

fn is_quote(c: Option<char>) -> bool {
    c.is_some_and(|c| matches!(c, '\'' | '"' | '`' | '“' | '”' | '‘' | '’' | '\\'))
}

/// Whether it occurs there, and not as the end of another word.
fn has_word(said: &str, name: &str) -> bool {
    said.match_indices(name)
        .any(|(at, _)| !name.starts_with(char::is_alphabetic) || !said[..at].ends_with(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_named_in_quotes_on_a_path_or_by_a_name_that_is_no_word() {
        for (body, field, expected) in [
            (r#"{"error":{"message":"property 'reasoning' is wrong"}}"#, "reasoning", true),
            (r#"{"error":{"message":"messages[2].reasoning: no"}}"#, "reasoning", true),
            (r#"{"detail":[{"loc":["body","messages",2,"assistant","channel"],"msg":"no"}]}"#, "channel", true),
            (r#"{"error":{"param":"channel"}}"#, "channel", true),
            ("plain thinking_blocks are none", "thinking_blocks", true),
            ("Unknown field: citations", "citations", true),
            ("no citations", "citations", false),
            (r#"{"error":{"message":"a reasoning_effort is 'wrong'"}}"#, "reasoning", false),
            // The body's own keys are not names of fields.
            (r#"{"type":"error","message":"no"}"#, "message", false),
            (r#"{"error":{"message":"{\"error\":\"'Channel' no\"}"}}"#, "Channel", true),
        ] {
            assert_eq!(Said::of(body.as_bytes()).names(field), expected, "{field} in {body}");
        }
    }

    #[test]
    fn a_message_is_named_by_its_place() {
        for (body, expected) in [
            ("Invalid 'messages[3].tool_calls[0].function.name': string does not match pattern", Some(3)),
            ("messages.12.content.0.tool_use.name: String should match pattern", Some(12)),
            ("Invalid 'input[4].name'", Some(4)),
            (r#"{"detail":[{"loc":["body","messages",7,"name"],"msg":"no"}]}"#, Some(7)),
            ("messages: at least one", None),
            ("too many input.tokens", None),
        ] {
            assert_eq!(Said::of(body.as_bytes()).place(), expected, "{body}");
        }
    }

    #[test]
    fn numbers_are_those_that_stand_alone() {
        let said = Said::of(b"max_tokens: 8192 > 4,096 for claude-3-opus-20240229 at 1.5, [1, 512].");
        assert_eq!(said.numbers().collect::<Vec<u32>>(), [8192, 4096, 1, 512]);
    }
}
