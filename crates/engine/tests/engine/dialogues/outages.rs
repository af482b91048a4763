//! A service that tools need is unavailable: their calls wait, park the job, and are then made unchanged.

use crate::kit::{Dialogue, call, reply, settings};
use chrono::TimeDelta;
use plumbline_engine::{Effect, JobExit, Outage, Outcome, Settings};
use serde_json::json;

const AWAY: &str = "the graph at http://localhost:7474 cannot be reached";

fn at_search(settings: Settings) -> Dialogue {
    let mut dialogue = Dialogue::working(settings, 1);
    dialogue.apply(Outcome::ModelReplied(reply("", vec![call("web_search", &json!({"query": "GoBD"}))])));
    dialogue
}

fn outage(dialogue: &mut Dialogue, needs_operator: bool) {
    dialogue.apply(Outcome::ToolsUnavailable(Outage {
        returns: Vec::new(),
        reason: AWAY.into(),
        needs_operator,
        jitter: 1.0,
    }));
}

fn parked_for(dialogue: &Dialogue) -> i64 {
    match dialogue.exit() {
        JobExit::Parked { until, reason } => {
            assert_eq!(reason, AWAY);
            (*until - dialogue.now).num_seconds()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn calls_wait_in_place_then_park_the_job_and_are_made_when_the_service_is_back() {
    let mut dialogue = at_search(settings());
    let requests = dialogue.run.state().totals.requests;
    for expected in [1, 2] {
        outage(&mut dialogue, false);
        assert_eq!(dialogue.wake(), expected);
    }
    for expected in [30, 60, 120] {
        outage(&mut dialogue, false);
        assert_eq!(parked_for(&dialogue), expected);
        dialogue.resume(|_| {});
    }
    assert!(
        matches!(dialogue.run.next(), Effect::RunTools { calls, .. } if calls.len() == 1 && calls[0].name == "web_search")
    );
    dialogue.run_tools();
    assert_eq!(dialogue.run.state().totals.requests, requests, "the model was not asked meanwhile");
    assert_eq!(dialogue.run.state().retry.failures, 0, "the next outage begins anew");
    assert!(matches!(dialogue.run.next(), Effect::CallModel(_)));
}

#[test]
fn what_waiting_does_not_mend_pauses_the_job() {
    let mut dialogue = at_search(settings());
    outage(&mut dialogue, true);
    assert!(matches!(dialogue.exit(), JobExit::Paused { reason } if reason == AWAY), "{:?}", dialogue.exit());
    dialogue.resume(|_| {});
    assert!(matches!(dialogue.run.next(), Effect::RunTools { .. }), "the calls are made once it is mended");
}

#[test]
fn a_service_that_stays_away_for_a_day_fails_the_job_with_its_calls_open() {
    let mut dialogue = at_search(settings());
    outage(&mut dialogue, false);
    dialogue.wake();
    dialogue.now += TimeDelta::hours(25);
    outage(&mut dialogue, false);
    let JobExit::Failed(error) = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert!(error.message.contains("stayed away: ") && error.message.contains(AWAY), "{}", error.message);
    assert_eq!(error.details["attempts"], 2);
    let time = |key: &str| error.details[key].as_str().unwrap().parse::<chrono::DateTime<chrono::Utc>>().unwrap();
    assert!(time("last_error_at") - time("first_error_at") >= TimeDelta::hours(25), "{:?}", error.details);
    dialogue.resume(|_| {});
    assert!(matches!(dialogue.run.next(), Effect::RunTools { .. }));
}

#[test]
fn waiting_ends_at_the_deadline() {
    let mut dialogue = at_search(Dialogue::with(|settings| settings.limits.deadline_s = Some(3600)));
    outage(&mut dialogue, false);
    dialogue.wake();
    dialogue.now += TimeDelta::hours(2);
    outage(&mut dialogue, false);
    assert!(
        matches!(dialogue.exit(), JobExit::Paused { reason } if reason.contains("deadline") && reason.contains(AWAY)),
        "{:?}",
        dialogue.exit()
    );
}

#[test]
fn a_call_of_unknown_outcome_is_not_made_again_for_having_waited() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let calls = ["send_letter", "web_search"].map(|name| call(name, &json!({"query": "GoBD"})));
    dialogue.apply(Outcome::ModelReplied(reply("", calls.to_vec())));
    dialogue.crash();
    dialogue.apply(Outcome::ToolsReturned(Vec::new()));
    outage(&mut dialogue, false);
    dialogue.crash();
    dialogue.wake();
    assert_eq!(dialogue.effect(), "run [web_search]");
    dialogue.run_tools();
    let answers: Vec<&str> =
        dialogue.toy.messages.iter().rev().take(2).map(|message| message.content.as_str()).collect();
    assert!(answers[1].contains("outcome unknown") && answers[0] == "Found: GoBD", "{answers:?}");
}

#[test]
fn an_outage_gives_back_the_rest_of_the_answer_and_keeps_what_was_made_before_it() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let searches = ["one", "two", "three"].map(|query| call("web_search", &json!({"query": query})));
    dialogue.apply(Outcome::ModelReplied(reply("", searches.to_vec())));
    let first = dialogue.returns().remove(0);
    let away = Outage { returns: vec![first], reason: AWAY.into(), needs_operator: false, jitter: 1.0 };
    dialogue.apply(Outcome::ToolsUnavailable(away));
    assert!(dialogue.commits, "what was made is on record before the wait");
    dialogue.crash();
    dialogue.wake();
    let Effect::RunTools { calls, .. } = dialogue.run.next() else { panic!("{:?}", dialogue.run.next()) };
    assert_eq!(
        calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(),
        [&searches_id(&dialogue, 1), &searches_id(&dialogue, 2)]
    );
    dialogue.run_tools();
    let results: Vec<&str> =
        dialogue.toy.messages.iter().rev().take(3).map(|message| message.content.as_str()).collect();
    assert_eq!(results, ["Found: three", "Found: two", "Found: one"]);
}

fn searches_id(dialogue: &Dialogue, at: usize) -> String {
    let reply = dialogue.toy.messages.iter().rfind(|message| !message.tool_calls.is_empty()).expect("an answer");
    reply.tool_calls[at].id.clone()
}
