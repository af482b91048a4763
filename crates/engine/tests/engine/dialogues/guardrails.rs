//! Guardrails: each configured bound is reached here.

use crate::kit::{Dialogue, call, check, reply, settings};
use plumbline_engine::{Effect, FinishReason, JobExit, Opening, Outcome, PhaseKind, PhaseOutcome, Reply};
use serde_json::json;

#[test]
fn silence_is_nudged_then_replanned_then_ends_the_job() {
    check(
        "silence",
        settings(),
        "take in\nsay One.\nsay Two.\nsay Three.\nsay Four.\nsay Five.\nsay Six.\nsay Seven.\nsay Eight.\nsay Nine.",
    );
}

#[test]
fn a_call_ends_the_silence() {
    let mut dialogue = Dialogue::begun(settings());
    for _ in 0..4 {
        dialogue.says("Well…");
        dialogue.says("Let me think.");
        dialogue.call("read_plan", json!({}));
        dialogue.run_tools();
    }
    assert_eq!(dialogue.phase().0, 1, "two in a row are below the bound of three");
}

#[test]
fn answers_that_are_always_cut_are_replanned_then_end_the_job() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let long = json!({"path": "output/a.md", "content": "…"});
    for _ in 0..3 {
        dialogue.cut_off("write_file", &long);
    }
    assert_eq!(dialogue.phase(), (3, PhaseKind::Strategic, Opening::Rewound));
    for _ in 0..6 {
        dialogue.cut_off("write_file", &long);
    }
    assert_eq!(dialogue.reason(), "answers were cut off at the output limit 9 times in a row");
}

#[test]
fn a_withheld_answer_is_answered_by_another_way() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.reply(Reply { finish: FinishReason::Refused, ..crate::kit::says("") });
    assert!(dialogue.request()[3].text.starts_with("The last answer was withheld by the provider."));
}

#[test]
fn the_same_call_is_nudged_then_refused_then_replanned() {
    let mut dialogue = Dialogue::working(settings(), 2);
    let read = || json!({"path": "instructions.md"});
    let results: Vec<String> = (0..7).map(|_| dialogue.call("read_file", read())).collect();
    let text = "Record each requirement with page and quote.\n";
    assert_eq!(results[0], text);
    assert_eq!(results[1], text);
    for count in [3, 4] {
        assert_eq!(
            results[count - 1],
            format!(
                "{text}\n\n(This is the same result for the same call, {count} times now. It will not change: go on \
                 with what is known.)"
            )
        );
    }
    for result in &results[4..] {
        assert!(result.starts_with("Error: refused: this call has given the same result"), "{result}");
    }
    dialogue.call("read_file", read());
    assert_eq!(dialogue.phase(), (3, PhaseKind::Strategic, Opening::Rewound));
    assert_eq!(dialogue.toy.phases[&2].outcome, Some(PhaseOutcome::Forced));
    let issue = "the call of read_file gave the same result 8 times";
    assert!(dialogue.request()[1].text.contains(issue), "{}", dialogue.request()[1].text);
}

#[test]
fn a_refused_call_does_not_reach_the_outside() {
    let mut dialogue = Dialogue::working(settings(), 2);
    for _ in 0..4 {
        dialogue.call("web_search", json!({"query": "GoBD"}));
    }
    dialogue.apply(Outcome::ModelReplied(reply("", vec![call("web_search", &json!({"query": "GoBD"}))])));
    assert!(matches!(dialogue.run.next(), Effect::CallModel(_)), "{:?}", dialogue.run.next());
}

