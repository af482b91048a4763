//! Failures and endings whose words do not say what they are: the engine decides by what it knows of the job.

use crate::kit::{Dialogue, failure, says, settings};
use plumbline_engine::{Failure, FailureClass, FinishReason, JobExit, Outcome, Reply, Stage, Suspicion};
use serde_json::json;

fn fails(dialogue: &mut Dialogue, class: FailureClass, suspicion: Suspicion) {
    dialogue.apply(Outcome::ModelFailed(Failure { suspicion: Some(suspicion), ..failure(class) }));
}

/// A job that has read something, at a model with a window of so many times what its next request takes.
fn with_window(share: f64) -> Dialogue {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.counts = true;
    dialogue.call("read_file", json!({"path": "instructions.md"}));
    let tokens = f64::from(dialogue.request_tokens());
    dialogue.resume(|settings| settings.model.context_window = (tokens * share) as u32);
    dialogue
}

#[test]
fn a_refusal_without_a_reason_of_what_fills_the_window_is_an_overflow_and_says_so() {
    let mut dialogue = with_window(1.05);
    fails(&mut dialogue, FailureClass::Permanent, Suspicion::Size);
    assert!(dialogue.run.exit().is_none(), "{:?}", dialogue.run.exit());
    let record = dialogue.toy.requests.last().unwrap();
    assert_eq!(record.failure_class, Some(FailureClass::ContextTooLong));
    let error = record.error.as_deref().unwrap();
    assert!(error.contains("; taken for an overflow: the request has about "), "{error}");
}

#[test]
fn the_same_refusal_of_a_small_request_is_what_it_says() {
    let mut dialogue = with_window(2.0);
    fails(&mut dialogue, FailureClass::Permanent, Suspicion::Size);
    assert!(matches!(dialogue.exit(), JobExit::Failed(_)), "{:?}", dialogue.exit());
    assert_eq!(dialogue.toy.requests.last().unwrap().failure_class, Some(FailureClass::Permanent));
}

#[test]
fn a_refusal_that_names_another_reason_is_no_overflow_however_full_the_window() {
    let mut dialogue = with_window(1.05);
    dialogue.fails(FailureClass::Permanent);
    assert!(matches!(dialogue.exit(), JobExit::Failed(_)), "{:?}", dialogue.exit());
}

#[test]
fn a_call_that_was_not_parsed_is_remarked_on_once_before_the_next_try() {
    let mut dialogue = Dialogue::begun(settings());
    let before = dialogue.request().len();
    for _ in 0..3 {
        fails(&mut dialogue, FailureClass::Malformed, Suspicion::Call);
        dialogue.wake();
    }
    let request = dialogue.request();
    assert_eq!(request.len(), before + 1);
    let remark = &request[request.len() - 2].text;
    assert!(remark.starts_with("Your last answer held a tool call that could not be parsed"), "{remark}");
    dialogue.call("read_plan", json!({}));
    fails(&mut dialogue, FailureClass::Malformed, Suspicion::Call);
    assert_eq!(dialogue.wake(), 1);
    assert_eq!(dialogue.request().iter().filter(|line| line.text == *remark).count(), 2, "of another answer");
}

#[test]
fn a_model_that_has_answered_is_not_given_up_when_it_is_denied_once() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.call("read_plan", json!({}));
    fails(&mut dialogue, FailureClass::Permanent, Suspicion::Passing);
    assert_eq!(dialogue.wake(), 1);
    dialogue.call("read_plan", json!({}));
    for _ in 0..7 {
        fails(&mut dialogue, FailureClass::Permanent, Suspicion::Passing);
        match dialogue.run.exit() {
            Some(_) => dialogue.resume(|_| {}),
            None => drop(dialogue.wake()),
        }
    }
    fails(&mut dialogue, FailureClass::Permanent, Suspicion::Passing);
    assert!(matches!(dialogue.exit(), JobExit::Failed(_)), "{:?}", dialogue.exit());
}

#[test]
fn a_model_that_never_answered_is_a_mistake_of_the_configuration() {
    let mut dialogue = Dialogue::begun(settings());
    fails(&mut dialogue, FailureClass::Permanent, Suspicion::Passing);
    assert!(matches!(dialogue.exit(), JobExit::Failed(_)), "{:?}", dialogue.exit());
}

