//! The ledger's tools: the remaining passages, and closing passages whose candidate sentences are not requirements.

use super::{Decision, Deed, OwnTool, todo_write::read_passages};
use crate::{
    Account, Ledger, PassageDecision, PassageState, Phases, Run,
    ledger::{SHORTEST_REASON, Scope, document_lines, is_reason, worst},
    phase::number_list::as_list,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What is left of a passage that was read to its end is closed here. Where requirements are recorded, a reason for each
/// open candidate sentence by its number (`s`) closes the passage at once; a reason for all that is left is answered with
/// these sentences, and taken when it is said again in your next answer. Where none are recorded, a passage is answered by
/// itself when verified quotes, of six sentences at most, touch each of its candidate sentences, or when it has none. Not
/// for passages that you have not read, nor to be done with a document: more than a part of the passages closed with hardly
/// a requirement or citation fails the job.
///
/// {arguments}
///
/// Examples: `{"passages": [{"passage": 7, "s": [3, 8], "reason": "definitions of terms, nobody has to do anything"}]}` ·
/// `{"passages": [{"passages": "7-9, 12", "reason": "tables of contents, nobody has to do anything"}]}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct ClosePassages {
    /// the closings: `passage` is a number, or `passages` several with one reason (`7-9, 12`); `s` are the numbers of the sentences
    /// that the `reason` is for, all that are open when left out
    passages: Vec<Closing>,
}

impl OwnTool for ClosePassages {
    const NAME: &str = "close_passages";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "\
        Close passages that you have read and whose candidate sentences are no requirements, each with its \
        reason.";

    fn decide(self, _: &Run) -> Decision {
        Ok(Deed::ClosePassages(self.passages.iter().map(Closing::read).collect::<Result<_, String>>()?))
    }
}

/// Closes passages, as far as the ledger takes it; returns the answer to the call.
pub(crate) fn close_passages(ledger: &mut Ledger, entries: &[Entry], step: i64) -> Result<String, String> {
    let mut closings: BTreeMap<i32, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        entry.passages.iter().for_each(|passage| closings.entry(*passage).or_default().push(entry));
    }
    let (mut closed, mut answered, mut told, mut refused) = (0, BTreeSet::new(), Vec::new(), Vec::new());
    for (passage, entries) in closings {
        let is_answered = ledger.get(passage).is_some_and(|known| known.state == PassageState::Answered);
        if is_answered && entries.iter().all(|entry| entry.s.is_empty()) {
            answered.insert(passage);
            continue;
        }
        match close(ledger, passage, &entries, step) {
            Ok(said) => {
                closed += 1;
                told.extend(said);
            }
            Err(why) => refused.push(why),
        }
    }
    if !answered.is_empty() {
        let (s, were) = if answered.len() == 1 { ("", "was") } else { ("s", "were") };
        told.push(format!("passage{s} {} {were} answered already", as_list(&answered)));
    }
    let progress = ledger.progress_in_words();
    let told = if told.is_empty() { String::new() } else { format!(" {}.", told.join("; ")) };
    let refusals = refused.join("; ");
    match (closed, refused.len()) {
        (0, 1..) => Err(format!("nothing was closed: {refusals}.{told}")),
        (_, 1..) => Ok(format!("{closed} closed, {} refused: {refusals}.{told} {progress}", refused.len())),
        (_, 0) => Ok(format!("{closed} closed.{told} {progress}")),
    }
}

/// Closes one passage with all that the call says about it; returns which candidates are closed.
fn close(ledger: &mut Ledger, passage: i32, entries: &[&Entry], step: i64) -> Result<Option<String>, String> {
    if !ledger.records() {
        let reasons: Vec<&str> = entries.iter().map(|entry| entry.reason.as_str()).collect();
        return ledger.close(passage, &reasons.join("; "), step).map(|()| None);
    }
    let (of_rest, of_numbers): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|entry| entry.s.is_empty());
    let account = |entry: &Entry| {
        entry.s.iter().map(|sentence| (*sentence, Account::Why(entry.reason.clone()))).collect::<Vec<_>>()
    };
    let by_number = of_numbers.into_iter().flat_map(account).collect();
    let reasons: Vec<&str> = of_rest.iter().map(|entry| entry.reason.as_str()).collect();
    let why = (!reasons.is_empty()).then(|| reasons.join("; "));
    let decided = ledger.decide(&PassageDecision { passage, by_number, why, decides: true }, step);
    if decided.is_taken { Ok(Some(decided.said)) } else { Err(decided.said) }
}

/// A passage to be closed, or several with one reason.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Closing {
    /// # Its number, e.g. 7 for chunks/chunk_007.md.
    passage: Option<i32>,
    /// # Several with one reason, e.g. "7-9, 12", in place of passage.
    #[schemars(with = "Option<String>")]
    passages: Option<Value>,
    /// # Beside passage: the numbers of the sentences that this reason is for; all that are open when left out.
    #[schemars(with = "Option<Vec<i32>>")]
    s: Option<Value>,
    /// # Why its sentences are no requirements, in a sentence.
    reason: String,
}

/// One reason, and what it applies to.
pub(crate) struct Entry {
    passages: BTreeSet<i32>,
    /// The sentences of the one passage; empty: all open ones.
    s: BTreeSet<i32>,
    reason: String,
}

impl Closing {
    fn read(&self) -> Result<Entry, String> {
        let list = |key: &str, value: Option<&Value>| {
            read_passages(value).ok_or_else(|| format!("'{key}' must list numbers as in \"7-9, 12\"."))
        };
        let (mut passages, s) = (list("passages", self.passages.as_ref())?, list("s", self.s.as_ref())?);
        passages.extend(self.passage);
        let (named, reason) = (as_list(&passages), self.reason.clone());
        if passages.is_empty() {
            return Err("each of 'passages' must name a passage by its number.".into());
        }
        if !s.is_empty() && passages.len() > 1 {
            return Err(format!("'s' names sentences of one passage, not of {named}: give each an entry of its own."));
        }
        if !is_reason(&reason) {
            return Err(format!(
                "passage {named} has no reason in words of {SHORTEST_REASON} characters or more: say in a sentence why nothing of it is a \
                 requirement."
            ));
        }
        Ok(Entry { passages, s, reason })
    }
}

/// Shows a line a document and at most 20 passages. Candidate sentences are found by the words they are written in; they
/// are a help, not a list of the requirements: a passage without any is read too.
///
/// {arguments}
///
/// Example: `{"document": "input/policy.pdf"}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Coverage {
    /// # One document, e.g. input/policy.pdf; all when left out.
    document: Option<String>,
}

impl OwnTool for Coverage {
    const NAME: &str = "coverage";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "\
        What is left of the documents: passages that are unread or have candidate sentences without a \
        quote, worst first.";
    const READS_ONLY: bool = true;

    fn decide(self, run: &Run) -> Decision {
        if run.ledger().is_empty() {
            return Ok(Deed::Answer("No document of this job was cut into passages.".into()));
        }
        let scope = match &self.document {
            None => Scope::Job,
            Some(document) if run.ledger().knows(document) => Scope::Document(document),
            Some(document) => {
                return Err(format!(
                    "{document} has no passages. Those that have:\n{}",
                    document_lines(run.ledger()).join("\n")
                ));
            }
        };
        let left = worst(run.ledger(), &scope);
        let left = if left.is_empty() {
            "Every passage is answered.".to_string()
        } else {
            format!("Left, worst first:\n{left}")
        };
        Ok(Deed::Answer(format!("{}\n\n{left}", document_lines(run.ledger()).join("\n"))))
    }
}
