//! Behaviour of providers, and consequences that it must not have.

use crate::kit::{Dialogue, call, reply, settings};
use plumbline_engine::{Effect, FailureClass, JobExit, Prices, Purpose, Role, ToolCall, Usage};
use serde_json::{Value, json};
use std::sync::Arc;

#[test]
fn lesson_32_an_overflow_is_not_repeated_unchanged() {
    let mut dialogue = Dialogue::working(settings(), 1);
    for n in 0..4 {
        let thoughts = "the policy says more. ".repeat(100);
        dialogue.reply(reply(&thoughts, vec![call("get_progress", &json!({"n": n}))]));
    }
    let before = dialogue.request();
    dialogue.fails(FailureClass::ContextTooLong);
    assert_ne!(dialogue.request(), before);
}

#[test]
fn lesson_33_a_window_smaller_than_configured_is_lived_with() {
    let mut dialogue = Dialogue::working(settings(), 1);
    for n in 0..6 {
        let thoughts = "the policy says more. ".repeat(100);
        dialogue.reply(reply(&thoughts, vec![call("get_progress", &json!({"n": n}))]));
    }
    let before = dialogue.request_tokens();
    dialogue.fails(FailureClass::ContextTooLong);
    dialogue.says("Nothing was found yet.");
    let after = dialogue.request_tokens();
    assert!(after * 10 < before * 9, "{after} after {before} tokens");
}

#[test]
fn lesson_34_what_is_permanent_is_not_retried() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.fails(FailureClass::Permanent);
    assert_eq!(dialogue.toy.requests.len(), 1);
    assert!(matches!(dialogue.exit(), JobExit::Failed(_)), "{:?}", dialogue.exit());
}

#[test]
fn lesson_37_broken_arguments_are_never_replayed() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let broken = ToolCall { arguments: r#"{"path": "a.md", "content": "Inv"#.into(), ..call("write_file", &json!({})) };
    dialogue.reply(reply("", vec![broken]));
    for line in dialogue.request() {
        for call in line.calls {
            let arguments: Value = serde_json::from_str(&call.arguments).expect("arguments in a request are JSON");
            assert!(arguments.is_object(), "{arguments}");
        }
    }
}

#[test]
fn lesson_38_a_cut_call_gets_the_advice_to_split_and_is_capped() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.cut_off("write_file", &json!({"path": "a.md", "content": "…"}));
    assert!(dialogue.request()[3].text.contains("write long files in several parts"), "{}", dialogue.request()[3].text);
    assert!(!dialogue.toy.files.contains_key("a.md"));
}

#[test]
fn lesson_39_an_outage_of_an_hour_costs_no_job() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.close();
    let end = dialogue.now + chrono::TimeDelta::hours(1);
    while dialogue.now < end {
        dialogue.fails(FailureClass::Overloaded);
        match dialogue.run.next() {
            Effect::Wait { .. } => {
                dialogue.wake();
            }
            Effect::Exit(JobExit::Parked { until, .. }) => {
                dialogue.now = *until;
                dialogue.resume(|_| {});
            }
            other => panic!("{other:?}"),
        }
    }
    dialogue.close();
    assert_eq!(dialogue.run.progress().todos_done, 2);
}

#[test]
fn lesson_41_a_rate_limit_waits_and_a_quota_pauses() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.fails_for(FailureClass::RateLimited, 7);
    assert_eq!(dialogue.wake(), 7);
    dialogue.fails(FailureClass::Quota);
    assert!(matches!(dialogue.exit(), JobExit::Paused { .. }), "{:?}", dialogue.exit());
}

#[test]
fn lesson_47_cached_tokens_are_counted_and_priced() {
    let prices = Prices { input: 2.0, cached_input: 0.5, cache_write: 2.5, output: 8.0 };
    let usage = Usage { prompt_tokens: 1000, cached_tokens: 800, completion_tokens: 10, ..Usage::default() };
    assert_eq!(prices.cost_microusd(&usage), 200 * 2 + 400 + 80);
    let written = Usage { cache_write_tokens: 100, ..usage };
    assert_eq!(prices.cost_microusd(&written), 100 * 2 + 250 + 400 + 80);
    let all = Usage { cache_write_tokens: 1000, ..usage };
    assert_eq!(prices.cost_microusd(&all), 500 + 400 + 80, "what was served was not written as well");
    let mut dialogue = Dialogue::begun(settings());
    let mut cached = reply("", vec![call("read_plan", &json!({}))]);
    cached.record.cached_tokens = 60;
    dialogue.reply(cached);
    let totals = dialogue.run.state().totals;
    assert_eq!((totals.cached_tokens, totals.tokens, totals.cost_microusd), (60, 110, 40 + 6 + 20));
}

#[test]
fn lesson_51_no_cut_parts_a_call_from_its_result() {
    // The kit's strict provider checks each request; here the cut is made at every position of a long conversation.
    for turns in 2..12 {
        let mut dialogue = Dialogue::working(settings(), 1);
        for n in 0..turns {
            let calls = (0..=n % 3).map(|m| call("get_progress", &json!({"n": n, "m": m}))).collect();
            dialogue.reply(reply(&"the policy says more. ".repeat(50), calls));
        }
        dialogue.fails(FailureClass::ContextTooLong);
        dialogue.says("So far so good.");
        assert_eq!(dialogue.request()[0].role, Role::System);
    }
}

/// Turns until the conversation is summarized, if the provider omits its counts.
fn turns_until_full(description: usize) -> usize {
    let mut dialogue = Dialogue::working(
        Dialogue::with(|settings| {
            settings.limits.context_threshold_tokens = 6000;
            let mut tools = settings.tools.to_vec();
            tools.iter_mut().for_each(|tool| tool.description = "x".repeat(description));
            settings.tools = Arc::new(tools.into());
        }),
        1,
    );
    for turn in 1..100 {
        let mut uncounted =
            reply(&"the policy says more. ".repeat(50), vec![call("get_progress", &json!({"turn": turn}))]);
        uncounted.record.estimated = true;
        dialogue.reply(uncounted);
        let Effect::CallModel(request) = dialogue.run.next() else { panic!("{:?}", dialogue.run.next()) };
        if request.purpose == Purpose::Summary {
            return turn;
        }
    }
    panic!("the context never filled up");
}

#[test]
fn lesson_53_tool_definitions_count() {
    let (small, large) = (turns_until_full(10), turns_until_full(800));
    assert!(large * 3 < small * 2, "{large} turns with large definitions, {small} with small ones");
}

#[test]
fn lesson_57_the_users_words_are_not_swallowed_by_compactions() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.feedback("Mind annex B.");
    for round in 0..3 {
        for n in 0..6 {
            let thoughts = "the policy says more. ".repeat(100);
            dialogue.reply(reply(&thoughts, vec![call("add_note", &json!({"text": format!("{round} {n}")}))]));
        }
        dialogue.fails(FailureClass::ContextTooLong);
        dialogue.says("So far so good.");
        let said = dialogue.request().iter().filter(|line| line.text.ends_with("Mind annex B.")).count();
        assert_eq!(said, 1, "round {round}");
    }
}

#[test]
fn lesson_108_the_changing_part_comes_last() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let before = dialogue.request();
    dialogue.close();
    let after = dialogue.request();
    assert_eq!(after[..before.len() - 1], before[..before.len() - 1]);
    assert_ne!(after[after.len() - 1], before[before.len() - 1]);
}
