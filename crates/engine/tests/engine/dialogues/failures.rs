//! Failed model calls: wait, park, pause, or give up. Decided only here.

use crate::kit::{Dialogue, check, failure, intake_of, settings};
use chrono::TimeDelta;
use plumbline_engine::{Effect, Failure, FailureClass, JobExit, Outcome};
use serde_json::json;

fn parked_for(dialogue: &Dialogue) -> i64 {
    match dialogue.exit() {
        JobExit::Parked { until, .. } => (*until - dialogue.now).num_seconds(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_outage_waits_in_place_then_parks() {
    let script = "
        take in
        fail transient
        wake
        fail overloaded
        wake
        fail transient
        wake
        fail transient
        resume
        fail transient
        resume
        say I am back.
    ";
    check("an_outage", settings(), script);
}

#[test]
fn waits_double_and_are_spread() {
    let mut dialogue = Dialogue::begun(settings());
    for expected in [1, 2, 4] {
        dialogue.fails(FailureClass::Transient);
        assert_eq!(dialogue.wake(), expected);
    }
    let mut dialogue = Dialogue::begun(settings());
    dialogue.apply(Outcome::ModelFailed(Failure { jitter: 0.0, ..failure(FailureClass::Transient) }));
    let Effect::Wait { until } = dialogue.run.next() else { panic!("{:?}", dialogue.run.next()) };
    assert_eq!((until - dialogue.now).num_milliseconds(), 500, "without luck half the time");
}

#[test]
fn parking_grows_to_an_hour_and_ends_after_a_day() {
    let mut dialogue = Dialogue::begun(settings());
    for _ in 0..3 {
        dialogue.fails(FailureClass::Transient);
        dialogue.wake();
    }
    let mut parked = Vec::new();
    for _ in 0..100 {
        dialogue.fails(FailureClass::Transient);
        if matches!(dialogue.exit(), JobExit::Failed(_)) {
            break;
        }
        parked.push(parked_for(&dialogue));
        dialogue.later(TimeDelta::seconds(parked[parked.len() - 1]));
        dialogue.resume(|_| {});
    }
    assert_eq!(parked[..9], [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
    let hours = parked.iter().sum::<i64>() / 3600;
    assert_eq!(hours, 24, "{parked:?}");
    let JobExit::Failed(error) = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert_eq!(error.message, "the model call failed: the provider says Transient");
    assert_eq!(error.details["attempts"], parked.len() + 4);
    assert_eq!(error.details["stage"], "model");
}

#[test]
fn the_providers_wish_is_honoured_in_place_or_parked() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.fails_for(FailureClass::RateLimited, 15);
    assert_eq!(dialogue.wake(), 15);
    dialogue.fails_for(FailureClass::RateLimited, 600);
    assert_eq!(parked_for(&dialogue), 600);
    assert_eq!(dialogue.reason(), "model unavailable: the provider says RateLimited");
}

/// An account's weekly limit is refused for days; an outage of one day still ends the job.
#[test]
fn the_time_for_which_the_provider_sends_the_job_away_is_no_outage() {
    let mut dialogue = Dialogue::begun(settings());
    for _ in 0..3 {
        dialogue.fails_for(FailureClass::RateLimited, 172_800);
        assert_eq!(parked_for(&dialogue), 172_800);
        dialogue.later(TimeDelta::seconds(172_800));
        dialogue.resume(|_| {});
    }
    for _ in 0..24 {
        dialogue.fails_for(FailureClass::Overloaded, 3_600);
        assert_eq!(parked_for(&dialogue), 3_600);
        dialogue.later(TimeDelta::seconds(3_600));
        dialogue.resume(|_| {});
    }
    dialogue.fails_for(FailureClass::Overloaded, 3_600);
    assert!(matches!(dialogue.exit(), JobExit::Failed(_)), "{:?}", dialogue.exit());
}

#[test]
fn the_configuration_says_how_often_is_waited_in_place() {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.model.max_retries = 1));
    dialogue.fails(FailureClass::Transient);
    assert_eq!(dialogue.wake(), 1);
    dialogue.fails(FailureClass::Transient);
    assert_eq!(parked_for(&dialogue), 30);
}

/// The endpoint's lesson is lost when the job leaves the worker.
#[test]
fn a_failure_that_taught_something_is_followed_at_once_and_not_counted() {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| settings.model.max_retries = 0));
    for _ in 0..5 {
        let learnt = Failure { learnt: true, retry_after_s: Some(600), ..failure(FailureClass::Transient) };
        dialogue.apply(Outcome::ModelFailed(learnt));
        assert!(matches!(dialogue.run.next(), Effect::CallModel(_)), "{:?}", dialogue.run.next());
    }
    assert_eq!(dialogue.toy.requests.len(), 5, "each is on record");
    dialogue.fails(FailureClass::Transient);
    assert_eq!(parked_for(&dialogue), 30, "the first that counts");
}

#[test]
fn an_answer_ends_the_count() {
    let mut dialogue = Dialogue::begun(settings());
    for _ in 0..5 {
        dialogue.fails(FailureClass::Transient);
        assert_eq!(dialogue.wake(), 1);
        dialogue.call("read_plan", json!({}));
    }
}

