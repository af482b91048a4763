//! Limits of the harm that a misbehaving model can do to its job.

use crate::kit::{Dialogue, call, reply, settings};
use plumbline_engine::{Effect, FailureClass};
use serde_json::json;

/// The last message before the todo list in the next request.
fn last_result(dialogue: &Dialogue) -> String {
    let request = dialogue.request();
    request[request.len() - 2].text.clone()
}

#[test]
fn the_cap_is_raised_once_after_an_answer_that_was_cut() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let cap = |dialogue: &Dialogue| match dialogue.run.next() {
        Effect::CallModel(request) => request.max_output_tokens,
        other => panic!("{other:?}"),
    };
    let long = json!({"path": "output/a.md", "content": "…"});
    assert_eq!(cap(&dialogue), 1000);
    dialogue.cut_off("write_file", &long);
    assert!(last_result(&dialogue).contains("at the limit of 1000 tokens"), "{}", last_result(&dialogue));
    assert_eq!(cap(&dialogue), 2000);
    dialogue.cut_off("write_file", &long);
    assert!(last_result(&dialogue).contains("at the limit of 2000 tokens"), "{}", last_result(&dialogue));
    assert_eq!(cap(&dialogue), 1000);
    dialogue.call("read_plan", json!({}));
    dialogue.cut_off("write_file", &long);
    assert_eq!(cap(&dialogue), 2000);
    dialogue.fails(FailureClass::Permanent);
    assert!(dialogue.run.exit().is_none(), "a provider that refuses the raised cap is asked with the ordinary one");
    assert_eq!(cap(&dialogue), 1000);
    dialogue.fails(FailureClass::Permanent);
    assert!(dialogue.run.exit().is_some());
}

#[test]
fn an_answer_far_beyond_its_cap_is_neither_run_nor_stored() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue
        .reply(reply("", vec![call("write_file", &json!({"path": "output/a.md", "content": "x".repeat(1000 * 16)}))]));
    let text = last_result(&dialogue);
    assert!(text.starts_with("Error: Your answer was cut off"), "{text}");
    assert!(!dialogue.toy.files.contains_key("output/a.md"));
    let stored: usize = dialogue.request().iter().map(|message| message.text.len()).sum();
    assert!(stored < 8_000, "{stored} bytes");
}

#[test]
fn a_model_may_not_give_up_phase_after_phase() {
    let mut dialogue = Dialogue::working(settings(), 1);
    for n in 1..=3 {
        let text = dialogue.call("todo_rewind", json!({"issue": format!("reason {n}")}));
        assert!(text.starts_with("The list is archived"), "{text}");
    }
    let before = dialogue.phase();
    let text = dialogue.call("todo_rewind", json!({"issue": "reason 4"}));
    assert!(text.starts_with("Error: refused: 3 phases were given up"), "{text}");
    let text = dialogue.call("archive_and_reset", json!({}));
    assert!(text.starts_with("Error: refused: 3 phases were given up"), "{text}");
    assert_eq!(dialogue.phase(), before);
    for _ in 0..2 {
        dialogue.open_tactical();
        dialogue.finish_phase();
    }
    let text = dialogue.call("todo_rewind", json!({"issue": "reason 5"}));
    assert!(text.starts_with("The list is archived"), "phases came to their end, so plans may be wrong again: {text}");
}

#[test]
fn a_todo_is_not_closed_after_a_failed_call() {
    let mut dialogue = Dialogue::working(settings(), 2);
    let results = dialogue.calls(&[("read_file", json!({"path": "nowhere.md"})), ("todo_complete", json!({}))]);
    assert!(results[0].starts_with("Error:"), "{results:?}");
    assert!(results[1].starts_with("Error: not carried out: an earlier call of this answer failed."), "{results:?}");
    assert_eq!(dialogue.run.progress().todos_done, 0);
    assert!(dialogue.close_with(json!({"notes": "the file does not exist"})).contains("marked complete"));
}

#[test]
fn a_closing_after_a_refused_one_closes_no_other_todo() {
    let mut dialogue = Dialogue::working(settings(), 2);
    let close = |notes: &str| ("todo_complete", json!({"notes": notes}));
    let read = ("read_file", json!({"path": "instructions.md"}));
    // No call was made for the first todo, so its closing is refused; the second note belongs to the second todo.
    let results = dialogue.calls(&[close("the first"), read, close("the second"), close("the third")]);
    assert!(results[0].starts_with("Error: todo 1 stays open"), "{results:?}");
    let skipped = "Error: not carried out: todo 1 is still current, its closing was refused above.";
    assert_eq!(results[2..], [skipped, skipped]);
    assert_eq!(dialogue.run.progress().todos_done, 0);
    assert!(dialogue.close_with(json!({"notes": "the first"})).starts_with("Task 1 "));
}
