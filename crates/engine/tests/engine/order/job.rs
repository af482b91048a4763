//! The parts of a job that the calls of an answer read and write.

use super::Call;
use plumbline_engine::{Opening, PhaseKind, PhaseOutcome, TodoStatus};
use std::collections::{BTreeMap, BTreeSet};

/// The plan's file.
pub(crate) const PLAN: &str = "main_plan.md";
/// The memory's file.
pub(crate) const MEMORY: &str = "workspace.md";
/// The list of the next phase.
pub(crate) const TODOS: &str = "todos.yaml";
/// The file that records every closed todo.
pub(crate) const PROGRESS: &str = "progress.md";
/// The system's summary of the job so far.
pub(crate) const SUMMARY: &str = "workspace_summary.md";

/// The known parts of a file's text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Text {
    /// All of it.
    Exactly(String),
    /// Parts that occur in it in this order: the system wrote it.
    Holding(Vec<String>),
}

impl Text {
    /// Whether a text matches.
    pub(crate) fn is(&self, text: &str) -> bool {
        match self {
            Self::Exactly(expected) => expected == text,
            Self::Holding(parts) => {
                let mut rest = text;
                parts.iter().all(|part| match rest.split_once(part.as_str()) {
                    Some((_, behind)) => {
                        rest = behind;
                        true
                    }
                    None => false,
                })
            }
        }
    }

    /// The parts of a text that contains this one.
    pub(crate) fn parts(&self) -> Vec<String> {
        match self {
            Self::Exactly(text) => vec![text.clone()],
            Self::Holding(parts) => parts.clone(),
        }
    }
}

/// The parts of the configuration that the rules need.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// Tools bound in strategic phases.
    pub(crate) strategic: BTreeSet<String>,
    /// Tools bound in tactical phases.
    pub(crate) tactical: BTreeSet<String>,
    /// Minimum and maximum todos of a tactical phase.
    pub(crate) todos: (usize, usize),
    /// The todos with which the system opens a strategic phase.
    pub(crate) own_todos: fn(Opening) -> Vec<String>,
}

/// The job.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) setup: Setup,
    /// The open phase.
    pub(crate) number: i32,
    pub(crate) kind: PhaseKind,
    pub(crate) opening: Opening,
    /// All phases: their outcome, if they ended.
    pub(crate) phases: BTreeMap<i32, (PhaseKind, Option<PhaseOutcome>)>,
    /// Lists by phase; the one after the open phase was written in advance.
    pub(crate) todos: BTreeMap<i32, Vec<(String, TodoStatus)>>,
    pub(crate) files: BTreeMap<String, Text>,
    pub(crate) requirements: Vec<String>,
    /// Completed tactical phases.
    pub(crate) completed: usize,
    /// The maximum number of phases that the plan ever had.
    pub(crate) planned: usize,
    pub(crate) is_complete: bool,
}

impl Job {
    /// Whether a phase of this kind accepts the call: tactical phases do not accept writes of the plan.
    pub(crate) fn binds(&self, call: &Call) -> bool {
        let bound = match self.kind {
            PhaseKind::Strategic => &self.setup.strategic,
            PhaseKind::Tactical => &self.setup.tactical,
        };
        bound.contains(call.name()) && !(self.kind == PhaseKind::Tactical && call.changes() == Some(PLAN))
    }

    /// The open phase's todos.
    pub(crate) fn list(&mut self) -> &mut Vec<(String, TodoStatus)> {
        self.todos.entry(self.number).or_default()
    }

    /// The index of the first open todo.
    pub(crate) fn current(&self) -> Option<usize> {
        self.todos.get(&self.number)?.iter().position(|(_, status)| status.is_open())
    }

    /// The list written in advance.
    pub(crate) fn staged(&self) -> Option<&[(String, TodoStatus)]> {
        self.todos.get(&(self.number + 1)).map(Vec::as_slice).filter(|list| !list.is_empty())
    }

