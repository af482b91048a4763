//! Fallback models: when they are used, and for how long.

use crate::kit::{Dialogue, failure, settings};
use plumbline_engine::{Failure, FailureClass, Fallback, JobExit, Outcome, Purpose, Settings};
use serde_json::json;

/// A job with fallback models, each named by its index.
fn with(entries: &[(u32, &[FailureClass], &[Purpose])]) -> Settings {
    Dialogue::with(|settings| {
        let entry = |(place, (after, on, purposes)): (usize, &(u32, &[FailureClass], &[Purpose]))| {
            let mut model = settings.model.clone();
            model.model = format!("other-{place}");
            model.prices.input = 10.0;
            model.prices.output = 10.0;
            Fallback {
                after: *after,
                on: on.to_vec(),
                purposes: purposes.to_vec(),
                models: [model.clone(), model.clone(), model],
            }
        };
        settings.fallbacks = entries.iter().enumerate().map(entry).collect();
    })
}

fn model(dialogue: &Dialogue) -> &str {
    &dialogue.run.model_for(Purpose::Strategic).model
}

#[test]
fn after_so_many_failures_of_a_class_the_next_model_is_asked_and_the_row_says_so() {
    let mut dialogue = Dialogue::begun(with(&[(3, &[FailureClass::Overloaded], &[])]));
    for _ in 0..2 {
        dialogue.fails(FailureClass::Overloaded);
        dialogue.wake();
        assert_eq!(model(&dialogue), "test-model");
    }
    dialogue.fails(FailureClass::Overloaded);
    assert_eq!(model(&dialogue), "other-0");
    assert_eq!(dialogue.request().len(), 3, "it is asked at once");
    let before = dialogue.run.state().totals.cost_microusd;
    dialogue.call("read_plan", json!({}));
    let last = dialogue.toy.requests.last().unwrap();
    assert!(last.fallback && dialogue.toy.requests.iter().filter(|request| request.fallback).count() == 1);
    assert_eq!(dialogue.run.state().totals.cost_microusd - before, 110 * 10, "at its own prices");
    assert_eq!(last.cost_microusd, 110 * 10);
}

#[test]
fn a_job_stays_with_it_to_the_end_of_the_phase() {
    let mut dialogue = Dialogue::begun(with(&[(1, &[FailureClass::Transient], &[])]));
    dialogue.write_plan(1);
    dialogue.fails(FailureClass::Transient);
    dialogue.crash();
    assert_eq!(model(&dialogue), "other-0");
    dialogue.open_tactical();
    assert_eq!(dialogue.run.fallback_for(Purpose::Tactical), None);
}

#[test]
fn other_classes_and_other_purposes_do_not_fall_back() {
    let mut dialogue = Dialogue::begun(with(&[(1, &[FailureClass::Overloaded], &[Purpose::Tactical])]));
    for class in [FailureClass::Overloaded, FailureClass::Transient] {
        dialogue.fails(class);
        dialogue.wake();
        assert_eq!(dialogue.run.state().fallback, None, "{class:?}");
    }
}

#[test]
fn a_failure_that_taught_something_leaves_the_job_with_its_model() {
    let mut dialogue = Dialogue::begun(with(&[(1, &[FailureClass::Transient], &[])]));
    dialogue.apply(Outcome::ModelFailed(Failure { learnt: true, ..failure(FailureClass::Transient) }));
    assert_eq!(model(&dialogue), "test-model");
    dialogue.fails(FailureClass::Transient);
    assert_eq!(model(&dialogue), "other-0");
}

#[test]
fn what_ends_the_tries_falls_back_at_once() {
    for class in [FailureClass::Quota, FailureClass::Unauthorized, FailureClass::Permanent] {
        let mut dialogue = Dialogue::begun(with(&[(3, &[class], &[])]));
        dialogue.fails(class);
        assert_eq!(model(&dialogue), "other-0", "{class:?}");
        assert!(dialogue.run.exit().is_none());
    }
}

#[test]
fn where_the_last_one_fails_too_the_job_waits_and_comes_back_to_its_own() {
    let outage: &[FailureClass] = &[FailureClass::Transient];
    let mut dialogue = Dialogue::begun(with(&[(1, outage, &[]), (1, outage, &[])]));
    dialogue.fails(FailureClass::Transient);
    dialogue.fails(FailureClass::Transient);
    assert_eq!(model(&dialogue), "other-1");
    dialogue.apply(Outcome::ModelFailed(Failure { retry_after_s: Some(600), ..failure(FailureClass::Transient) }));
    assert!(matches!(dialogue.exit(), JobExit::Parked { .. }), "{:?}", dialogue.exit());
    dialogue.resume(|_| {});
    assert_eq!(model(&dialogue), "test-model");
}

#[test]
fn a_job_without_models_to_fall_back_on_is_as_it_was() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.fails(FailureClass::Permanent);
    assert!(matches!(dialogue.exit(), JobExit::Failed(_)));
}
