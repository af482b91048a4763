//! The context is bounded: evict, clear, summarize, cut, and never separate a call from its result.

use crate::kit::{Dialogue, change, intake, says, settings};
use plumbline_engine::{
    CLEARED_NOTE, Effect, FailureClass, HistoryAtBoundary, JobExit, Purpose, Role, Settings, Stage,
};
use serde_json::{Value, json};

/// A context of 4,000 tokens, counted by the provider.
fn small(threshold: u32) -> Settings {
    Dialogue::with(|settings| settings.limits.context_threshold_tokens = threshold)
}

/// A working job with files of about 500 tokens each.
fn reader(settings: Settings) -> Dialogue {
    let mut dialogue = Dialogue::working(settings, 1);
    for n in 0..20 {
        let content = format!("Page {n}: {}", "invoices must be kept. ".repeat(87));
        dialogue.toy.place(format!("page_{n}.md"), content.into_bytes());
    }
    dialogue.resume(|_| {});
    dialogue.counts = true;
    dialogue
}

fn read(dialogue: &mut Dialogue, n: usize) {
    dialogue.call("read_file", json!({"path": format!("page_{n}.md")}));
}

fn purpose(dialogue: &Dialogue) -> Purpose {
    match dialogue.run.next() {
        Effect::CallModel(request) => request.purpose,
        other => panic!("{other:?}"),
    }
}

/// Long notes between short calls: nothing to clear, only to summarize.
fn talker(settings: Settings) -> Dialogue {
    let mut dialogue = Dialogue::working(settings, 1);
    dialogue.counts = true;
    dialogue
}

fn talk(dialogue: &mut Dialogue, n: usize) {
    let thoughts = format!("Thought {n}: {}", "the policy says more on this. ".repeat(80));
    dialogue.reply(crate::kit::reply(&thoughts, vec![crate::kit::call("get_progress", &json!({"n": n}))]));
}

fn talk_until_full(dialogue: &mut Dialogue) {
    for n in 0..50 {
        talk(dialogue, n);
        if matches!(dialogue.run.state().stage, Stage::Summary { .. }) {
            return;
        }
    }
    panic!("the context never filled up");
}

#[test]
fn a_large_result_goes_to_a_file_and_the_model_gets_head_tail_and_path() {
    let mut dialogue = reader(Dialogue::with(|settings| settings.limits.max_tool_result_tokens = 100));
    read(&mut dialogue, 3);
    let request = dialogue.request();
    let (id, shown) = (request[2].calls[0].id.clone(), &request[3].text);
    assert!(shown.starts_with("Page 3: invoices"), "{shown}");
    assert!(shown.contains(&format!("the whole is in tool_results/{id}.md")), "{shown}");
    assert!(shown.len() < 300, "{} bytes are shown", shown.len());
    let whole = dialogue.toy.text(&format!("tool_results/{id}.md"));
    assert_eq!(whole, dialogue.toy.text("page_3.md"));
    assert!(shown.ends_with(&whole[whole.len() - 50..]), "{shown}");
}

#[test]
fn a_large_result_is_cut_between_characters() {
    let mut dialogue = reader(Dialogue::with(|settings| settings.limits.max_tool_result_tokens = 101));
    dialogue.toy.place("umlauts.md", "äöü€😀".repeat(100).into_bytes());
    dialogue.resume(|_| {});
    let shown = dialogue.call("read_file", json!({"path": "umlauts.md"}));
    assert!(shown.contains("1300 bytes in all"), "{shown}");
}

#[test]
fn old_results_are_cleared_first_in_one_batch() {
    let mut dialogue = reader(small(4000));
    let mut cleared = 0;
    for n in 0..7 {
        read(&mut dialogue, n);
        let request = dialogue.request();
        let now = request.iter().filter(|line| line.text.starts_with(CLEARED_NOTE)).count();
        if now > cleared {
            assert!(cleared == 0 && now >= 3, "one batch of many: {now} after {cleared}");
            let kept: Vec<bool> = request
                .iter()
                .filter(|line| line.answers.is_some())
                .map(|line| !line.text.starts_with(CLEARED_NOTE))
                .collect();
            assert_eq!(kept[kept.len() - 2..], [true, true], "the recent ones stay");
            cleared = now;
        }
        assert_eq!(purpose(&dialogue), Purpose::Tactical, "clearing was enough");
        assert!(dialogue.request_tokens() <= 4000, "{} tokens", dialogue.request_tokens());
    }
    assert!(cleared > 0, "the context filled up");
}

