//! Phases: the unit of the outer loop.

pub(crate) mod archive;
mod next_phase;
pub(crate) mod number_list;
pub(crate) mod opening;
mod place;
pub mod plan;
mod system_todo;
mod todo;
pub(crate) mod todo_list;
mod todos;
mod work;
pub(crate) mod workspace_summary;

pub use next_phase::NextPhase;
pub use opening::WAITING;
pub(crate) use system_todo::SystemTodos;
pub use system_todo::{AnsweredBy, StrategicTodos, SystemTodo};
pub use todo::{PlannedTodo, Todo, TodoPlan, TodoStatus};
pub use todos::Todos;
pub use work::{Work, Worked};

use crate::Purpose;
use serde::{Deserialize, Serialize};

/// The two kinds of phase; they differ in tools, prompt and todo list, not in the loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline, transform = crate::plain_words)]
pub enum PhaseKind {
    /// Plan, remember, write the next todos, or complete the job.
    #[default]
    Strategic,
    /// Do the todos.
    Tactical,
}

impl PhaseKind {
    /// The word used in SQL and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strategic => "strategic",
            Self::Tactical => "tactical",
        }
    }

    /// The purpose of its turns.
    pub(crate) fn purpose(self) -> Purpose {
        match self {
            Self::Strategic => Purpose::Strategic,
            Self::Tactical => Purpose::Tactical,
        }
    }
}

/// Why a phase was opened; decides its todos (for strategic phases) and what the system prepares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Opening {
    /// The job's first phase.
    #[default]
    Initial,
    /// After a tactical phase, with work left in the plan.
    Transition,
    /// After a tactical phase that was the plan's last.
    Final,
    /// After `todo_rewind` or a forced re-planning.
    Rewound,
    /// After a user's feedback.
    Feedback,
    /// A tactical phase over the todos that the strategic phase wrote.
    Work,
}

/// How a phase ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum PhaseOutcome {
    /// Its todos were done, or the job was completed in it.
    Completed,
    /// The model abandoned it with `todo_rewind` or `archive_and_reset`.
    Rewound,
    /// A guardrail, a user's feedback or the job's failure ended it.
    Forced,
}

impl PhaseOutcome {
    /// The word used in SQL.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
