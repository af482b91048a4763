//! The system's todos for strategic phases, and the conditions that answer some of them.
//!
//! A todo that the rows already answer costs no request: the system closes it, with a note, as soon as it is current.

use crate::{
    OwedFile, PhaseKind, PhaseOutcome, Run, Todo, TodoStatus,
    phase::plan::{self, PlannedState, read_plan},
    tools::todo_complete,
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

/// One of them: a text, or `{todo, answered_by, needs}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct SystemTodo {
    /// What to do.
    pub content: String,
    /// What of the job's state answers it, if anything can.
    pub answered_by: Option<AnsweredBy>,
    /// Without what of the job's state it is not closed, if there is such a thing.
    pub needs: Option<AnsweredBy>,
}

/// What of the job's state may answer a todo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// `workspace_summary.md`, which the system writes when a tactical phase ends.
    Summary,
    /// A plan that has phases.
    PlannedPhases,
    /// A plan in which as many phases are ticked as have come to their end.
    TickedPlan,
    /// The results that are there. While some are owed and missing, the todo names them.
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

impl Run {
    /// The texts of the strategic phase that opens.
    pub(crate) fn strategic_texts(&self) -> Vec<String> {
        let text = |todo: &SystemTodo| match (todo.answered_by, self.missing_deliverables()) {
            (Some(AnsweredBy::Deliverables), missing) if !missing.is_empty() => {
                format!("{}: {}", todo.content, missing.join(", "))
            }
            _ => todo.content.clone(),
        };
        self.system_todos().iter().map(text).collect()
    }

    fn system_todos(&self) -> &[SystemTodo] {
        use crate::Opening;
        let todos = &self.settings.prompts.todos;
        match self.state.phase.opening {
            Opening::Initial => &todos.initial,
            Opening::Transition | Opening::Work => &todos.transition,
            Opening::Final => &todos.r#final,
            Opening::Rewound => &todos.rewound,
            Opening::Feedback => &todos.feedback,
        }
    }

    /// Closes what is current and answered already; the last todo of a phase never, since the phase ends by it. Gives the
    /// notes, each with the todo's number.
    pub(crate) fn close_answered(&mut self) -> Vec<(i32, String)> {
        let mut closed = Vec::new();
        while let Some((position, content, note)) = self.answered() {
            todo_complete::move_on(self, position, Some(note.clone()));
            todo_complete::note_progress(self, &content, Some(&note));
            closed.push((position, note));
        }
        closed
    }

    /// The current todo, if the state answers it, with the answer.
    fn answered(&self) -> Option<(i32, String, String)> {
        if self.state.phase.kind != PhaseKind::Strategic {
            return None;
        }
        let todo = self.current_todo()?;
        let by = self.system_todo(todo)?.answered_by?;
        let is_last = !self.todos.iter().any(|other| other.status == TodoStatus::Pending);
        let note = self.answer_of(by).filter(|_| !is_last)?;
        Some((todo.position, todo.content.clone(), note))
    }

    fn system_todo(&self, todo: &Todo) -> Option<&SystemTodo> {
        self.system_todos().get(usize::try_from(todo.position - 1).ok()?)
    }

    /// What a todo of the system's still needs before it is closed.
    ///
    /// # Errors
    /// The sentence that says so.
    pub(crate) fn check_needs(&self, todo: &Todo) -> Result<(), String> {
        let needs = match self.state.phase.kind {
            PhaseKind::Strategic => self.system_todo(todo).and_then(|todo| todo.needs),
            PhaseKind::Tactical => None,
        };
        match needs {
            Some(needs) if self.answer_of(needs).is_none() && self.can_meet(needs) => {
                let missing = match needs {
                    AnsweredBy::Summary => "there is no summary of a finished phase yet".into(),
                    AnsweredBy::PlannedPhases if self.memory.main_plan.trim().is_empty() => {
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
        needs != AnsweredBy::PlannedPhases || self.bound(PhaseKind::Strategic).any(|tool| writes(&tool.name))
    }

    fn answer_of(&self, by: AnsweredBy) -> Option<String> {
        let plan = read_plan(&self.memory.main_plan);
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
                let results: Vec<&str> =
                    self.files.keys().filter(|path| path.starts_with("output/")).map(String::as_str).collect();
                let nothing_is_missing = self.missing_deliverables().is_empty() && !results.is_empty();
                nothing_is_missing
                    .then(|| format!("nothing that is owed is missing; output/ has {} files", results.len()))
            }
        }
    }

    /// The deliverables that this type of job owes and that are not there, or have no real content.
    pub(crate) fn missing_deliverables(&self) -> Vec<&str> {
        let owed = self.settings.owed.files.iter();
        let missing = owed.filter(|owed| owed.required && !self.is_delivered(owed));
        missing.map(|owed| owed.path.as_str()).collect()
    }

    /// Whether an owed file is there with real content, or will be, because the system renders it.
    pub(crate) fn is_delivered(&self, owed: &OwedFile) -> bool {
        self.will_render(&owed.path)
            || self.files.get(&owed.path).is_some_and(|file| owed.has_schema || !file.placeholder)
    }
}