#[test]
fn key_order_does_not_make_another_call_but_another_argument_does() {
    let mut dialogue = Dialogue::working(settings(), 2);
    let one = plumbline_engine::ToolCall { arguments: r#"{"path":"a","x":1}"#.into(), ..call("read_file", &json!({})) };
    let two = plumbline_engine::ToolCall { arguments: r#"{ "x": 1, "path": "a" }"#.into(), ..one.clone() };
    for read in [&one, &two, &one] {
        dialogue.reply(reply("", vec![read.clone()]));
    }
    let last = dialogue.request().iter().rev().find(|line| line.answers.is_some()).map(|line| line.text.clone());
    assert!(last.is_some_and(|text| text.contains("3 times now")), "the order of keys is no difference");
    assert!(!dialogue.call("read_file", json!({"path": "b", "x": 1})).contains("times now"));
}

#[test]
fn another_result_is_another_beginning() {
    let mut dialogue = Dialogue::working(settings(), 2);
    for n in 0..6 {
        dialogue.call("write_file", json!({"path": "notes.md", "content": format!("Note {n}")}));
        let read = dialogue.call("read_file", json!({"path": "notes.md"}));
        assert_eq!(read, format!("Note {n}"));
    }
}

/// A working job that has read a file until the read is refused.
fn refused_reader() -> Dialogue {
    let mut dialogue = Dialogue::working(settings(), 2);
    dialogue.call("write_file", json!({"path": "notes/a.md", "content": "Invoices are kept for ten years."}));
    for _ in 0..4 {
        dialogue.call("read_file", json!({"path": "notes/a.md"}));
    }
    assert!(dialogue.call("read_file", json!({"path": "notes/a.md"})).starts_with("Error: refused"));
    dialogue
}

#[test]
fn a_refused_look_is_allowed_again_when_what_it_looks_at_has_changed() {
    let mut dialogue = refused_reader();
    dialogue.call("write_file", json!({"path": "notes/a.md", "content": "Invoices are kept for six years."}));
    dialogue.crash();
    assert_eq!(dialogue.call("read_file", json!({"path": "notes/a.md"})), "Invoices are kept for six years.");
    assert_eq!(dialogue.call("read_file", json!({"path": "notes/a.md"})), "Invoices are kept for six years.");
}

#[test]
fn a_change_elsewhere_does_not_lift_a_refusal() {
    let mut dialogue = refused_reader();
    dialogue.call("write_file", json!({"path": "notes/b.md", "content": "Another note, which changes nothing."}));
    assert!(dialogue.call("read_file", json!({"path": "notes/a.md"})).starts_with("Error: refused"));
}

#[test]
fn a_look_at_a_folder_is_allowed_again_when_a_file_in_it_has_changed() {
    let mut dialogue = Dialogue::working(settings(), 2);
    for path in [json!({"path": "notes"}), json!({"path": "."}), json!({})] {
        for _ in 0..5 {
            dialogue.call("index_page", path.clone());
        }
        assert!(dialogue.call("index_page", path.clone()).starts_with("Error: refused"), "{path}");
        dialogue.call("write_file", json!({"path": "notes/deep/a.md", "content": path.to_string()}));
        let again = dialogue.call("index_page", path.clone());
        assert!(again.starts_with("index_page done."), "{path}: {again}");
    }
}

#[test]
fn looks_with_writes_between_them_that_change_nothing_are_still_found() {
    let mut dialogue = Dialogue::working(settings(), 2);
    for n in 0..8 {
        assert_eq!(dialogue.phase().0, 2, "after {n} rounds");
        dialogue.call("write_file", json!({"path": "notes.md", "content": format!("Round {n} found nothing new.")}));
        dialogue.call("index_page", json!({}));
    }
    assert_eq!(dialogue.phase(), (3, PhaseKind::Strategic, Opening::Rewound));
}

#[test]
fn writing_the_same_again_and_again_is_no_change() {
    let mut dialogue = Dialogue::working(settings(), 2);
    let same = || json!({"path": "notes.md", "content": "The same words each time."});
    let results: Vec<String> = (0..5).map(|_| dialogue.call("write_file", same())).collect();
    assert!(results[4].starts_with("Error: refused"), "{}", results[4]);
}

#[test]
fn large_results_are_recognised_as_repeated_though_each_goes_to_a_file_of_its_own() {
    let mut dialogue = Dialogue::working(settings(), 2);
    let long = "Invoices must be kept for ten years. ".repeat(200);
    dialogue.call("write_file", json!({"path": "long.md", "content": long}));
    let results: Vec<String> = (0..5).map(|_| dialogue.call("read_file", json!({"path": "long.md"}))).collect();
    assert!(results[2].contains("3 times now"), "{}", results[2]);
    assert!(results[4].starts_with("Error: refused"), "{}", results[4]);
}

#[test]
fn a_closed_todo_frees_a_call_within_the_answer_that_closes_it() {
    let mut dialogue = Dialogue::working(settings(), 2);
    for _ in 0..4 {
        dialogue.call("web_search", json!({"query": "GoBD"}));
    }
    let results = dialogue.calls(&[("todo_complete", json!({})), ("web_search", json!({"query": "GoBD"}))]);
    assert!(results[0].starts_with("Task 1"), "{}", results[0]);
    assert_eq!(results[1], "Found: GoBD");
}

#[test]
fn turns_without_progress_are_replanned() {
    let mut dialogue = Dialogue::working(Dialogue::with(|settings| settings.limits.turns_without_progress = 4), 2);
    for n in 0..3 {
        dialogue.call("web_search", json!({"query": n.to_string()}));
    }
    dialogue.call("write_file", json!({"path": "a.md", "content": "A file is progress."}));
    for n in 3..6 {
        dialogue.call("web_search", json!({"query": n.to_string()}));
    }
    assert_eq!(dialogue.phase().0, 2);
    dialogue.call("web_search", json!({"query": "last"}));
    assert_eq!(dialogue.phase(), (3, PhaseKind::Strategic, Opening::Rewound));
    let issue = "4 turns went by without a closed todo, a changed file or a requirement";
    assert!(dialogue.request()[1].text.contains(issue), "{}", dialogue.request()[1].text);
}

#[test]
fn reading_a_large_plan_is_no_progress() {
    let mut dialogue = Dialogue::working(Dialogue::with(|settings| settings.limits.turns_without_progress = 2), 1);
    let mut settings_with_small_results = settings();
    settings_with_small_results.limits.max_tool_result_tokens = 5;
    settings_with_small_results.limits.turns_without_progress = 2;
    dialogue.resume(|settings| *settings = settings_with_small_results);
    dialogue.call("read_plan", json!({}));
    dialogue.call("read_plan", json!({}));
    assert_eq!(dialogue.phase().0, 3, "two idle turns re-plan");
}

#[test]
fn replanning_that_does_not_help_ends_the_job() {
    let mut dialogue = Dialogue::working(Dialogue::with(|settings| settings.limits.turns_without_progress = 2), 2);
    for n in 0..8 {
        dialogue.call("web_search", json!({"query": n.to_string()}));
    }
    let JobExit::Failed(error) = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert_eq!(error.details["kind"], "stuck");
    assert!(error.message.ends_with("and 3 re-plannings did not help"), "{}", error.message);
    // A retry tells the model, and has a todo to continue with.
    let why = error.message.clone();
    dialogue.resume(|_| {});
    let told = |text: &str| text.contains("told to go on") && text.contains(&why);
    assert!(dialogue.request().iter().any(|line| told(&line.text)), "{:?}", dialogue.request());
    let closed = dialogue.close();
    assert!(!closed.starts_with("Error"), "{closed}");
    assert!(dialogue.run.exit().is_none(), "{:?}", dialogue.run.exit());
}

#[test]
fn a_job_that_ended_stuck_may_be_retried() {
    let mut dialogue = Dialogue::begun(settings());
    for _ in 0..6 {
        dialogue.says("Well…");
    }
    dialogue.resume(|_| {});
    dialogue.says("Well…");
    assert!(dialogue.run.exit().is_none(), "the count begins anew");
}
