//! Turns that only rework what is there: a counter in a note, a file written again, a requirement withdrawn and recorded
//! again. Each of them changes something, so it is no idle turn, and a looping model makes them without end.

use crate::{Ledger, Run, run::is_default};
use serde::{Deserialize, Serialize};

/// What a turn of mere rework costs.
const REWORK: u32 = 2;
/// What it costs if it showed a new text or wrote new content, as in work with an outside tool whose results are appended
/// to one file.
const WITH_NEWS: u32 = 1;
/// The bound on the costs: so many times `limits.turns_without_progress`, hence three times as many turns of mere rework.
/// Fewer would hit honest notes: a note a turn, for sixty turns, is work.
const TIMES: u32 = 6;

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
    /// Whether the turn has shown a new text, or written new content outside the notes.
    #[serde(skip_serializing_if = "is_default")]
    pub has_news: bool,
    /// The most that the phase had reached.
    #[serde(skip_serializing_if = "is_default")]
    pub reached: u32,
    /// Turns since then.
    #[serde(skip_serializing_if = "is_default")]
    pub turns: u32,
    /// Their cost.
    #[serde(skip_serializing_if = "is_default")]
    pub cost: u32,
}

impl Rework {
    /// Counts a turn. `closed`: todos that the model has closed in the phase.
    pub(crate) fn note_turn(&mut self, closed: u32, ledger: &Ledger) {
        // Each requirement may be changed once in a phase; what was changed back and forth comes to no more.
        let recorded = u32::try_from(ledger.next_number() - 1).unwrap_or(0);
        let reached = self.gains + closed + self.changes.min(recorded) + ledger.worked();
        let has_news = std::mem::take(&mut self.has_news);
        if reached > self.reached {
            (self.reached, self.turns, self.cost) = (reached, 0, 0);
        } else {
            self.turns += 1;
            self.cost += if has_news { WITH_NEWS } else { REWORK };
        }
    }

    /// A person has looked at the job.
    pub(crate) fn restart(&mut self) {
        (self.turns, self.cost) = (0, 0);
    }

    /// Why the phase is planned again, if its turns came to nothing new for too long.
    fn too_long(&self, turns_without_progress: u32) -> Option<String> {
        (self.cost >= turns_without_progress.saturating_mul(TIMES)).then(|| {
            format!(
                "in {} turns no todo was closed, and nothing new came of the work: what changed in them had been there before, \
                 such as notes and files written again or requirements recorded again",
                self.turns
            )
        })
    }
}

impl Run {
    /// Why the phase is planned again, if it only reworks what is there.
    pub(crate) fn reworks_too_long(&self) -> Option<String> {
        self.state().effects.rework.too_long(self.settings().limits.turns_without_progress)
    }
}
