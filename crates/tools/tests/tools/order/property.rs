//! Random answers. The ordinary run plays 256 of each phase; `PROPTEST_CASES=10000` plays more.

use super::{
    calls,
    job::{Call, Interruption, Job, settings},
};
use plumbline_engine::{Citation, JobRows, Passage, PassageState, PhaseKind};
use proptest::{prelude::*, sample::select, test_runner::RngSeed};
use serde_json::json;
use std::{collections::BTreeMap, sync::LazyLock};
use tokio::runtime::{Builder, Runtime};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Builder::new_multi_thread().enable_all().build().unwrap());
static PLANNING: LazyLock<Job> = LazyLock::new(|| RUNTIME.block_on(Job::planning(settings(&[]))));
static WORKING: LazyLock<Job> = LazyLock::new(|| RUNTIME.block_on(Job::working(settings(&[]))));

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(39),
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn an_answer_of_a_phase_of_work(calls in calls::answer(PhaseKind::Tactical), at in interruptions(), external in external()) {
        leaves_what_the_same_calls_leave(&WORKING, &calls, at, external);
    }

    #[test]
    fn an_answer_of_a_phase_of_planning(calls in calls::answer(PhaseKind::Strategic), at in interruptions(), external in external()) {
        leaves_what_the_same_calls_leave(&PLANNING, &calls, at, external);
    }
}

/// One after every fourth call.
fn interruptions() -> impl Strategy<Value = BTreeMap<usize, Interruption>> {
    let drawn = prop_oneof![
        6 => Just(None),
        1 => Just(Some(Interruption::Death)),
        1 => Just(Some(Interruption::Outage)),
    ];
    proptest::collection::vec(drawn, 12)
        .prop_map(|drawn| drawn.into_iter().enumerate().filter_map(|(at, drawn)| Some((at, drawn?))).collect())
}

/// The tools before whose calls the answer is committed.
fn external() -> impl Strategy<Value = &'static [&'static str]> {
    select(vec![&[] as &[&str], &["read_file", "add_requirement"], &["edit_file", "cite", "search_files"]])
}

fn leaves_what_the_same_calls_leave(start: &Job, calls: &[Call], at: BTreeMap<usize, Interruption>, external: &[&str]) {
    RUNTIME.block_on(async {
        let (mut together, mut apart) = (start.again(settings(external)), start.again(settings(&[])));
        let is_interrupted = at.keys().any(|place| *place < calls.len());
        let results = together.interrupted(calls, at).await;
        assert_eq!(together.deaths > 0, is_interrupted);
        let mut alone = Vec::new();
        for call in calls {
            alone.extend(apart.answered(std::slice::from_ref(call)).await);
        }
        assert_eq!(results.len(), calls.len(), "each call has a result");
        for ((call, together), alone) in calls.iter().zip(&results).zip(&alone) {
            assert_eq!(but_counts(together), but_counts(alone), "the result of {call:?}");
        }
        // Passages shown in results count as read after the answer.
        for job in [&mut together, &mut apart] {
            job.answered(&[("get_progress", json!({}))]).await;
        }
        // After a document is cut again, its passages must be read again, and those shown in the same answer count as
        // read after it.
        let is_read = !calls.iter().any(|(tool, _)| *tool == "chunk_document");
        assert_same(&together.rows, &apart.rows, is_read);
    });
}

/// A result without the line with its duration and number of requests.
fn but_counts(result: &str) -> String {
    result.lines().filter(|line| !line.contains(" model request")).collect::<Vec<_>>().join("\n")
}

/// Files except `tool_results/`, and rows except times.
fn assert_same(one: &JobRows, other: &JobRows, is_read: bool) {
    let files = |rows: &JobRows| -> BTreeMap<String, String> {
        let files = rows.files.iter().filter(|(path, _)| !path.starts_with("tool_results/"));
        files.map(|(path, content)| (path.clone(), String::from_utf8_lossy(content).into_owned())).collect()
    };
    assert_eq!(files(one), files(other), "files");
    assert_eq!(one.todos, other.todos, "todos");
    assert_eq!(one.phases.len(), other.phases.len(), "phases");
    assert_eq!(one.sources, other.sources, "documents");
    let passages = |rows: &JobRows| -> Vec<Passage> {
        let passages = rows.passages.values().cloned().map(but_times);
        if is_read { passages.collect() } else { passages.map(unread).collect() }
    };
    assert_eq!(passages(one), passages(other), "passages");
    let citations = |rows: &JobRows| rows.citations.clone().into_iter().collect::<BTreeMap<String, Citation>>();
    assert_eq!(citations(one), citations(other), "citations");
    assert_eq!(one.recorded, other.recorded, "requirements");
}

/// A passage with only whether it has its steps, not their numbers: those differ in time.
fn but_times(mut passage: Passage) -> Passage {
    let Passage { read_step, answered_step, decided_step, asked_step, .. } = &mut passage;
    for step in [read_step, answered_step, decided_step, asked_step].into_iter().flatten() {
        *step = 0;
    }
    passage.cut_step = 0;
    passage.decisions.iter_mut().for_each(|decision| decision.step = 0);
    passage.candidates.iter_mut().filter_map(|candidate| candidate.cited_step.as_mut()).for_each(|step| *step = 0);
    passage
}

/// A passage as if none of it had been shown.
fn unread(passage: Passage) -> Passage {
    let state = if passage.state == PassageState::Read { PassageState::Unread } else { passage.state };
    Passage { state, read_step: None, unseen: Vec::new(), ..passage }
}
