//! Budgets: using one up pauses the job and keeps its work; raising it resumes the job.

use crate::kit::{Dialogue, settings};
use chrono::TimeDelta;
use plumbline_engine::{Effect, FailureClass, JobExit, Settings};
use serde_json::json;

fn paused(dialogue: &Dialogue) -> &str {
    assert!(matches!(dialogue.exit(), JobExit::Paused { .. }), "{:?}", dialogue.exit());
    dialogue.reason()
}

/// Pauses for the reason, stays paused without a change, and continues where it stopped when the budget is raised.
fn pauses_and_resumes(mut dialogue: Dialogue, reason: &str, raise: impl FnOnce(&mut Settings)) {
    assert_eq!(paused(&dialogue), reason);
    let (done, requests) = (dialogue.run.progress(), dialogue.toy.requests.len());
    dialogue.resume(|_| {});
    assert_eq!(paused(&dialogue), reason, "nothing was raised");
    dialogue.resume(raise);
    assert!(matches!(dialogue.run.next(), Effect::CallModel(_)), "{:?}", dialogue.run.next());
    assert_eq!((dialogue.run.progress(), dialogue.toy.requests.len()), (done, requests), "the work is kept");
    dialogue.call("read_plan", json!({}));
    assert!(dialogue.run.exit().is_none());
}

#[test]
fn iterations() {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.limits.max_iterations = 3));
    for n in 0..3 {
        assert!(dialogue.run.exit().is_none(), "{n} requests are below the limit");
        dialogue.call("write_file", json!({"path": "notes.md", "content": n.to_string()}));
    }
    pauses_and_resumes(dialogue, "limit of 3 iterations reached", |settings| settings.limits.max_iterations = 10);
}

#[test]
fn tokens() {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.limits.token_budget = Some(220)));
    dialogue.call("read_plan", json!({}));
    assert!(dialogue.run.exit().is_none(), "110 of 220 tokens");
    dialogue.call("read_plan", json!({}));
    pauses_and_resumes(dialogue, "token budget of 220 tokens reached", |settings| settings.limits.token_budget = None);
}

#[test]
fn cost() {
    // A request of the tests costs 100 × 1 + 10 × 2 millionths of a dollar.
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.limits.cost_budget_usd = Some(0.00024)));
    dialogue.call("read_plan", json!({}));
    assert_eq!(dialogue.run.state().totals.cost_microusd, 120);
    dialogue.call("read_plan", json!({}));
    let raise = |settings: &mut Settings| settings.limits.cost_budget_usd = Some(5.0);
    pauses_and_resumes(dialogue, "cost budget of 0.00024 USD reached", raise);
}

#[test]
fn the_cost_budget_is_named_in_dollars() {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| {
        settings.limits.cost_budget_usd = Some(5.0);
        settings.model.prices.input = 50_000.0;
    }));
    dialogue.call("read_plan", json!({}));
    assert_eq!(paused(&dialogue), "cost budget of 5.00 USD reached");
}

#[test]
fn deadline() {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.limits.deadline_s = Some(60)));
    dialogue.later(TimeDelta::seconds(59));
    dialogue.call("read_plan", json!({}));
    assert!(dialogue.run.exit().is_none());
    dialogue.later(TimeDelta::seconds(1));
    dialogue.call("read_plan", json!({}));
    assert_eq!(paused(&dialogue), "deadline of 60 s reached");
    dialogue.resume(|settings| settings.limits.deadline_s = Some(3600));
    dialogue.call("read_plan", json!({}));
    assert!(dialogue.run.exit().is_none());
}

#[test]
fn a_deadline_that_passes_while_waiting_makes_no_further_request() {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.limits.deadline_s = Some(10)));
    dialogue.fails_for(FailureClass::RateLimited, 12);
    assert_eq!(dialogue.wake(), 10, "nobody waits for longer than the job may last");
    let failed = "the last request failed: the provider says RateLimited";
    assert_eq!(paused(&dialogue), format!("deadline of 10 s reached; {failed}"));
}

#[test]
fn a_job_is_not_parked_beyond_its_deadline() {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.limits.deadline_s = Some(100)));
    dialogue.fails_for(FailureClass::RateLimited, 600);
    let JobExit::Parked { until, .. } = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert_eq!((*until - dialogue.now).num_seconds(), 100);
}

#[test]
fn failed_requests_count_and_are_not_repeated_beyond_the_limit() {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.limits.max_iterations = 2));
    dialogue.fails(FailureClass::Transient);
    dialogue.wake();
    dialogue.fails(FailureClass::Transient);
    let failed = "the last request failed: the provider says Transient";
    assert_eq!(paused(&dialogue), format!("limit of 2 iterations reached; {failed}"));
    assert_eq!(dialogue.toy.requests.len(), 2);
}

#[test]
fn a_summary_is_a_request_like_any_other() {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.limits.max_iterations = 2));
    dialogue.call("write_file", json!({"path": "notes.md", "content": "invoices must be kept. ".repeat(1000)}));
    dialogue.fails(FailureClass::ContextTooLong);
    assert!(paused(&dialogue).starts_with("limit of 2 iterations reached"));
    dialogue.resume(|_| {});
    assert!(paused(&dialogue).starts_with("limit of 2 iterations reached"));
}

#[test]
fn work_of_the_last_paid_answer_is_kept() {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.limits.max_iterations = 1));
    dialogue.call("write_file", json!({"path": "output/a.md", "content": "The last answer's file."}));
    assert_eq!(paused(&dialogue), "limit of 1 iterations reached");
    assert_eq!(dialogue.toy.text("output/a.md"), "The last answer's file.");
}

#[test]
fn the_run_that_never_began_has_used_nothing() {
    let dialogue = Dialogue::new(settings());
    assert_eq!(dialogue.run.state().totals, plumbline_engine::Totals::default());
    assert!(matches!(dialogue.run.next(), Effect::Intake));
}
