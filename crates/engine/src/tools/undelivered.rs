//! `undelivered` of `job_complete`: requested items that are missing, each with its reason. A sentence, or an object
//! that identifies the item in a countable form: passages of a document, a phase of the plan, any other item.

use super::arguments;
use crate::Passage;
use crate::phase::number_list::{numbers_after, read_list};
use crate::vocabulary::says_something;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// An entry, as a request describes it.
#[derive(JsonSchema)]
#[schemars(untagged, deny_unknown_fields)]
#[expect(dead_code, reason = "entries are kept as the model wrote them; this is their schema")]
pub(super) enum Entry {
    Sentence(String),
    Part {
        passages: Option<Vec<i32>>,
        document: Option<String>,
        /// # Name or number of a phase of the plan.
        phase: Option<String>,
        item: Option<String>,
        reason: String,
    },
}

/// The entries, as the model wrote them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Undelivered {
    entries: Vec<Value>,
    /// The system's own entries: passages that have no text.
    unreadable: Vec<Value>,
}

impl<'de> Deserialize<'de> for Undelivered {
    fn deserialize<D: Deserializer<'de>>(argument: D) -> Result<Self, D::Error> {
        Self::read(Value::deserialize(argument)?).map_err(D::Error::custom)
    }
}

impl Undelivered {
    /// Parses the argument: a list of both forms; a single entry is a list of one.
    fn read(argument: Value) -> Result<Self, String> {
        let entries = match argument {
            Value::Null => Vec::new(),
            Value::Array(entries) => entries,
            one @ (Value::String(_) | Value::Object(_)) => vec![one],
            other => {
                let kind = arguments::kind(&other);
                return Err(format!("argument 'undelivered' must be a list of sentences or objects, not {kind}."));
            }
        };
        let entries: Result<Vec<Value>, String> = (1..).zip(entries).map(|(at, entry)| checked(at, entry)).collect();
        let entries = entries?.into_iter().filter(|entry| *entry != Value::Null).collect();
        Ok(Self { entries, unreadable: Vec::new() })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The same with these passages without text, added by the system: one entry per document and reason.
    pub(super) fn with_unreadable(mut self, passages: &[&Passage]) -> Self {
        let mut entries: BTreeMap<(&str, &str), Vec<i32>> = BTreeMap::new();
        for passage in passages {
            let reason = passage.reason.as_deref().unwrap_or("it has no text that could be read");
            entries.entry((&passage.document, reason)).or_default().push(passage.number);
        }
        let entry =
            |((document, reason), passages)| json!({"passages": passages, "document": document, "reason": reason});
        self.unreadable = entries.into_iter().map(entry).collect();
        self
    }

    /// As stored in the result.
    pub(super) fn to_json(&self) -> Value {
        Value::Array(self.entries.iter().chain(&self.unreadable).cloned().collect())
    }

    /// One sentence per entry.
    pub(super) fn sentences(&self) -> Vec<String> {
        self.entries.iter().chain(&self.unreadable).map(sentence).collect()
    }

    /// Whether an entry is about a whole file: its item is the file's path, or its sentence begins with the path and a
    /// colon. An entry about a missing part of a file does not give up the file.
    pub(super) fn gives_up(&self, path: &str) -> bool {
        let is_whole = |said: &str| {
            let said = said.trim().trim_start_matches('`').trim_start_matches("./");
            let rest = said.strip_prefix(path).map(|rest| rest.trim_start_matches('`').trim_start());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        };
        self.sentences().iter().any(|said| is_whole(said))
    }

    /// The numbers of the named passages, each once.
    pub(super) fn passages(&self) -> BTreeSet<i32> {
        let lists = self.entries.iter().filter_map(|entry| entry.get("passages")?.as_array());
        lists.flatten().filter_map(arguments::number).filter_map(|number| i32::try_from(number).ok()).collect()
    }

    /// The same with each of these passages in at most one entry, and no others: answered passages are not undelivered.
    pub(super) fn of_passages(&self, open: &BTreeSet<i32>) -> Self {
        let mut left = open.clone();
        let mut keep = |number: &Value| {
            let number = arguments::number(number).and_then(|number| i32::try_from(number).ok());
            number.is_some_and(|number| left.remove(&number))
        };
        let entries = self.entries.iter().filter_map(|entry| {
            let mut entry = entry.clone();
            let Some(Value::Array(passages)) = entry.get_mut("passages") else { return Some(entry) };
            passages.retain(&mut keep);
            let says_more = !passages.is_empty() || entry.get("item").is_some() || entry.get("phase").is_some();
            says_more.then_some(entry)
        });
        Self { entries: entries.collect(), unreadable: self.unreadable.clone() }
    }

    /// Whether a phase of the plan is named, by number or by name.
    pub(super) fn names_phase(&self, ordinal: i32, name: Option<&str>) -> bool {
        self.entries.iter().any(|entry| match entry {
            Value::String(text) => names_in_text(text, ordinal, name),
            entry => match entry.get("phase") {
                Some(phase @ Value::Number(_)) => arguments::number(phase) == Some(i64::from(ordinal)),
                Some(Value::String(phase)) => {
                    let is_name =
                        |name: &str| !name.is_empty() && has_words(&phase.to_lowercase(), &name.to_lowercase());
                    phase.trim().parse() == Ok(ordinal)
                        || name.is_some_and(is_name)
                        || names_in_text(phase, ordinal, name)
                }
                _ => false,
            },
        })
    }
}

/// Whether a call of `job_complete` declares a file undelivered, even if it exists.
pub fn gives_up(call: &Map<String, Value>, path: &str) -> bool {
    let argument = call.get("undelivered").cloned().unwrap_or_default();
    Undelivered::read(argument).is_ok_and(|undelivered| undelivered.gives_up(path))
}

fn checked(at: usize, entry: Value) -> Result<Value, String> {
    match entry {
        Value::String(text) if !says_something(&text) => Ok(Value::Null),
        Value::String(text) => Ok(Value::String(text.trim().to_string())),
        Value::Object(mut fields) => {
            if let Some(passages) = fields.get_mut("passages").filter(|passages| !passages.is_null()) {
                *passages = numbers_of(at, passages)?;
            }
            let reason = fields.get("reason").and_then(Value::as_str).unwrap_or_default();
            let names_something = ["passages", "phase", "item", "document"].iter().any(|key| fields.contains_key(*key));
            if !names_something {
                return Err(format!("entry {at} of 'undelivered' names neither passages nor a phase nor an item."));
            }
            if !says_something(reason) {
                return Err(format!("entry {at} of 'undelivered' has no reason: say in a sentence why it is missing."));
            }
            Ok(Value::Object(fields))
        }
        other => Err(format!(
            "entry {at} of 'undelivered' must be a sentence or an object such as {{\"phase\": \"Annexes\", \"reason\": \
             \"no time was left\"}}, not {}.",
            arguments::kind(&other)
        )),
    }
}

/// The passages of an entry, as numbers: "7-9, 12" and ["7"] are both accepted.
fn numbers_of(at: usize, passages: &Value) -> Result<Value, String> {
    let number = |value: &Value| arguments::number(value).and_then(|number| i32::try_from(number).ok());
    let numbers: Option<Vec<i32>> = match passages {
        Value::Array(list) => list.iter().map(number).collect(),
        Value::String(list) => read_list(list).map(|numbers| numbers.into_iter().collect()),
        one => number(one).map(|number| vec![number]),
    };
    numbers.map(Value::from).ok_or_else(|| {
        format!(
            "entry {at} of 'undelivered': `passages` must be a list of numbers such as [7, 8], the numbers of passages."
        )
    })
}

fn sentence(entry: &Value) -> String {
    let Value::Object(fields) = entry else { return entry.as_str().unwrap_or_default().to_string() };
    let text = |key: &str| match fields.get(key) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Null) | None => None,
        Some(other) => Some(other.to_string()),
    };
    let phase = text("phase").map(|phase| format!("phase {phase}"));
    let passages = text("passages").map(|passages| format!("passages {passages}"));
    let what: Vec<String> = [phase, passages, text("document"), text("item")].into_iter().flatten().collect();
    format!("{}: {}", what.join(" of "), text("reason").unwrap_or_default())
}