    /// The text of a file, if all of it is known.
    pub(crate) fn known(&self, path: &str) -> Option<&str> {
        match self.files.get(path)? {
            Text::Exactly(text) => Some(text),
            Text::Holding(_) => panic!("the model knows only parts of {path}"),
        }
    }

    /// The system adds a line to one of its own files.
    pub(crate) fn note(&mut self, path: &str, line: String) {
        let mut parts = self.files.get(path).map(Text::parts).unwrap_or_default();
        parts.push(line);
        self.files.insert(path.into(), Text::Holding(parts));
    }

    /// The plan's phases, each with the number of its unticked boxes.
    pub(crate) fn plan(&self) -> Vec<usize> {
        let mut phases = Vec::new();
        for line in self.known(PLAN).unwrap_or_default().lines() {
            match phases.last_mut() {
                _ if line.starts_with("## Phase ") => phases.push(0),
                Some(open) if line.starts_with("- [ ]") => *open += 1,
                _ => {}
            }
        }
        phases
    }

    /// Whether the open phase reviews a finished plan in which nothing is open.
    pub(crate) fn is_final_with_nothing_open(&self) -> bool {
        self.opening == Opening::Final && self.plan().iter().all(|open| *open == 0)
    }

    /// The open phase ends with this outcome, and the next one opens.
    pub(crate) fn turn(&mut self, outcome: PhaseOutcome) {
        let (kind, opening) = self.next(outcome);
        self.close(outcome);
        let staged = self.todos.remove(&(self.number + 1));
        self.number += 1;
        (self.kind, self.opening) = (kind, opening);
        self.phases.insert(self.number, (kind, None));
        let mut list = match (kind, staged) {
            (PhaseKind::Tactical, Some(staged)) => staged,
            _ => (self.setup.own_todos)(opening).into_iter().map(|text| (text, TodoStatus::Pending)).collect(),
        };
        if let Some(first) = list.first_mut() {
            first.1 = TodoStatus::InProgress;
        }
        self.todos.insert(self.number, list);
    }

    fn next(&self, outcome: PhaseOutcome) -> (PhaseKind, Opening) {
        let plan = self.plan();
        match (outcome, self.kind) {
            (PhaseOutcome::Completed, PhaseKind::Strategic) => (PhaseKind::Tactical, Opening::Work),
            (PhaseOutcome::Completed, PhaseKind::Tactical) => {
                let is_last = !plan.is_empty() && self.completed + 1 >= plan.len();
                let opening = if is_last { Opening::Final } else { Opening::Transition };
                (PhaseKind::Strategic, opening)
            }
            // Abandoned by `archive_and_reset`, the same phase starts again.
            (PhaseOutcome::Forced, _) => (PhaseKind::Strategic, self.opening),
            (PhaseOutcome::Rewound, _) => (PhaseKind::Strategic, Opening::Rewound),
        }
    }

    /// The phase is closed and archived.
    pub(crate) fn close(&mut self, outcome: PhaseOutcome) {
        // The rows have one word for both ways of abandoning a phase.
        let on_record = match outcome {
            PhaseOutcome::Completed => PhaseOutcome::Completed,
            PhaseOutcome::Rewound | PhaseOutcome::Forced => PhaseOutcome::Rewound,
        };
        self.list().iter_mut().filter(|(_, status)| status.is_open()).for_each(|todo| todo.1 = TodoStatus::Abandoned);
        let contents: Vec<String> = self.list().iter().map(|(content, _)| content.clone()).collect();
        self.files.insert(format!("archive/phase_{}.yaml", self.number), Text::Holding(contents));
        self.phases.insert(self.number, (self.kind, Some(on_record)));
        if self.kind == PhaseKind::Tactical {
            self.files.insert(SUMMARY.into(), Text::Holding(Vec::new()));
            if outcome == PhaseOutcome::Completed {
                self.completed += 1;
            }
        }
        if outcome != PhaseOutcome::Completed {
            self.files.remove(TODOS);
        }
    }
}
