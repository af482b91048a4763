//! Random answers over all tools of the model, gates included, from all kinds of states of a job: the engine's result
//! equals the model's. `PROPTEST_CASES=10000` runs more cases than the default.

use super::{
    Call,
    engine::{At, Start, hold_against_the_model, list},
};
use proptest::{prelude::*, sample::select, test_runner::RngSeed};

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(39),
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn an_answer_leaves_what_the_rules_say(start in start(), calls in answer()) {
        hold_against_the_model(&mut start.dialogue(), &calls);
    }

    #[test]
    fn call_by_call_too(start in start(), calls in answer()) {
        let mut dialogue = start.dialogue();
        let begun = dialogue.phase().0;
        for call in calls {
            if dialogue.phase().0 == begun && dialogue.run.exit().is_none() {
                hold_against_the_model(&mut dialogue, &[call]);
            }
        }
    }
}

fn start() -> impl Strategy<Value = Start> {
    let phase = select(vec![At::Planning, At::Working, At::Working, At::Reviewing]);
    (phase, 0..5_usize, 0..3_usize, any::<bool>(), any::<bool>()).prop_map(
        |(phase, closed, planned, has_boxes, is_staged)| Start { phase, closed, planned, has_boxes, is_staged },
    )
}

fn answer() -> impl Strategy<Value = Vec<Call>> {
    proptest::collection::vec(call(), 1..12)
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        6 => Just(Call::TodoComplete),
        1 => (1..6_usize).prop_map(Call::CompleteTask),
        1 => select(vec!["A", "B", "Staged"]).prop_map(|name| Call::TodoWrite(list(name))),
        1 => select(vec!["Check all totals", "A: part 1"]).prop_map(|text| Call::AddTask(text.into())),
        1 => Just(Call::TodoRewind("it has no sections".into())),
        1 => Just(Call::ArchiveAndReset),
        2 => select(vec!["output/report.md", "notes.md"]).prop_map(|path| Call::JobComplete { deliverable: path.into() }),
        4 => file_call(),
        3 => memory_call(),
        2 => select(vec!["Records are kept.", "Invoices are kept.", "Letters are kept."])
            .prop_map(|text| Call::AddRequirement(text.into())),
    ]
}

fn file_call() -> impl Strategy<Value = Call> {
    prop_oneof![
        2 => path().prop_map(Call::ReadFile),
        3 => (path(), words(), any::<bool>()).prop_map(|(path, content, append)| Call::WriteFile { path, content, append }),
        2 => (path(), words(), words()).prop_map(|(path, old, new)| Call::EditFile { path, old, new }),
        1 => path().prop_map(Call::DeleteFile),
        1 => Just(Call::Look("list_files")),
    ]
}

fn memory_call() -> impl Strategy<Value = Call> {
    prop_oneof![
        2 => plan().prop_map(Call::WritePlan),
        1 => Just(Call::ReadPlan),
        3 => words().prop_map(Call::AddNote),
        1 => words().prop_map(Call::AddAccomplishment),
        1 => Just(Call::Summary),
        1 => Just(Call::GetProgress),
    ]
}

fn path() -> impl Strategy<Value = String> {
    let often = ["notes.md", "workspace.md", "main_plan.md", "output/report.md"];
    let rarely = [
        "progress.md",
        "workspace_summary.md",
        "todos.yaml",
        "error.md",
        "output/requirements.json",
        "requirements/r1.md",
    ];
    prop_oneof![3 => select(often.to_vec()), 1 => select(rarely.to_vec())].prop_map(String::from)
}

fn words() -> impl Strategy<Value = String> {
    select(vec!["alpha", "beta", "Phase 1", "do it", "alpha beta gamma delta epsilon zeta eta theta"])
        .prop_map(String::from)
}

fn plan() -> impl Strategy<Value = String> {
    (0..3_usize, any::<bool>()).prop_map(|(phases, has_boxes)| {
        let boxes = if has_boxes { "- [ ] do it\n" } else { "" };
        (1..=phases)
            .map(|n| format!("\n## Phase {n}: Part {n}\n{boxes}"))
            .fold(String::from("# Plan\n"), |plan, part| plan + &part)
    })
}
