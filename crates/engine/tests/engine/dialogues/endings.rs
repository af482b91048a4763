//! Failures and endings with ambiguous messages: the engine decides by what it knows of the job.

use crate::kit::{Dialogue, failure, says, settings};
use plumbline_engine::{Failure, FailureClass, FinishReason, JobExit, Outcome, Reply, Stage, Suspicion};
use serde_json::json;

fn fails(dialogue: &mut Dialogue, class: FailureClass, suspicion: Suspicion) {
    dialogue.apply(Outcome::ModelFailed(Failure { suspicion: Some(suspicion), ..failure(class) }));
}

/// A job that has read something, with a model whose window is this multiple of its next request.
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
fn a_model_that_has_answered_survives_one_denial() {
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

/// z.ai accepts more than the window and reports it only in the usage.
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

/// A job with a conversation of some thousand tokens, and a server that reads this many of them.
fn answered_to(dialogue: &mut Dialogue, prompt_tokens: u32) {
    let mut reply = crate::kit::reply("", vec![crate::kit::call("get_progress", &json!({}))]);
    reply.record.prompt_tokens = prompt_tokens;
    dialogue.reply(reply);
}

fn long_conversation() -> Dialogue {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.resume(|settings| {
        settings.limits.context_threshold_tokens = 150_000;
        settings.model.reports_whole_prompt = true;
    });
    for _ in 0..8 {
        let text = "A long thought. ".repeat(250);
        dialogue.reply(crate::kit::reply(&text, vec![crate::kit::call("get_progress", &json!({}))]));
    }
    assert!(dialogue.request_tokens() > 4000, "{}", dialogue.request_tokens());
    dialogue
}

/// A conversation that grows by texts of this many tokens, with a server that counts its prompts like this.
fn counted(window: Option<u32>, count: impl Fn(u32, u32) -> (u32, u32)) -> Dialogue {
    let mut dialogue = long_conversation();
    let mut before = dialogue.request_tokens();
    for _ in 0..29 {
        let sent = dialogue.request_tokens();
        let mut reply =
            crate::kit::reply(&"More and more. ".repeat(120), vec![crate::kit::call("get_progress", &json!({}))]);
        (reply.record.prompt_tokens, reply.record.cached_tokens) = count(sent, sent.saturating_sub(before));
        reply.record.server_window = window;
        dialogue.reply(reply);
        before = sent;
        if dialogue.run.exit().is_some() {
            break;
        }
    }
    dialogue
}

#[test]
fn q30_a_server_that_tells_a_window_below_what_was_sent_pauses_the_job_with_the_number() {
    let dialogue = counted(Some(4096), |_, _| (1100, 0));
    let reason = dialogue.reason().to_owned();
    assert!(reason.starts_with("the server's window is too small: it read 1100 of about "), "{reason}");
    assert!(reason.contains("it says that it has 4096 tokens"), "{reason}");
    assert!(reason.contains("OLLAMA_CONTEXT_LENGTH=200000"), "{reason}");
    assert!(matches!(dialogue.exit(), JobExit::Paused { .. }));
}

#[test]
fn the_answer_that_raised_the_alarm_is_kept_for_a_resume() {
    let mut dialogue = counted(Some(4096), |_, _| (1100, 0));
    let last = dialogue.run.state().next_seq;
    dialogue.resume(|_| {});
    let said: Vec<String> = dialogue.request().into_iter().map(|line| line.text).collect();
    assert!(said.iter().any(|text| text.contains("More and more.")), "{last}: {said:?}");
    dialogue.resume(|settings| settings.model.reports_whole_prompt = false);
    answered_to(&mut dialogue, 1100);
    assert!(dialogue.run.exit().is_none(), "the key switches it off");
}

#[test]
fn a_silent_server_is_detected_by_a_constant_count_while_more_is_sent() {
    for varies in [0, 200] {
        let dialogue = counted(None, |sent, _| (2051 + sent % (varies + 1), 0));
        assert!(dialogue.reason().contains("its count stood at 3 answers"), "{}", dialogue.reason());
    }
}

/// A provider's report on a request, from the tokens sent and added: the prompt and the cached part.
type Reported<'a> = dyn Fn(u32, u32) -> (u32, u32) + 'a;

#[test]
fn a_wrong_count_raises_no_alarm() {
    let whole = |sent: u32| sent;
    let ways: [(&str, &Reported<'_>); 7] = [
        ("whole", &|sent, _| (whole(sent), 0)),
        ("a third", &|sent, _| (sent / 3, 0)),
        ("the cached part left out", &|_, added| (added + 200, 0)),
        ("only what is new to the cache, in blocks", &|sent, added| (added + sent % 1024, 0)),
        ("little of it, with a cached part", &|_, _| (1100, 1000)),
        ("nearly nothing", &|_, _| (500, 0)),
        ("an offset", &|sent, _| (sent.saturating_sub(3000), 0)),
    ];
    for (what, count) in ways {
        for window in [None, Some(1_000_000)] {
            let dialogue = counted(window, count);
            assert!(dialogue.run.exit().is_none(), "{what}: {:?}", dialogue.run.exit());
        }
    }
}

/// Some servers count only texts: long arguments are not included.
#[test]
fn a_count_without_calls_raises_no_alarm() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let whole = |settings: &mut plumbline_engine::Settings| {
        settings.limits.context_threshold_tokens = 100_000;
        settings.model.reports_whole_prompt = true;
    };
    dialogue.resume(whole);
    for at in 0..20 {
        let text = "A long line of a file. ".repeat(100);
        let arguments = json!({"path": format!("output/{at}.md"), "content": text});
        let mut reply = crate::kit::reply("", vec![crate::kit::call("write_file", &arguments)]);
        reply.record.prompt_tokens = 1500 + at * 20;
        dialogue.reply(reply);
        assert!(dialogue.run.exit().is_none(), "{at}: {:?}", dialogue.run.exit());
    }
    assert!(dialogue.request_tokens() > 8000, "{}", dialogue.request_tokens());
}

#[test]
fn a_count_below_half_of_ours_is_no_anchor_and_the_row_says_estimated() {
    let mut dialogue = long_conversation();
    dialogue.resume(|settings| settings.limits.context_threshold_tokens = 12_000);
    let mut most = 0;
    for _ in 0..40 {
        most = most.max(dialogue.request_tokens());
        let text = "More and more. ".repeat(150);
        let mut reply = crate::kit::reply(&text, vec![crate::kit::call("get_progress", &json!({}))]);
        reply.record.prompt_tokens = 500;
        let changes = match dialogue.run.state().stage {
            Stage::Summary { .. } => dialogue.reply(crate::kit::says("In short: more.")),
            _ => dialogue.reply(reply),
        };
        let rows = changes.iter().filter_map(|change| match change {
            plumbline_engine::Change::Request(record) => Some(record),
            _ => None,
        });
        assert!(
            rows.clone().count() == 1 && rows.clone().all(|row| row.estimated && row.prompt_tokens > 1000),
            "{changes:?}"
        );
    }
    assert!(most < 14_000, "{most}");
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
