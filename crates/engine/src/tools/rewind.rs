//! Abandons a phase: `todo_rewind` records the reason and replans, `archive_and_reset` is the escape hatch of strategic
//! phases. Finished work is kept.

use super::{Decision, Deed, OwnTool};
use crate::{NextPhase, Opening, Phases, Run, says_something};
use schemars::JsonSchema;
use serde::Deserialize;

/// Archives the todo list with the issue and opens a strategic phase with the issue at hand. Finished todos stay
/// finished, files stay as they are. Use it when the remaining todos rest on a wrong assumption, not when one of them is
/// merely hard.
///
/// {arguments}
///
/// Example: `{"issue": "The document has no sections; the todos must go by pages"}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct TodoRewind {
    /// # What does not work, and why.
    issue: String,
}

impl OwnTool for TodoRewind {
    const NAME: &str = "todo_rewind";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "Give this phase up because its plan does not work; a strategic phase reconsiders it.";

    fn decide(self, run: &Run) -> Decision {
        run.state().guards.too_many_rewinds(run.todos())?;
        if !says_something(&self.issue) {
            return Err("argument 'issue' must say in a sentence what does not work, and why.".into());
        }
        let next = NextPhase { issue: Some(self.issue), ..NextPhase::strategic(Opening::Rewound) };
        Ok(Deed::EndPhase(next, "The list is archived with this issue; a strategic phase reconsiders it now.".into()))
    }
}

/// Archives the current list, drops todos written ahead and begins this strategic phase again with fresh todos and a
/// fresh conversation.
///
/// Example: `{}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct ArchiveAndReset {}

impl OwnTool for ArchiveAndReset {
    const NAME: &str = "archive_and_reset";
    const PHASES: Phases = Phases::Strategic;
    const DESCRIPTION: &str = "Archive this strategic todo list and start the phase anew; the last resort.";

    fn decide(self, run: &Run) -> Decision {
        run.state().guards.too_many_rewinds(run.todos())?;
        let issue = "the model archived the list and started the phase anew".to_string();
        let next = NextPhase { issue: Some(issue), ..NextPhase::strategic(run.state().phase.opening) };
        Ok(Deed::EndPhase(next, "The list is archived; this phase starts anew now.".into()))
    }
}
