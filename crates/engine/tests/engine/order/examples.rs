//! Answers whose outcome is written by hand: the rules, call by call.

use super::{
    Call, Job, Said, Text,
    job::{MEMORY, PLAN, PROGRESS, Setup, TODOS},
    rules::{Fate, answer},
};
use plumbline_engine::{Opening, PhaseKind, PhaseOutcome, TodoStatus};
use std::collections::BTreeMap;

const FILE_TOOLS: [&str; 5] = ["read_file", "write_file", "edit_file", "delete_file", "list_files"];
const ENGINE_TOOLS: [&str; 8] = [
    "read_plan",
    "add_note",
    "add_accomplishment",
    "generate_workspace_summary",
    "get_progress",
    "todo_complete",
    "complete_task",
    "todo_rewind",
];

fn setup() -> Setup {
    let both = || FILE_TOOLS.into_iter().chain(ENGINE_TOOLS);
    Setup {
        strategic: both()
            .chain(["write_plan", "todo_write", "add_task", "archive_and_reset", "job_complete"])
            .map(str::to_owned)
            .collect(),
        tactical: both().chain(["add_requirement"]).map(str::to_owned).collect(),
        todos: (5, 20),
        own_todos: |_| ["Summarize", "Write the next todos"].map(String::from).to_vec(),
    }
}

/// A job in its second phase, a tactical one, with this many open todos.
fn working(open: usize) -> Job {
    let todos = (1..=5).map(|n| (format!("Process section {n}"), TodoStatus::Pending)).collect();
    let mut job = Job {
        setup: setup(),
        number: 2,
        kind: PhaseKind::Tactical,
        opening: Opening::Work,
        phases: BTreeMap::from([
            (1, (PhaseKind::Strategic, Some(PhaseOutcome::Completed))),
            (2, (PhaseKind::Tactical, None)),
        ]),
        todos: BTreeMap::from([(2, todos)]),
        files: BTreeMap::new(),
        requirements: Vec::new(),
        completed: 0,
        planned: 0,
        is_complete: false,
    };
    for todo in job.list().iter_mut().rev().skip(open) {
        todo.1 = TodoStatus::Completed;
    }
    job
}

/// A job in its third phase, a strategic one with its last todo open, and the next list written.
fn planning() -> Job {
    let mut job = working(1);
    job.turn(PhaseOutcome::Completed);
    job.list()[0].1 = TodoStatus::Completed;
    assert!(!answer(&mut job, &[list_of("A")])[0].said().expect("it is carried out").failed);
    job
}

fn list_of(phase: &str) -> Call {
    Call::TodoWrite((1..=5).map(|n| format!("{phase}: part {n}")).collect())
}

fn plan_of(phases: usize) -> String {
    (1..=phases).map(|n| format!("\n## Phase {n}: Part {n}\n")).fold("# Plan\n".into(), |plan, part| plan + &part)
}

fn edit(path: &str, old: &str, new: &str) -> Call {
    Call::EditFile { path: path.into(), old: old.into(), new: new.into() }
}

fn write(path: &str, content: &str) -> Call {
    Call::WriteFile { path: path.into(), content: content.into(), append: false }
}

fn read(path: &str) -> Call {
    Call::ReadFile(path.into())
}

/// The fate of each call in one word: `ok` and `error` in the conversation, `phase n` and `error n` after an end, `-`.
fn fates(job: &mut Job, calls: &[Call]) -> Vec<String> {
    let word = |fate: Fate| match fate {
        Fate::Answered(Said { failed: false, .. }) => "ok".into(),
        Fate::Answered(Said { failed: true, .. }) => "error".into(),
        Fate::Held { phase, said: Said { failed: false, .. } } => format!("phase {phase}"),
        Fate::Held { phase, .. } => format!("error {phase}"),
        Fate::NotCarriedOut => "-".into(),
    };
    answer(job, calls).into_iter().map(word).collect()
}

fn statuses(job: &Job, phase: i32) -> Vec<TodoStatus> {
    job.todos[&phase].iter().map(|(_, status)| *status).collect()
}

#[test]
fn five_closings_for_three_todos_close_three_and_none_of_the_next_phase() {
    let mut job = working(3);
    assert_eq!(fates(&mut job, &[const { Call::TodoComplete }; 5]), ["ok", "ok", "ok", "-", "-"]);
    assert_eq!(statuses(&job, 2), [TodoStatus::Completed; 5]);
    assert_eq!((job.number, job.kind), (3, PhaseKind::Strategic));
    assert_eq!(statuses(&job, 3), [TodoStatus::InProgress, TodoStatus::Pending]);
    assert!(job.files[PROGRESS].is("…\n- Process section 3\n- Process section 4\n- Process section 5\n"));
}

#[test]
fn a_plan_after_the_end_of_work_is_written_in_the_planning_phase_but_lists_and_closings_are_not() {
    let mut job = working(1);
    let mut calls = vec![Call::TodoComplete, Call::WritePlan(plan_of(2)), list_of("B")];
    calls.extend([const { Call::TodoComplete }; 4]);
    assert_eq!(fates(&mut job, &calls), ["ok", "phase 3", "-", "-", "-", "-", "-"]);
    assert_eq!(job.known(PLAN), Some(plan_of(2).as_str()));
    assert_eq!(job.staged(), None);
    assert_eq!(statuses(&job, 3), [TodoStatus::InProgress, TodoStatus::Pending]);
    assert!(!job.files.contains_key(TODOS));
}