#[test]
fn an_answer_that_is_not_complete_is_asked_on_and_its_calls_are_carried_out() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.reply(Reply { finish: FinishReason::Unfinished, ..says("I begin") });
    let request = dialogue.request();
    let nudge = &request[request.len() - 2].text;
    assert_eq!(nudge, "The last answer ended before it was complete. Go on from there, by calling a tool.");
    let call = crate::kit::call("write_plan", &json!({"content": "# Plan\n\n## Phase 1: All\n- [ ] do it\n"}));
    dialogue.reply(Reply { finish: FinishReason::Unfinished, ..crate::kit::reply("", vec![call]) });
    assert!(dialogue.toy.text("main_plan.md").contains("Phase 1"));
}

/// z.ai takes more than the window and says so in the usage alone.
#[test]
fn q29_an_answer_to_more_than_the_window_is_followed_by_less() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let thinks =
        || crate::kit::reply(&"A long thought. ".repeat(200), vec![crate::kit::call("get_progress", &json!({}))]);
    dialogue.reply(thinks());
    dialogue.reply(thinks());
    let tokens = dialogue.request_tokens();
    dialogue.resume(|settings| settings.model.context_window = settings.model.max_output_tokens + tokens * 2);
    let mut reply = thinks();
    reply.record.prompt_tokens = dialogue.toy.settings.model.context_window + 1;
    dialogue.reply(reply);
    let state = dialogue.run.state();
    let is_smaller = matches!(state.stage, Stage::Summary { .. }) || state.context.summary_seq.is_some();
    assert!(is_smaller, "{:?}", state.stage);
}

/// A job with a conversation of some thousand tokens, at a server that reads so many of them.
fn answered_to(dialogue: &mut Dialogue, prompt_tokens: u32) {
    let mut reply = crate::kit::reply("", vec![crate::kit::call("get_progress", &json!({}))]);
    reply.record.prompt_tokens = prompt_tokens;
    dialogue.reply(reply);
}

fn long_conversation() -> Dialogue {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.resume(|settings| settings.limits.context_threshold_tokens = 50_000);
    for _ in 0..8 {
        let text = "A long thought. ".repeat(250);
        dialogue.reply(crate::kit::reply(&text, vec![crate::kit::call("get_progress", &json!({}))]));
    }
    assert!(dialogue.request_tokens() > 4000, "{}", dialogue.request_tokens());
    dialogue
}

#[test]
fn q30_a_server_that_reads_a_part_of_two_requests_in_a_row_pauses_the_job_with_the_cure() {
    let mut dialogue = long_conversation();
    answered_to(&mut dialogue, 1100);
    assert!(dialogue.run.exit().is_none(), "one may be a mistake of counting");
    let messages = dialogue.request().len();
    answered_to(&mut dialogue, 1100);
    let reason = dialogue.reason().to_owned();
    assert!(reason.starts_with("the server's window is too small: it read 1100 of about "), "{reason}");
    assert!(reason.contains("OLLAMA_CONTEXT_LENGTH=200000"), "{reason}");
    assert!(matches!(dialogue.exit(), JobExit::Paused { .. }));
    dialogue.resume(|_| {});
    assert_eq!(dialogue.request().len(), messages, "what was answered blindly is no part of the conversation");
    answered_to(&mut dialogue, 1100);
    assert!(dialogue.run.exit().is_none(), "a resumed job begins with a clean count");
}

#[test]
fn a_count_that_another_tokenizer_may_have_is_no_sign_and_one_whole_reading_ends_the_row() {
    let mut dialogue = long_conversation();
    let most = dialogue.request_tokens();
    for share in [0.6, 0.6, 0.3, 1.0, 0.3, 1.5] {
        answered_to(&mut dialogue, (f64::from(most) * share) as u32);
        assert!(dialogue.run.exit().is_none(), "{share}: {:?}", dialogue.run.exit());
    }
    for _ in 0..3 {
        answered_to(&mut dialogue, 10);
        assert!(dialogue.run.exit().is_none(), "no server keeps ten tokens");
    }
}