#[test]
fn a_full_conversation_is_summarized() {
    let mut dialogue = talker(small(4000));
    dialogue.feedback("Mind annex B.");
    talk_until_full(&mut dialogue);
    assert_eq!(purpose(&dialogue), Purpose::Summary);
    let asked = dialogue.request();
    assert_eq!(asked[asked.len() - 1].text, "Summarize the conversation.");
    dialogue.says("Three requirements were found on pages 1 to 4.");
    let request = dialogue.request();
    assert_eq!(request[0].role, Role::System);
    let summary = &request[1].text;
    assert!(
        summary.starts_with("Summary of earlier work\n\nThree requirements were found on pages 1 to 4."),
        "{summary}"
    );
    assert!(summary.contains("### main_plan.md"), "documents and plan are put in again: {summary}");
    assert_eq!(request[2].text, "Feedback from the user:\n\nMind annex B.", "the user's words stay word for word");
    assert!(request[3].text.starts_with("Thought"), "the last turns stay: {}", request[3].text);
    assert!(dialogue.request_tokens() < 4000, "{} tokens", dialogue.request_tokens());
    let all = dialogue.toy.messages.iter().filter(|message| message.content.starts_with("Thought")).count();
    assert!(all >= 4, "the rows keep everything: {all}");
}

#[test]
fn a_summary_follows_a_summary() {
    let mut dialogue = talker(small(4000));
    for round in ["First", "Second"] {
        talk_until_full(&mut dialogue);
        dialogue.says(&format!("{round} summary."));
        assert!(dialogue.request()[1].text.contains(&format!("{round} summary.")));
    }
    let summaries = dialogue.request().iter().filter(|line| line.text.contains("summary.")).count();
    assert_eq!(summaries, 1, "the second stands for the first");
}

#[test]
fn a_summary_that_does_not_shrink_or_says_nothing_is_not_used() {
    for useless in ["".to_string(), "blah ".repeat(4000)] {
        let mut dialogue = talker(small(4000));
        talk_until_full(&mut dialogue);
        dialogue.says(&useless);
        let request = dialogue.request();
        assert!(request[1].text.contains("was cut because the context was full"), "{}", request[1].text);
        assert!(dialogue.request_tokens() < 4000, "{} tokens", dialogue.request_tokens());
    }
}

#[test]
fn a_summary_that_fails_leads_to_the_cut() {
    for class in [FailureClass::ContextTooLong, FailureClass::Permanent, FailureClass::Refused] {
        let mut dialogue = talker(small(4000));
        talk_until_full(&mut dialogue);
        dialogue.fails(class);
        assert_eq!(purpose(&dialogue), Purpose::Tactical, "{class:?}");
        assert!(dialogue.request()[1].text.contains("was cut because the context was full"), "{class:?}");
    }
}

#[test]
fn a_summary_waits_out_an_outage() {
    let mut dialogue = talker(small(4000));
    talk_until_full(&mut dialogue);
    dialogue.fails(FailureClass::Transient);
    dialogue.wake();
    assert_eq!(purpose(&dialogue), Purpose::Summary);
}

#[test]
fn a_request_too_long_for_the_provider_is_summarized_then_cut_then_fails() {
    let mut dialogue = talker(settings());
    for n in 0..6 {
        talk(&mut dialogue, n);
    }
    dialogue.fails(FailureClass::ContextTooLong);
    assert_eq!(purpose(&dialogue), Purpose::Summary);
    dialogue.fails(FailureClass::ContextTooLong);
    assert_eq!(purpose(&dialogue), Purpose::Tactical);
    assert!(dialogue.request()[1].text.contains("was cut because the context was full"));
    // Nothing is left to shrink: a provider that refuses by mistake gets a bounded number of retries.
    let mut tries = 0;
    while dialogue.run.exit().is_none() {
        dialogue.fails(FailureClass::ContextTooLong);
        if dialogue.run.exit().is_none() && matches!(dialogue.run.next(), Effect::Wait { .. }) {
            assert_eq!(dialogue.wake(), 1);
        }
        tries += 1;
        assert!(tries <= 10, "it goes on for ever");
    }
    let JobExit::Failed(error) = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert_eq!(error.details["class"], "context_too_long");
}

