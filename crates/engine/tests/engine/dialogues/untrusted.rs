//! A job that has read untrusted text must not reach out, starting with the request that contained the text.

use crate::kit::{Dialogue, call, reply};
use plumbline_engine::{
    Approval, ApprovalRules, ApprovalState, FailureClass, JobExit, Outcome, Prepare, Settings, Stage, Untrusted,
    UntrustedRules,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Letters reach out, except those to a friend.
fn kept(mode: Untrusted) -> Settings {
    Dialogue::with(|settings| {
        settings.prepare = Prepare::Model;
        let reaches_out = |name: &str, arguments: &str| name == "send_letter" && !arguments.contains("friend");
        settings.untrusted = UntrustedRules { mode, reaches_out: Arc::new(reaches_out) };
        settings.approval = ApprovalRules {
            tools: ["send_letter", "web_search"]
                .iter()
                .zip(1..)
                .map(|(name, n)| ((*name).to_owned(), [n; 32]))
                .collect(),
            read: Arc::new(|_, arguments| Ok([u8::try_from(arguments.len()).expect("short arguments"); 32])),
            ..ApprovalRules::default()
        };
    })
}

/// A working job that has read no untrusted text.
fn working(mode: Untrusted) -> Dialogue {
    let dialogue = Dialogue::working(kept(mode), 1);
    assert_eq!(dialogue.run.state().untrusted_step, None, "nothing of others is in its requests so far");
    dialogue
}

const LETTER: (&str, &str) = ("send_letter", "refused: this job has read text from outside");

fn letter(to: &str) -> Value {
    json!({"to": to})
}

#[test]
fn a_call_of_the_answer_that_brings_the_text_is_made_and_one_of_the_next_is_not() {
    let mut dialogue = working(Untrusted::Deny);
    let said = dialogue.calls(&[("web_search", json!({"query": "x"})), (LETTER.0, letter("anna"))]);
    assert!(said[1].contains("send_letter done"), "the model has not read the result: {said:?}");
    assert_eq!(dialogue.run.state().untrusted_step, None);
    let step = dialogue.toy.job.step + 1;
    let said = dialogue.call(LETTER.0, letter("anna"));
    assert!(said.contains(LETTER.1), "{said}");
    assert_eq!(dialogue.run.state().untrusted_step, Some(step));
    let said = dialogue.call(LETTER.0, letter("friend"));
    assert!(said.contains("send_letter done"), "what the operator allows goes on: {said}");
}

#[test]
fn it_is_never_taken_back_and_survives_a_crash() {
    let mut dialogue = working(Untrusted::Deny);
    dialogue.call("web_search", json!({"query": "x"}));
    dialogue.crash();
    let step = dialogue.toy.job.step + 1;
    dialogue.call("read_file", json!({"path": "instructions.md"}));
    assert_eq!(dialogue.run.state().untrusted_step, Some(step), "also when the text came before the crash");
    dialogue.finish_phase();
    dialogue.crash();
    assert_eq!(dialogue.run.state().untrusted_step, Some(step));
}

#[test]
fn a_request_that_fails_has_held_the_text_all_the_same() {
    let mut dialogue = working(Untrusted::Deny);
    dialogue.call("web_search", json!({"query": "x"}));
    let step = dialogue.toy.job.step + 1;
    dialogue.fails(FailureClass::Transient);
    assert_eq!(dialogue.run.state().untrusted_step, Some(step));
}

#[test]
fn feedback_and_files_of_ones_own_set_nothing() {
    let mut dialogue = working(Untrusted::Deny);
    dialogue.call("write_file", json!({"path": "a.md", "content": "What I think of it."}));
    dialogue.call("read_file", json!({"path": "a.md"}));
    dialogue.feedback("Mind the annex.");
    let said = dialogue.call(LETTER.0, letter("anna"));
    assert!(said.contains("send_letter done"), "{said}");
    assert_eq!(dialogue.run.state().untrusted_step, None);
}

#[test]
fn ask_makes_the_call_wait_for_a_person_and_an_approved_one_is_sent() {
    let mut dialogue = working(Untrusted::Ask);
    assert!(dialogue.call(LETTER.0, letter("anna")).contains("send_letter done"), "before, nobody is asked");
    dialogue.call("web_search", json!({"query": "x"}));
    dialogue.apply(Outcome::ModelReplied(reply("", vec![call(LETTER.0, &letter("berta"))])));
    assert!(matches!(dialogue.exit(), JobExit::AwaitsDecision { calls: 1 }), "{:?}", dialogue.exit());
    dialogue.toy.decide([|row: &mut Approval| row.state = ApprovalState::Approved]);
    dialogue.crash();
    let changes = dialogue.run_tools();
    let sent = format!("{changes:?}");
    assert!(sent.contains("send_letter done"), "{sent}");
}

#[test]
fn what_was_approved_before_is_refused_where_the_operator_now_denies() {
    let mut dialogue = working(Untrusted::Ask);
    dialogue.call("web_search", json!({"query": "x"}));
    dialogue.apply(Outcome::ModelReplied(reply("", vec![call(LETTER.0, &letter("berta"))])));
    dialogue.toy.decide([|row: &mut Approval| row.state = ApprovalState::Approved]);
    dialogue.resume(|settings| settings.untrusted.mode = Untrusted::Deny);
    let refused = format!("{:?}", dialogue.run_tools());
    assert!(refused.contains(LETTER.1), "{refused}");
}

#[test]
fn a_job_that_follows_one_which_has_read_text_of_others_is_kept_from_its_start() {
    let mut dialogue = working(Untrusted::Deny);
    dialogue.toy.follows_untrusted();
    dialogue.crash();
    let said = dialogue.call(LETTER.0, letter("anna"));
    assert!(said.contains(LETTER.1), "{said}");
    assert_eq!(dialogue.run.state().untrusted_step, Some(0));
}

#[test]
fn the_opening_of_a_job_with_documents_is_a_way_in() {
    let dialogue = Dialogue::working(Dialogue::with(|settings| settings.untrusted.mode = Untrusted::Deny), 1);
    let has_passages = dialogue.run.ledger().all().next().is_some();
    assert_eq!(dialogue.run.state().untrusted_step.is_some(), has_passages);
}

/// A dialogue with long thoughts, each with a call of a tool, up to the summary or so many answers.
fn talk(tool: impl Fn(usize) -> &'static str, answers: usize) -> (Dialogue, usize) {
    let mut settings = kept(Untrusted::Deny);
    settings.limits.context_threshold_tokens = 4_000;
    let mut dialogue = Dialogue::working(settings, 1);
    dialogue.counts = true;
    for n in 1..=answers {
        let thought = format!("Thought {n}: {}", "the policy says more on this. ".repeat(80));
        dialogue.reply(reply(&thought, vec![call(tool(n), &json!({"query": n.to_string()}))]));
        if matches!(dialogue.run.state().stage, Stage::Summary { .. }) {
            return (dialogue, n);
        }
    }
    panic!("the conversation never filled up");
}

#[test]
fn a_summary_is_the_first_request_with_the_text() {
    let (_, answers) = talk(|_| "get_progress", 50);
    let (mut dialogue, last) = talk(|n| if n == answers { "web_search" } else { "get_progress" }, answers);
    assert_eq!((last, dialogue.run.state().untrusted_step), (answers, None));
    let step = dialogue.toy.job.step + 1;
    dialogue.says("A page says that a letter is due.");
    assert_eq!(dialogue.run.state().untrusted_step, Some(step));
    let said = dialogue.call(LETTER.0, letter("anna"));
    assert!(said.contains(LETTER.1), "{said}");
}
