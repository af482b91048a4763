//! The ledger's tools: what is left of the documents, and closing passages whose candidate sentences are no requirements.

use super::{Answer, OwnTool};
use crate::{
    Phases, Run,
    ledger::{SHORTEST_REASON, Scope, document_lines, worst},
    transition::Consequence,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// A passage is answered when verified quotes, of six sentences at most, touch each of its candidate sentences, or when
/// it has none. What is left of the others is closed here, one entry a passage, once it was read to its end. Not for
/// passages that you have not read, nor to be done with a document: more than a part of the passages closed with hardly a
/// citation fails the job.
///
/// Example: `{"passages": [{"passage": 7, "reason": "definitions of terms, nobody has to do anything"}]}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct ClosePassages {
    passages: Vec<Closing>,
}

impl OwnTool for ClosePassages {
    const NAME: &str = "close_passages";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "\
        Close passages that you have read and whose candidate sentences are no requirements, each with its \
        reason.";

    fn run(self, run: &mut Run, _: &mut Consequence) -> Answer {
        let step = run.step;
        self.passages.iter().try_for_each(Closing::check)?;
        let refused: Vec<String> =
            self.passages.iter().filter_map(|it| run.ledger.close(it.passage, &it.reason, step).err()).collect();
        let closed = self.passages.len() - refused.len();
        let progress = run.ledger.progress_in_words();
        match (closed, refused.is_empty()) {
            (0, false) => Err(format!("nothing was closed: {}.", refused.join("; "))),
            (_, false) => Ok(format!("{closed} closed, {} refused: {}. {progress}", refused.len(), refused.join("; "))),
            (_, true) => Ok(format!("{closed} closed. {progress}")),
        }
    }
}

/// A passage to be closed.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Closing {
    /// # Its number, e.g. 7 for chunks/chunk_007.md.
    passage: i32,
    /// # Why its sentences are no requirements, in a sentence.
    reason: String,
}

impl Closing {
    fn check(&self) -> Result<(), String> {
        let Self { passage, reason } = self;
        if reason.chars().count() >= SHORTEST_REASON {
            return Ok(());
        }
        Err(format!(
            "passage {passage} has no reason of {SHORTEST_REASON} characters or more: say in a sentence why nothing of it is a \
             requirement."
        ))
    }
}

/// Shows a line a document and at most 20 passages. Candidate sentences are found by the words they are written in; they
/// are a help, not a list of the requirements: a passage without any is read too.
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

    fn run(self, run: &mut Run, _: &mut Consequence) -> Answer {
        if run.ledger.is_empty() {
            return Ok("No document of this job was cut into passages.".into());
        }
        let scope = match &self.document {
            None => Scope::Job,
            Some(document) if run.ledger.knows(document) => Scope::Document(document),
            Some(document) => {
                return Err(format!(
                    "{document} has no passages. Those that have:\n{}",
                    document_lines(&run.ledger).join("\n")
                ));
            }
        };
        let left = worst(&run.ledger, &scope);
        let left = if left.is_empty() {
            "Every passage is answered.".to_string()
        } else {
            format!("Left, worst first:\n{left}")
        };
        Ok(format!("{}\n\n{left}", document_lines(&run.ledger).join("\n")))
    }
}
