//! The engine's side: a test job converted to the reference model, and the comparison of both.

use super::{
    Call, Job, Text,
    job::Setup,
    rules::{Fate, answer},
};
use crate::kit::{Dialogue, call, reply, settings};
use plumbline_engine::{
    Change, MessageKind, Opening, PhaseKind, PhaseOutcome, RepeatedCalls, Role, Settings, SystemTodo, TodoStatus,
    ToolSpec,
};
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The settings of the tests with more tools for files, without guardrails that count calls.
pub(super) fn quiet() -> Settings {
    Dialogue::with(|settings| {
        let like = |known: &str, name: &str| {
            let known = settings.tools.iter().find(|tool| tool.name == known).expect("it is a tool of the tests");
            ToolSpec { name: name.into(), ..known.clone() }
        };
        let more =
            [like("write_file", "edit_file"), like("write_file", "delete_file"), like("read_file", "list_files")];
        settings.tools = Arc::new(settings.tools.iter().cloned().chain(more).collect());
        settings.limits.repeated_calls = RepeatedCalls { nudge: 100, refuse: 200, replan: 300 };
        settings.limits.max_tool_result_tokens = 100_000;
    })
}

fn own_todos(opening: Opening) -> Vec<String> {
    let todos = settings().prompts.todos;
    let todos = match opening {
        Opening::Initial => todos.initial,
        Opening::Transition | Opening::Work => todos.transition,
        Opening::Final => todos.r#final,
        Opening::Rewound => todos.rewound,
        Opening::Feedback => todos.feedback,
    };
    todos.into_iter().map(|SystemTodo { content, .. }| content).collect()
}

/// The job in the reference model.
pub(super) fn model_of(dialogue: &Dialogue) -> Job {
    let (rows, phase) = (&dialogue.toy, &dialogue.run.state().phase);
    let bound = |kind: PhaseKind| -> BTreeSet<String> {
        rows.settings.tools.iter().filter(|tool| tool.phases.contains(kind)).map(|tool| tool.name.clone()).collect()
    };
    let phases = &rows.settings.phases;
    let texts = rows.files.iter().map(|(path, content)| (path.clone(), String::from_utf8_lossy(content).into_owned()));
    Job {
        setup: Setup {
            strategic: bound(PhaseKind::Strategic),
            tactical: bound(PhaseKind::Tactical),
            todos: (phases.min_todos, phases.max_todos),
            own_todos,
        },
        number: phase.number,
        kind: phase.kind,
        opening: phase.opening,
        phases: phase_rows(dialogue),
        todos: todo_rows(dialogue),
        files: texts.map(|(path, text)| (path, Text::Exactly(text))).collect(),
        requirements: rows.recorded.iter().map(|known| known.requirement.text.clone()).collect(),
        completed: usize::try_from(phase.completed).expect("it counts phases"),
        planned: usize::try_from(phase.planned).expect("it counts phases"),
        is_complete: false,
    }
}

fn phase_rows(dialogue: &Dialogue) -> BTreeMap<i32, (PhaseKind, Option<PhaseOutcome>)> {
    dialogue.toy.phases.iter().map(|(number, phase)| (*number, (phase.kind, phase.outcome))).collect()
}

fn todo_rows(dialogue: &Dialogue) -> BTreeMap<i32, Vec<(String, TodoStatus)>> {
    let lists = dialogue.toy.todos.iter().filter(|(_, list)| !list.is_empty());
    lists
        .map(|(number, list)| (*number, list.iter().map(|todo| (todo.content.clone(), todo.status)).collect()))
        .collect()
}

/// Applies the same answer to the engine and the model, and requires equal results.
pub(super) fn hold_against_the_model(dialogue: &mut Dialogue, calls: &[Call]) {
    let mut job = model_of(dialogue);
    let before = job.number;
    let fates = answer(&mut job, calls);
    let sent = calls.iter().map(|one| call(one.name(), &one.arguments())).collect();
    let changes = dialogue.reply(reply("", sent));
    let told = format!("calls {calls:#?}\nfates {fates:#?}");
    results_are_true(&changes, &fates, &told);
    if before != job.number {
        let opening = opening_of(dialogue);
        held_calls_are_told(&opening, calls, &fates, &told);
    }
    rows_are_equal(dialogue, &job, &told);
}

