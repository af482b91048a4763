//! Which messages are removed from the conversation with a closed todo, and which are kept.

use crate::kit::{Dialogue, call, covering, intake_of_four, reply};
use plumbline_engine::{CLEARED_NOTE, ClosedTodos, HistoryAtBoundary, Limits, Settings};
use serde_json::json;

/// A working job with files of about 500 tokens each.
fn reader(settings: Settings) -> Dialogue {
    let mut dialogue = Dialogue::working(settings, 1);
    for n in 0..20 {
        let content = format!("Page {n}: {}", "invoices must be kept. ".repeat(87));
        dialogue.toy.place(format!("page_{n}.md"), content.into_bytes());
    }
    dialogue.resume(|_| {});
    dialogue
}

fn with_limits(change: impl FnOnce(&mut Limits)) -> Dialogue {
    reader(Dialogue::with(|settings| change(&mut settings.limits)))
}

fn dropping() -> Dialogue {
    with_limits(|limits| limits.closed_todos = ClosedTodos::Drop)
}

fn read(dialogue: &mut Dialogue, n: usize) {
    dialogue.call("read_file", json!({"path": format!("page_{n}.md")}));
}

fn close(dialogue: &mut Dialogue) {
    dialogue.call("todo_complete", json!({}));
}

/// For each result of reading, in order: whether it was cleared.
fn gone(dialogue: &Dialogue) -> Vec<bool> {
    let results = dialogue.request().into_iter().filter(|line| line.answers.is_some());
    let read = results.filter(|line| line.text.starts_with("Page") || line.text.starts_with(CLEARED_NOTE));
    read.map(|line| line.text.starts_with(CLEARED_NOTE)).collect()
}

/// Two todos of four pages each; returns the tokens of all requests, and of the last.
fn two_todos(mut dialogue: Dialogue) -> (u32, u32) {
    let mut sent = 0;
    for todo in 0..2 {
        for n in 0..4 {
            read(&mut dialogue, 4 * todo + n);
            sent += dialogue.request_tokens();
        }
        close(&mut dialogue);
        sent += dialogue.request_tokens();
    }
    (sent, dialogue.request_tokens())
}

#[test]
fn the_results_of_a_closed_todo_leave_as_it_closes() {
    let mut dialogue = dropping();
    (0..3).for_each(|n| read(&mut dialogue, n));
    assert_eq!(gone(&dialogue), [false; 3], "they stay while the todo is open");
    let before = dialogue.request();
    close(&mut dialogue);
    assert_eq!(gone(&dialogue), [true; 3]);
    let after = dialogue.request();
    let same = before.iter().zip(&after).take_while(|(one, other)| one.text == other.text).count();
    assert!(after[same].text.starts_with(CLEARED_NOTE), "nothing before them changes: {}", after[same].text);
    assert!(after[same].text.contains("page_0.md"), "the note says how to have it again: {}", after[same].text);
    read(&mut dialogue, 3);
    assert_eq!(gone(&dialogue), [true, true, true, false]);
}

#[test]
fn fewer_tokens_are_sent_than_where_they_stay() {
    let (kept, kept_last) = two_todos(with_limits(|_| {}));
    let (dropped, dropped_last) = two_todos(dropping());
    assert!(dropped_last * 3 < kept_last, "the last request has {dropped_last} tokens in place of {kept_last}");
    assert!(dropped * 10 < kept * 7, "all requests have {dropped} tokens in place of {kept}");
}

#[test]
fn a_server_without_a_prefix_cache_is_sent_no_more_than_is_needed() {
    let without = Dialogue::with(|settings| settings.model.prefix_cache = false);
    assert_eq!(two_todos(reader(without)), two_todos(dropping()));
}

#[test]
fn what_the_model_has_not_read_stays() {
    let mut dialogue = dropping();
    read(&mut dialogue, 0);
    let page = |n: usize| call("read_file", &json!({"path": format!("page_{n}.md")}));
    dialogue.reply(reply("", vec![page(1), call("todo_complete", &json!({})), page(2)]));
    assert_eq!(
        gone(&dialogue),
        [true, false, false],
        "the closing answer's own results are read with the next request"
    );
    close(&mut dialogue);
    assert_eq!(gone(&dialogue), [true, true, true], "they leave with the next todo");
}

#[test]
fn a_todo_that_stays_open_lets_nothing_go() {
    let mut dialogue = dropping();
    read(&mut dialogue, 0);
    assert!(dialogue.call("complete_task", json!({"task_number": 4})).starts_with("Error:"));
    assert_eq!(gone(&dialogue), [false]);
}

#[test]
fn where_the_window_is_full_what_is_done_goes_before_what_is_old() {
    let mut dialogue = with_limits(|limits| {
        limits.context_threshold_tokens = 4_000;
        limits.keep_recent_tool_results = 3;
    });
    dialogue.counts = true;
    (0..3).for_each(|n| read(&mut dialogue, n));
    close(&mut dialogue);
    assert_eq!(gone(&dialogue), [false; 3], "there is room");
    for n in 3..7 {
        read(&mut dialogue, n);
        let gone = gone(&dialogue);
        if gone.contains(&true) {
            assert!(gone[..3].iter().all(|gone| *gone) && gone[3..].iter().all(|gone| !gone), "{gone:?}");
            return;
        }
    }
    panic!("the window never filled up");
}

#[test]
fn a_continued_conversation_drops_what_the_previous_phase_has_done() {
    let mut dialogue = reader(Dialogue::with(|settings| {
        settings.limits.closed_todos = ClosedTodos::Drop;
        settings.phases.history_at_boundary = HistoryAtBoundary::Compact;
    }));
    read(&mut dialogue, 0);
    dialogue.finish_phase();
    assert_eq!(gone(&dialogue), [true]);
}

#[test]
fn a_passage_that_is_not_answered_stays_until_it_is() {
    let mut settings = covering();
    settings.limits.closed_todos = ClosedTodos::Drop;
    let mut dialogue = Dialogue::new(settings);
    dialogue.apply(intake_of_four());
    dialogue.write_plan(1);
    dialogue.open_tactical();
    let shown =
        |dialogue: &Dialogue| dialogue.request().iter().any(|line| line.text.starts_with("Invoices must be kept"));
    dialogue.call("read_file", json!({"path": "input/policy.pdf"}));
    close(&mut dialogue);
    assert!(shown(&dialogue), "passages 1 and 3 are open");
    let closed = [1, 3].map(|passage| json!({"passage": passage, "reason": "nobody is obliged by it"}));
    dialogue.call("close_passages", json!({ "passages": closed }));
    assert!(shown(&dialogue), "the todo is open");
    close(&mut dialogue);
    assert!(!shown(&dialogue), "all four are answered");
}