#[test]
fn a_quota_pauses_at_once_and_a_resumed_job_begins_with_a_clean_count() {
    let mut dialogue = Dialogue::begun(settings());
    let hint = Some("add credit".to_string());
    dialogue.apply(Outcome::ModelFailed(Failure { hint, ..failure(FailureClass::Quota) }));
    assert_eq!(dialogue.reason(), "the provider says Quota; add credit");
    assert!(matches!(dialogue.exit(), JobExit::Paused { .. }), "{:?}", dialogue.exit());
    dialogue.resume(|_| {});
    dialogue.fails(FailureClass::Transient);
    assert_eq!(dialogue.wake(), 1);
}

#[test]
fn a_refused_key_parks_at_the_first_refusal_and_never_fails_the_job() {
    let mut dialogue = Dialogue::begun(settings());
    let refuse = |dialogue: &mut Dialogue| {
        let hint = Some("check the key in OPENAI_API_KEY".to_string());
        dialogue.apply(Outcome::ModelFailed(Failure { hint, ..failure(FailureClass::Unauthorized) }));
        parked_for(dialogue)
    };
    let mut waits = Vec::new();
    for _ in 0..400 {
        waits.push(refuse(&mut dialogue));
        dialogue.later(TimeDelta::seconds(waits[waits.len() - 1]));
        dialogue.resume(|_| {});
    }
    assert!(waits.iter().all(|wait| *wait == 300), "{waits:?}");
    assert!(waits.iter().sum::<i64>() > 24 * 3600, "longer than any outage is waited for");
    refuse(&mut dialogue);
    let reason = dialogue.reason();
    assert_eq!(reason, "the model's key was refused: the provider says Unauthorized; check the key in OPENAI_API_KEY");
    dialogue.resume(|_| {});
    dialogue.fails(FailureClass::Transient);
    assert_eq!(dialogue.wake(), 1, "it was no outage");
}

#[test]
fn what_no_waiting_changes_fails_at_once() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.fails(FailureClass::Permanent);
    let JobExit::Failed(error) = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert_eq!(error.details["kind"], "model");
    assert_eq!(error.details["last_error"], "the provider says Permanent");
}

#[test]
fn a_filter_is_asked_again_and_ends_the_job_when_it_insists() {
    let mut dialogue = Dialogue::begun(settings());
    for _ in 0..7 {
        dialogue.fails(FailureClass::Refused);
        assert_eq!(dialogue.wake(), 1);
    }
    dialogue.call("read_plan", json!({}));
    for _ in 0..7 {
        dialogue.fails(FailureClass::Refused);
        dialogue.wake();
    }
    assert!(dialogue.run.exit().is_none(), "an answer between them ends the row");
    dialogue.fails(FailureClass::Refused);
    let JobExit::Failed(error) = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert_eq!(error.details["last_error"], "the provider says Refused");
    assert_eq!(error.details["attempts"], 8);
}

#[test]
fn the_first_error_is_kept_with_the_last() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.fails(FailureClass::Transient);
    dialogue.wake();
    dialogue.fails(FailureClass::Permanent);
    let JobExit::Failed(error) = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert_eq!(error.details["first_error"], "the provider says Transient");
    assert_eq!(error.details["last_error"], "the provider says Permanent");
    assert_eq!(error.details["attempts"], 2);
}

#[test]
fn answers_that_cannot_be_decoded_are_not_waited_for_a_day() {
    let mut dialogue = Dialogue::begun(settings());
    for _ in 0..3 {
        dialogue.fails(FailureClass::Malformed);
        dialogue.wake();
    }
    for parked in [30, 60, 120, 240] {
        dialogue.fails(FailureClass::Malformed);
        assert_eq!(parked_for(&dialogue), parked);
        dialogue.resume(|_| {});
    }
    dialogue.fails(FailureClass::Malformed);
    assert!(matches!(dialogue.exit(), JobExit::Failed(_)), "{:?}", dialogue.exit());
}

#[test]
fn each_failed_request_is_booked() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.fails(FailureClass::Transient);
    assert_eq!(dialogue.toy.requests.len(), 1);
    assert_eq!(dialogue.run.state().totals.requests, 1);
    assert!(dialogue.toy.requests[0].error.is_some());
}

#[test]
fn a_job_that_cannot_be_started_fails_with_the_reason_and_may_be_retried() {
    let mut dialogue = Dialogue::new(settings());
    dialogue
        .apply(Outcome::IntakeRefused { reason: "the document input/a.pdf does not exist.".into(), no_text: false });
    assert_eq!(dialogue.reason(), "the document input/a.pdf does not exist.");
    dialogue.resume(|_| {});
    assert!(matches!(dialogue.run.next(), Effect::Intake));
    dialogue.apply(intake_of(Vec::new()));
    assert!(dialogue.request()[1].text.contains("### Documents\n\n(none)"), "{}", dialogue.request()[1].text);
}