fn results_are_true(changes: &[Change], fates: &[Fate], told: &str) {
    let results = changes.iter().filter_map(|change| match change {
        Change::Message(message) if message.role == Role::Tool => Some(&message.content),
        _ => None,
    });
    let results: Vec<&String> = results.collect();
    assert_eq!(results.len(), fates.len(), "each call has a result\n{told}");
    for (result, fate) in results.into_iter().zip(fates) {
        if let Fate::Answered(said) = fate {
            assert_eq!(result.starts_with("Error: "), said.failed, "{result}\n{told}");
            assert!(Text::Holding(said.shows.clone()).is(result), "{result}\n{told}");
        }
    }
}

/// The beginning of the open phase: its first message and all later ones.
fn opening_of(dialogue: &Dialogue) -> String {
    let messages = &dialogue.toy.messages;
    let first = messages.iter().rposition(|message| message.kind == MessageKind::Opening);
    let texts = messages[first.expect("a phase has an opening")..].iter().map(|message| message.content.as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// Held calls are shown with their results in order, and calls that were not executed are named.
fn held_calls_are_told(opening: &str, calls: &[Call], fates: &[Fate], told: &str) {
    let mut rest = opening;
    for (call, fate) in calls.iter().zip(fates) {
        let name = call.name();
        match fate {
            Fate::Answered(_) => {}
            Fate::NotCarriedOut => assert!(opening.contains(name), "{name}: {opening}\n{told}"),
            Fate::Held { said, .. } => {
                let (_, behind) = rest.split_once(name).unwrap_or_else(|| panic!("{name}: {opening}\n{told}"));
                assert!(Text::Holding(said.shows.clone()).is(behind), "{name}\n{opening}\n{told}");
                rest = behind;
            }
        }
    }
}

fn rows_are_equal(dialogue: &Dialogue, job: &Job, told: &str) {
    let told = |what: &str| format!("{what}\n{told}");
    let phase = &dialogue.run.state().phase;
    assert_eq!(dialogue.run.exit().is_some(), job.is_complete, "{}", told("the job's end"));
    assert_eq!((phase.number, phase.kind, phase.opening), (job.number, job.kind, job.opening), "{}", told("phase"));
    assert_eq!(phase_rows(dialogue), job.phases, "{}", told("phases"));
    if !job.is_complete {
        let lists: BTreeMap<_, _> = job.todos.clone().into_iter().filter(|(_, list)| !list.is_empty()).collect();
        assert_eq!(todo_rows(dialogue), lists, "{}", told("todos"));
    }
    let recorded: Vec<&str> = dialogue.toy.recorded.iter().map(|known| known.requirement.text.as_str()).collect();
    assert_eq!(recorded, job.requirements, "{}", told("requirements"));
    let paths: Vec<&String> = dialogue.toy.files.keys().filter(|path| !path.starts_with("tool_results/")).collect();
    assert_eq!(paths, job.files.keys().collect::<Vec<_>>(), "{}", told("files"));
    for (path, expected) in &job.files {
        let text = dialogue.toy.text(path);
        assert!(expected.is(&text), "{}", told(&format!("{path}: {text:?}, expected {expected:?}")));
    }
}

/// A job in a state from which an answer may lead anywhere.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) phase: At,
    /// How many of its todos are closed.
    pub(super) closed: usize,
    /// Phases of the plan, and whether they have boxes.
    pub(super) planned: usize,
    pub(super) has_boxes: bool,
    /// Whether the next list has been written already.
    pub(super) is_staged: bool,
}

/// The open phase.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    Planning,
    Working,
    Reviewing,
}

impl Start {
    pub(super) fn dialogue(&self) -> Dialogue {
        let mut dialogue = Dialogue::begun(quiet());
        let boxes = if self.has_boxes { "- [ ] do it\n" } else { "" };
        let plan: String = (1..=self.planned).map(|n| format!("\n## Phase {n}: Part {n}\n{boxes}")).collect();
        dialogue.call("write_plan", json!({ "content": format!("# Plan\n{plan}") }));
        if matches!(self.phase, At::Working | At::Reviewing) {
            dialogue.open_tactical();
        }
        if matches!(self.phase, At::Reviewing) {
            dialogue.finish_phase();
        }
        // Enough work that no closing is refused for lack of evidence.
        for n in 0..30 {
            dialogue.call("write_file", json!({"path": format!("work/{}_{n}.md", dialogue.phase().0), "content": "What the pages say on retention."}));
        }
        if self.is_staged && !matches!(self.phase, At::Working) {
            dialogue.call("todo_write", Call::TodoWrite(list("Staged")).arguments());
        }
        for _ in 0..self.closed.min(dialogue.run.todos().len() - 1) {
            dialogue.close();
        }
        dialogue
    }
}

/// Five todos.
pub(super) fn list(name: &str) -> Vec<String> {
    (1..=5).map(|n| format!("{name}: part {n}")).collect()
}
