//! The system's todos for strategic phases, and the conditions that answer some of them.
//!
//! A todo that the rows already answer costs no request: the system closes it, with a note, as soon as it is current.

use crate::{
    Opening, PhaseKind, PhaseOutcome, Run, Settings, State, Todo, TodoStatus,
    phase::{
        Todos,
        plan::{self, PlannedState},
    },
    run::{Deliverables, Workspace},
};
use serde::{Deserialize, Serialize};

/// Todo texts of strategic phases, by opening.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrategicTodos {
    /// The first phase: explore, plan, divide, write todos.
    pub initial: Vec<SystemTodo>,
    /// Between tactical phases.
    pub transition: Vec<SystemTodo>,
    /// After the plan's last tactical phase.
    pub r#final: Vec<SystemTodo>,
    /// After a rewind.
    pub rewound: Vec<SystemTodo>,
    /// After feedback.
    pub feedback: Vec<SystemTodo>,
}

/// One todo: a text, or `{todo, answered_by, needs}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct SystemTodo {
    /// What to do.
    pub content: String,
    /// The part of the job's state that answers it, if any.
    pub answered_by: Option<AnsweredBy>,
    /// The part of the job's state without which it is not closed, if any.
    pub needs: Option<AnsweredBy>,
}

/// A part of the job's state that may answer a todo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// `workspace_summary.md`, which the system writes when a tactical phase ends.
    Summary,
    /// A plan that has phases.
    PlannedPhases,
    /// A plan with at least as many ticked phases as have been completed.
    TickedPlan,
    /// The existing results. While required ones are missing, the todo names them.
    Deliverables,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Bound {
        todo: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answered_by: Option<AnsweredBy>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        needs: Option<AnsweredBy>,
    },
}

impl From<Written> for SystemTodo {
    fn from(written: Written) -> Self {
        match written {
            Written::Text(content) => content.as_str().into(),
            Written::Bound { todo: content, answered_by, needs } => Self { content, answered_by, needs },
        }
    }
}

impl From<SystemTodo> for Written {
    fn from(todo: SystemTodo) -> Self {
        match todo {
            SystemTodo { content, answered_by: None, needs: None } => Self::Text(content),
            SystemTodo { content: todo, answered_by, needs } => Self::Bound { todo, answered_by, needs },
        }
    }
}

impl From<&str> for SystemTodo {
    fn from(content: &str) -> Self {
        Self { content: content.into(), answered_by: None, needs: None }
    }
}

impl StrategicTodos {
    /// Those of a phase that is opened for this reason.
    fn of(&self, opening: Opening) -> &[SystemTodo] {
        match opening {
            Opening::Initial => &self.initial,
            Opening::Transition | Opening::Work => &self.transition,
            Opening::Final => &self.r#final,
            Opening::Rewound => &self.rewound,
            Opening::Feedback => &self.feedback,
        }
    }
}

/// The system's todos of the current phase, and the parts of the job's state that may answer them.
pub(crate) struct SystemTodos<'a> {
    settings: &'a Settings,
    state: &'a State,
    workspace: &'a Workspace,
    deliverables: Deliverables<'a>,
}

impl<'a> SystemTodos<'a> {
    pub(crate) fn of(run: &'a Run) -> Self {
        Self {
            settings: run.settings(),
            state: run.state(),
            workspace: run.workspace(),
            deliverables: Deliverables::of(run),
        }
    }

    fn list(&self) -> &'a [SystemTodo] {
        self.settings.prompts.todos.of(self.state.phase.opening)
    }

    fn get(&self, todo: &Todo) -> Option<&'a SystemTodo> {
        self.list().get(usize::try_from(todo.position - 1).ok()?)
    }

    /// The list of a strategic phase that opens.
    pub(crate) fn opened(&self) -> Vec<Todo> {
        let text = |todo: &SystemTodo| match (todo.answered_by, self.deliverables.missing()) {
            (Some(AnsweredBy::Deliverables), missing) if !missing.is_empty() => {
                format!("{}: {}", todo.content, missing.join(", "))
            }
            _ => todo.content.clone(),
        };
        (1..).zip(self.list()).map(|(position, todo)| Todo::pending(position, text(todo))).collect()
    }

    /// The answer to the current todo of these, if the state has it.
    pub(crate) fn answered(&self, todos: &Todos) -> Option<(i32, String, String)> {
        if self.state.phase.kind != PhaseKind::Strategic {
            return None;
        }
        let todo = todos.current()?;
        let by = self.get(todo)?.answered_by?;
        let is_last = !todos.iter().any(|other| other.status == TodoStatus::Pending);
        let note = self.answer_of(by).filter(|_| !is_last)?;
        Some((todo.position, todo.content.clone(), note))
    }

    /// Checks whether a system todo has what it needs to be closed.
    ///
    /// # Errors
    /// What it lacks, as a sentence.
    pub(crate) fn check_needs(&self, todo: &Todo) -> Result<(), String> {
        let needs = match self.state.phase.kind {
            PhaseKind::Strategic => self.get(todo).and_then(|todo| todo.needs),
            PhaseKind::Tactical => None,
        };
        match needs {
            Some(needs) if self.answer_of(needs).is_none() && self.can_meet(needs) => {
                let missing = match needs {
                    AnsweredBy::Summary => "there is no summary of a finished phase yet".into(),
                    AnsweredBy::PlannedPhases if self.workspace.memory().main_plan.trim().is_empty() => {
                        format!(
                            "there is no {}. Write it with a heading such as '## Phase 1: name' for each phase of work, and its steps \
                                 below as checkboxes",
                            plan::PATH
                        )
                    }
                    AnsweredBy::PlannedPhases => {
                        format!("{} has no phase. {}", plan::PATH, plan::NO_PHASES.trim_end_matches('.'))
                    }
                    AnsweredBy::TickedPlan => format!("the finished phases are not ticked in {}", plan::PATH),
                    AnsweredBy::Deliverables => "what is owed is not there yet".into(),
                };
                Err(format!("todo {} stays open: {missing}; then close it.", todo.position))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Whether the phase has a tool for it.
    fn can_meet(&self, needs: AnsweredBy) -> bool {
        let writes = |name: &str| matches!(name, "write_plan" | "write_file");
        needs != AnsweredBy::PlannedPhases
            || self.settings.bound_with(PhaseKind::Strategic, &self.state.loaded_tools).any(|tool| writes(&tool.name))
    }

    fn answer_of(&self, by: AnsweredBy) -> Option<String> {
        let plan = self.workspace.plan();
        let completed = self.state.phase.completed;
        match by {
            AnsweredBy::Summary => {
                let worked = self.state.worked.as_ref()?;
                let ended = worked.outcome == PhaseOutcome::Completed;
                ended.then(|| format!("the system wrote workspace_summary.md when job phase {} ended", worked.number))
            }
            AnsweredBy::PlannedPhases => match plan.len() {
                0 => None,
                1 => Some("main_plan.md has one phase".into()),
                n => Some(format!("main_plan.md has {n} phases")),
            },
            AnsweredBy::TickedPlan => {
                let ticked = plan.iter().filter(|phase| phase.state == PlannedState::Done).count() as i32;
                let up_to_date = completed > 0 && ticked >= completed;
                up_to_date.then(|| format!("{ticked} of {} phases are ticked in main_plan.md", plan.len()))
            }
            AnsweredBy::Deliverables => {
                let results = self.workspace.results().count();
                let nothing_is_missing = self.deliverables.missing().is_empty() && results > 0;
                nothing_is_missing.then(|| format!("nothing that is owed is missing; output/ has {results} files"))
            }
        }
    }
}