#[test]
fn requirements_after_the_last_todo_are_recorded_in_the_recording_phase() {
    let mut job = working(1);
    let texts: Vec<String> = (1..=10).map(|n| format!("Record {n} is kept.")).collect();
    let calls: Vec<Call> =
        [Call::TodoComplete].into_iter().chain(texts.iter().cloned().map(Call::AddRequirement)).collect();
    let mut expected = vec!["ok"];
    expected.extend(["phase 2"; 10]);
    assert_eq!(fates(&mut job, &calls), expected);
    assert_eq!((job.requirements, job.number), (texts, 3));
}

#[test]
fn an_edit_is_made_in_the_plan_that_the_answer_has_written() {
    let mut job = planning();
    let calls = [Call::WritePlan("# Plan\n\n## Phase 1: A".into()), edit(PLAN, "Phase 1: A", "Phase 1: B"), read(PLAN)];
    let answered = answer(&mut job, &calls);
    assert_eq!(job.known(PLAN), Some("# Plan\n\n## Phase 1: B\n"));
    assert_eq!(answered[2].said().map(|said| said.shows.concat()).as_deref(), Some("# Plan\n\n## Phase 1: B\n"));
}

#[test]
fn a_note_an_edit_and_a_record_are_all_there() {
    let mut job = working(2);
    let calls = [
        Call::AddNote("Section 4 defines 'record'".into()),
        Call::AddRequirement("Records are kept.".into()),
        edit(MEMORY, "Section 4", "Section 5"),
        Call::AddNote("Annex A is a table".into()),
    ];
    assert_eq!(fates(&mut job, &calls), ["ok"; 4]);
    assert_eq!(job.known(MEMORY), Some("## Notes\n\n- Section 5 defines 'record'\n- Annex A is a table\n"));
    assert_eq!(job.requirements, ["Records are kept."]);
}

#[test]
fn a_list_that_the_answer_has_written_is_read_and_ends_the_phase() {
    let mut job = planning();
    let calls = [list_of("C"), read(TODOS), Call::TodoComplete, read(TODOS), write("notes.md", "x")];
    let answered = answer(&mut job, &calls);
    assert_eq!(answered[1].said().map(|said| said.shows.len()), Some(5));
    assert!(matches!(answered[3], Fate::Held { phase: 3, .. }) && matches!(answered[4], Fate::Held { phase: 3, .. }));
    assert_eq!((job.kind, job.todos[&4][0].0.as_str()), (PhaseKind::Tactical, "C: part 1"));
}

#[test]
fn a_write_of_the_plan_after_the_end_of_work_waits_for_the_next_phase_with_all_later_calls() {
    let mut job = working(1);
    let calls = [
        Call::TodoComplete,
        write("a.md", "a"),
        write(PLAN, "# Plan\n\n## Phase 1: A\n"),
        write("b.md", "b"),
        Call::AddRequirement("Records are kept.".into()),
        Call::Look("list_files"),
    ];
    assert_eq!(fates(&mut job, &calls), ["ok", "phase 2", "phase 3", "phase 3", "-", "phase 3"]);
    assert_eq!((job.plan().len(), job.requirements.len()), (1, 0));
}

#[test]
fn files_have_their_writers() {
    let mut job = working(2);
    let calls = [
        write(PLAN, "# Plan\n"),
        Call::DeleteFile(PROGRESS.into()),
        write("output/requirements.json", "[]"),
        write("requirements/req_1.md", "x"),
        write("error.md", "x"),
        Call::TodoComplete,
    ];
    assert_eq!(fates(&mut job, &calls), ["error"; 6]);
    assert!(job.files.is_empty());
}

#[test]
fn a_failed_call_after_the_end_does_not_revert_it() {
    let mut job = working(1);
    assert_eq!(
        fates(&mut job, &[Call::TodoComplete, read("missing.md"), Call::GetProgress]),
        ["ok", "error 2", "phase 2"]
    );
    assert_eq!(job.number, 3);
}

#[test]
fn an_abandoned_phase_drops_the_calls_after_it() {
    let mut job = working(3);
    let calls =
        [Call::TodoRewind("it has no sections".into()), Call::AddNote("by pages".into()), Call::ArchiveAndReset];
    assert_eq!(fates(&mut job, &calls), ["ok", "phase 2", "-"]);
    assert_eq!(job.opening, Opening::Rewound);
    assert_eq!(statuses(&job, 2)[4], TodoStatus::Abandoned);
}

#[test]
fn a_job_completes_after_its_last_phase_if_nothing_is_open() {
    let report = write("output/report.md", "All twelve pages were read; nothing is missing.");
    let complete = Call::JobComplete { deliverable: "output/report.md".into() };
    let calls = [report, Call::TodoComplete, complete, Call::AddNote("late".into())];
    for (plan, ends) in [(plan_of(1), true), (plan_of(1) + "- [ ] do it\n", false), (plan_of(2), false)] {
        let mut job = working(1);
        job.files.insert(PLAN.into(), Text::Exactly(plan));
        job.planned = job.plan().len();
        let expected = if ends { ["ok", "ok", "phase 3", "-"] } else { ["ok", "ok", "-", "phase 3"] };
        assert_eq!(fates(&mut job, &calls), expected);
        assert_eq!(job.is_complete, ends);
    }
}