#[test]
fn old_results_are_cleared_before_a_refused_request_is_summarized() {
    let mut settings = small(6000);
    // The kept part is larger than the clearable part, so it was not cleared before.
    settings.limits.keep_recent_tool_results = 4;
    let mut dialogue = reader(settings);
    for n in 0..8 {
        read(&mut dialogue, n);
    }
    let changes: Vec<String> = dialogue.fails(FailureClass::ContextTooLong).iter().map(change).collect();
    assert!(changes.iter().any(|line| line.starts_with("results cleared")), "{changes:?}");
    assert_eq!(purpose(&dialogue), Purpose::Tactical);
}

#[test]
fn results_are_cleared_below_the_threshold_once_that_is_worth_moving_the_prefix() {
    let mut dialogue = reader(small(8000));
    let mut moved = Vec::new();
    for n in 0..20 {
        let before = cleared(&dialogue);
        read(&mut dialogue, n);
        let now = cleared(&dialogue);
        if now > before {
            moved.push(n);
            assert!(now - before >= 3, "a batch of {} results", now - before);
        }
        assert!(dialogue.request_tokens() < 5000, "{} tokens at turn {n}", dialogue.request_tokens());
    }
    assert!((3..=6).contains(&moved.len()), "cleared after {moved:?}");
}

#[test]
fn nothing_is_cleared_that_costs_more_than_it_brings() {
    let mut settings = small(8000);
    settings.limits.keep_recent_tool_results = 6;
    let mut dialogue = reader(settings);
    for n in 0..9 {
        read(&mut dialogue, n);
        assert_eq!(cleared(&dialogue), 0, "six recent results would have to be read anew for {n}");
    }
}

/// The scenario of the bug: long old results, then an answer of twelve calls of which the first two are refused.
#[test]
fn nothing_is_cleared_that_the_model_has_not_read_and_no_refusal_is() {
    let mut settings = small(8000);
    settings.limits.keep_recent_tool_results = 1;
    let mut dialogue = reader(settings);
    for n in 0..5 {
        read(&mut dialogue, n);
    }
    let mut calls: Vec<(&str, Value)> = vec![("no_such_tool", json!({"n": 1})), ("no_such_tool", json!({"n": 2}))];
    calls.extend((0..10).map(|n| ("read_file", json!({"path": format!("short_{n}.md")}))));
    for n in 0..10 {
        dialogue.toy.place(format!("short_{n}.md"), format!("{n}: {}", "invoices are kept. ".repeat(25)).into());
    }
    dialogue.resume(|_| {});
    let results = dialogue.calls(&calls);
    assert_eq!(results.iter().filter(|result| result.starts_with(CLEARED_NOTE)).count(), 0, "{results:?}");
    // The next answers clear old results, and the refusals stay.
    for n in 5..12 {
        read(&mut dialogue, n);
        let request = dialogue.request();
        let refusals = request.iter().filter(|line| line.text.starts_with("Error: there is no tool")).count();
        assert_eq!(refusals, 2);
        let last = request.iter().rev().find(|line| line.answers.is_some()).expect("a result");
        assert!(!last.text.starts_with(CLEARED_NOTE));
    }
    assert!(cleared(&dialogue) > 3);
}

#[test]
fn the_note_in_a_cleared_place_is_true_of_its_tool() {
    let mut settings = small(6000);
    settings.limits.keep_recent_tool_results = 1;
    let mut dialogue = reader(settings);
    dialogue.call("read_file", json!({"path": "page_0.md", "offset": 1, "limit": 200}));
    dialogue.call("web_search", json!({"query": "invoices ".repeat(60)}));
    for n in 1..6 {
        read(&mut dialogue, n);
    }
    let request = dialogue.request();
    let notes: Vec<&str> =
        request.iter().map(|line| line.text.as_str()).filter(|text| text.starts_with(CLEARED_NOTE)).collect();
    assert_eq!(notes[0], "[result cleared to save space: read it again if it is needed: page_0.md, lines 1 to 200]");
    assert!(notes.contains(&"[result cleared to save space: read it again if it is needed: page_1.md]"), "{notes:?}");
    let done: Vec<_> = notes.iter().filter(|note| note.contains("done at step ")).collect();
    assert_eq!(done.len(), 1, "{notes:?}");
}

