//! Turns that only rework what is there: a counter in a note, a file written again, a requirement withdrawn and recorded
//! again. Each of them changes something, so it is no idle turn, and a looping model makes them without end.

use crate::{Ledger, run::is_default};
use serde::{Deserialize, Serialize};

/// The bound on the costs of turns: so many times `limits.turns_without_progress`.
const TIMES: u32 = 12;
/// Tools whose answers come from a service, by the beginnings of their names.
const SERVICES: [&str; 3] = ["http_", "mcp_", "web_search"];

/// The most that a turn brought which did not bring the work further.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum News {
    /// Mere rework.
    #[default]
    None,
    /// A text of the workspace that was not shown before, or new content outside the notes.
    Own,
    /// A new answer of a service, as in research whose results are appended to one file.
    Service,
}

impl News {
    /// What a text brings that a call of this tool shows for the first time.
    pub(crate) fn of(tool: &str) -> Self {
        if SERVICES.iter().any(|begin| tool.starts_with(begin)) { Self::Service } else { Self::Own }
    }

    /// What the turn costs. Three times `limits.turns_without_progress` are the least for mere rework: a note a turn, for sixty
    /// turns, is work. Each text is looked up in one turn and noted in the next, so a hundred answers of a service fit.
    fn cost(self) -> u32 {
        match self {
            Self::None => 4,
            Self::Own => 2,
            Self::Service => 1,
        }
    }
}

/// How far the phase has come, and the turns since it came further.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rework {
    /// New files, documents extracted, quotes, judgements and writes to the graph.
    #[serde(skip_serializing_if = "is_default")]
    pub gains: u32,
    /// Changes of requirements.
    #[serde(skip_serializing_if = "is_default")]
    pub changes: u32,
    /// What the turn has brought.
    #[serde(skip_serializing_if = "is_default")]
    pub news: News,
    /// The most that the phase had reached by gains, changes and closed todos.
    #[serde(skip_serializing_if = "is_default")]
    pub reached: u32,
    /// The most passages that were worked.
    #[serde(skip_serializing_if = "is_default")]
    pub passages: u32,
    /// The most sentences that were worked.
    #[serde(skip_serializing_if = "is_default")]
    pub sentences: u32,
    /// Turns since one of the three grew.
    #[serde(skip_serializing_if = "is_default")]
    pub turns: u32,
    /// Their cost.
    #[serde(skip_serializing_if = "is_default")]
    pub cost: u32,
}

impl Rework {
    /// The count after one more turn. `closed`: todos that the model has closed in the phase.
    #[must_use]
    pub(crate) fn after_turn(mut self, closed: u32, ledger: &Ledger) -> Self {
        let news = std::mem::take(&mut self.news);
        if self.comes_further(closed, ledger) {
            self.restart();
        } else {
            self.turns += 1;
            self.cost += news.cost();
        }
        self
    }

    /// Whether a count is higher than it ever was in the phase. The sentences come last, because counting those of thousands
    /// of pages takes milliseconds.
    fn comes_further(&mut self, closed: u32, ledger: &Ledger) -> bool {
        // Each active requirement may be changed once in a phase: one withdrawn and recorded again is one.
        let reached = self.gains + closed + self.changes.min(ledger.active());
        rises(&mut self.reached, reached)
            || rises(&mut self.passages, ledger.passages_worked())
            || rises(&mut self.sentences, ledger.sentences_worked())
    }

    /// A person has looked at the job.
    pub(crate) fn restart(&mut self) {
        (self.turns, self.cost) = (0, 0);
    }

    /// Why the phase is planned again, if its turns came to nothing new for too long.
    pub(crate) fn too_long(&self, turns_without_progress: u32) -> Option<String> {
        (self.cost >= turns_without_progress.saturating_mul(TIMES)).then(|| {
            format!(
                "in {} turns no todo was closed, and nothing new came of the work: what changed in them had been there before, \
                 such as notes and files written again or requirements recorded again",
                self.turns
            )
        })
    }
}

fn rises(most: &mut u32, now: u32) -> bool {
    let before = std::mem::replace(most, now.max(*most));
    now > before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Requirement, RequirementChange, ledger::tests::walk::unquoted};
    use serde_json::Map;

    fn requirement(number: usize) -> Requirement {
        unquoted(format!("req_{number}"))
    }

    /// A job with ten requirements, in a phase that changes them in its turns.
    fn changing(turns: usize, mut change: impl FnMut(usize, &mut Ledger)) -> Rework {
        let (mut ledger, mut rework) = (Ledger::default(), Rework::default());
        (0..10).for_each(|number| ledger.record(&mut requirement(number), 1));
        for turn in 0..turns {
            change(turn, &mut ledger);
            rework.changes += 1;
            rework = rework.after_turn(0, &ledger);
        }
        rework
    }

    #[test]
    fn a_requirement_withdrawn_and_recorded_again_without_end_is_rework() {
        let again = |turn: usize, ledger: &mut Ledger| {
            let (candidate_id, reason) = (format!("req_{turn}"), "wrong".to_owned());
            ledger.change(&RequirementChange { candidate_id, reason, becomes: None, fields: Map::new() }, 2);
            ledger.record(&mut requirement(turn + 10), 2);
        };
        assert_eq!(changing(60, again).too_long(25), None, "some may be recorded again");
        assert!(changing(100, again).too_long(25).is_some());
        assert_eq!(changing(10, |_, _| {}).turns, 0, "each is changed once");
    }
}