/// Whether a sentence names a phase: by "phase 3", "phases 2-4", or by the phase's name if the sentence begins with it
/// or mentions a phase. The name of a phase is often a common word.
fn names_in_text(text: &str, ordinal: i32, name: Option<&str>) -> bool {
    let text = text.trim().to_lowercase();
    let is_about_it = |name: &str| text.contains("phase") && has_words(&text, name) || begins_with_words(&text, name);
    let by_name =
        name.map(|name| name.trim().to_lowercase()).is_some_and(|name| !name.is_empty() && is_about_it(&name));
    by_name || numbers_after(&text, &["phase"]).contains(&ordinal)
}

fn begins_with_words(text: &str, words: &str) -> bool {
    text.strip_prefix(words).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

fn has_words(text: &str, words: &str) -> bool {
    text.match_indices(words)
        .any(|(at, _)| !text[..at].ends_with(char::is_alphanumeric) && begins_with_words(&text[at..], words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(undelivered: Value) -> Result<Undelivered, String> {
        Undelivered::read(undelivered)
    }

    #[test]
    fn both_forms_are_read_and_nonsense_is_refused_with_an_example() {
        let both = json!(["page 7: no text", {"phase": "Annexes", "reason": "the budget ended before"}, " ", "...", "\u{200b}"]);
        let read = of(both).expect("both forms are read");
        assert_eq!(read.sentences(), ["page 7: no text", "phase Annexes: the budget ended before"]);
        for (wrong, why) in [
            (json!([1]), "not a number"),
            (json!([{"phase": "Annexes", "reason": " - "}]), "has no reason"),
            (json!([{"reason": "nothing was possible"}]), "names neither"),
            (json!(true), "not true or false"),
        ] {
            let refused = of(wrong.clone()).expect_err("it is refused");
            assert!(refused.contains(why), "{wrong}: {refused}");
        }
    }

    #[test]
    fn a_phase_is_named_by_its_number_or_its_name() {
        let read =
            of(json!(["Phases 2-4 and the annex were not begun", {"phase": "7", "reason": "no budget was left"},
            {"phase": "Consolidation", "reason": "no budget was left"}]))
            .expect("it is read");
        let named: Vec<i32> = (1..=9).filter(|ordinal| read.names_phase(*ordinal, None)).collect();
        assert_eq!(named, [2, 3, 4, 7]);
        assert!(read.names_phase(9, Some("consolidation")));
        assert!(!read.names_phase(9, Some("Extraction")));
        let read = of(json!(["a consolidation report of annex B was not written", "Report: no time was left"]));
        let read = read.expect("it is read");
        assert!(!read.names_phase(9, Some("Consolidation")), "the word of a phase is not the phase");
        assert!(read.names_phase(9, Some("Report")));
    }

    #[test]
    fn a_file_is_declared_undelivered_as_a_whole_or_not() {
        let gives_up = |entry: Value| of(json!([entry])).expect("it is read").gives_up("output/a.md");
        for whole in ["output/a.md", "`./output/a.md`: no time", "output/a.md: question 7 has no answer"] {
            assert!(gives_up(json!(whole)), "{whole}");
        }
        assert!(gives_up(json!({"item": "output/a.md", "reason": "no document answers it"})));
        assert!(!gives_up(json!({"item": "question 7 of output/a.md", "reason": "no document answers it"})));
        assert!(!gives_up(json!("output/a.md.sig: no key")) && !gives_up(json!("in output/a.md: a table")));
    }

    #[test]
    fn passages_are_numbers_however_they_were_written() {
        let read = of(json!([{"passages": "7-9, 12", "reason": "no time"}, {"passages": ["3"], "reason": "no time"}]));
        let read = read.expect("it is read").to_json();
        assert_eq!((&read[0]["passages"], &read[1]["passages"]), (&json!([7, 8, 9, 12]), &json!([3])));
        let refused = of(json!([{"passages": "all of them", "reason": "no time"}])).expect_err("it is no list");
        assert!(refused.contains("must be a list of numbers"), "{refused}");
    }

    #[test]
    fn passages_without_text_are_named_by_the_system() {
        let unread = |number, reason: &str| Passage {
            reason: Some(reason.into()),
            ..Passage::unread(number, "input/a.pdf", number)
        };
        let passages = [unread(2, "a scan"), unread(3, "a scan"), unread(5, "damaged")];
        let named = of(json!(["the annex"])).expect("it is read").with_unreadable(&passages.iter().collect::<Vec<_>>());
        let expected = json!(["the annex", {"passages": [2, 3], "document": "input/a.pdf", "reason": "a scan"},
            {"passages": [5], "document": "input/a.pdf", "reason": "damaged"}]);
        assert_eq!((named.to_json(), named.is_empty()), (expected, false));
    }

    #[test]
    fn passages_are_counted_once() {
        let entry = |passages: Value| json!({"passages": passages, "document": "input/a.pdf", "reason": "only a table of contents"});
        let read = of(json!([entry(json!([3, 1, 2])), entry(json!([3, "4"]))])).expect("it is read");
        assert_eq!(read.passages().into_iter().collect::<Vec<_>>(), [1, 2, 3, 4]);
    }
}