#[test]
fn an_answer_gets_the_results_that_the_window_holds_and_a_list_of_the_others() {
    let mut dialogue = reader(small(4000));
    let calls: Vec<(&str, Value)> = (0..8).map(|n| ("read_file", json!({"path": format!("page_{n}.md")}))).collect();
    let results = dialogue.calls(&calls);
    let read = results.iter().filter(|result| result.starts_with("Page ")).count();
    assert!((1..7).contains(&read), "{read} of 8 pages fit: {results:?}");
    for result in &results[read..] {
        assert!(result.starts_with("Error: not carried out: the results of the calls before it"), "{result}");
    }
    let shown = dialogue.request().iter().filter(|line| line.text.starts_with("Page ")).count();
    assert_eq!(shown, read, "what was given is shown, whatever else goes");
    assert!(dialogue.request_tokens() <= 4000, "{} tokens", dialogue.request_tokens());
}

fn cleared(dialogue: &Dialogue) -> usize {
    dialogue.request().iter().filter(|line| line.text.starts_with(CLEARED_NOTE)).count()
}

#[test]
fn reset_begins_each_phase_with_a_fresh_conversation() {
    let mut dialogue = Dialogue::working(settings(), 2);
    let request = dialogue.request();
    assert_eq!(request.len(), 3, "system, opening, todo list");
    assert!(request[0].text.starts_with("You work."), "{}", request[0].text);
    dialogue.finish_phase();
    assert_eq!(dialogue.request().len(), 3);
    assert!(dialogue.request()[0].text.starts_with("You plan."));
}

#[test]
fn compact_continues_the_conversation_under_the_new_system_prompt() {
    let compact = Dialogue::with(|settings| settings.phases.history_at_boundary = HistoryAtBoundary::Compact);
    let mut dialogue = Dialogue::working(compact, 2);
    let request = dialogue.request();
    assert!(request[0].text.starts_with("You work."), "{}", request[0].text);
    assert!(request[1].text.starts_with("A strategic phase begins: Planning"), "{}", request[1].text);
    assert!(request[request.len() - 2].text.starts_with("A tactical phase begins"));
    dialogue.finish_phase();
    assert!(dialogue.request()[1].text.starts_with("A strategic phase begins: Planning"));
}

#[test]
fn compact_is_kept_in_bounds_by_the_threshold() {
    let mut dialogue = Dialogue::begun(Dialogue::with(|settings| {
        settings.phases.history_at_boundary = HistoryAtBoundary::Compact;
        settings.limits.context_threshold_tokens = 3000;
    }));
    dialogue.counts = true;
    dialogue.write_plan(30);
    let mut summaries = 0;
    for _ in 0..200 {
        if purpose(&dialogue) == Purpose::Summary {
            summaries += 1;
            dialogue.says("The phases so far went well.");
            continue;
        }
        assert!(dialogue.request_tokens() < 3300, "{} tokens", dialogue.request_tokens());
        let staged = dialogue.run.state().staged.is_some();
        match (dialogue.run.progress().phase, staged) {
            (Some(plumbline_engine::PhaseKind::Strategic), false) => {
                let todos: Vec<Value> =
                    (0..5).map(|n| json!(format!("Process section {}, part {n}", dialogue.phase().0))).collect();
                dialogue.call("todo_write", json!({"phase": "Next", "todos": todos}));
            }
            _ => {
                let kept = ("write_file", json!({"path": "notes.md", "content": format!("{:?}", dialogue.phase())}));
                dialogue.calls(&[kept, ("todo_complete", json!({}))]);
            }
        }
    }
    assert!(summaries >= 2, "{summaries} summaries");
}

#[test]
fn the_system_prompt_shows_workspace_md_as_it_stood_when_the_phase_began() {
    let mut dialogue = Dialogue::begun(settings());
    dialogue.call("add_note", json!({"text": "'record' is defined in section 4"}));
    assert!(dialogue.request()[0].text.ends_with("## workspace.md\n\n(empty)\n"), "{}", dialogue.request()[0].text);
    dialogue.open_tactical();
    let system = &dialogue.request()[0].text;
    assert!(system.ends_with("## workspace.md\n\n## Notes\n\n- 'record' is defined in section 4\n"), "{system}");
    assert!(system.contains("Today is 2026-01-01."), "{system}");
}

#[test]
fn an_absurd_count_of_the_provider_does_no_harm() {
    let mut dialogue = Dialogue::new(settings());
    dialogue.apply(intake());
    let mut absurd = says("Hm.");
    absurd.record.prompt_tokens = u32::MAX;
    absurd.record.completion_tokens = u32::MAX;
    dialogue.reply(absurd);
    assert!(matches!(dialogue.run.next(), Effect::CallModel(_)), "{:?}", dialogue.run.next());
}
