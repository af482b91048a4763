//! People decide on single calls: the job waits for them, and a decision applies to this call, once.

use crate::kit::{Dialogue, call, effect, reply};
use plumbline_engine::{
    Approval, ApprovalChange, ApprovalRules, ApprovalState, CallOutcome, Change, Effect, JobExit, Outcome, Settings,
    ToolCall, ToolReturn, inexact_number,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Searches, pages and letters need approval.
fn asking() -> Settings {
    Dialogue::with(|settings| {
        let names = ["web_search", "index_page", "send_letter", "write_file", "read_file", "add_requirement"];
        settings.approval = ApprovalRules {
            asks_for: ["index_page", "send_letter"].map(String::from).into(),
            tools: names.iter().zip(1..).map(|(name, n)| ((*name).to_owned(), [n; 32])).collect(),
            read: Arc::new(|_, arguments| match inexact_number(arguments) {
                Some(number) => Err(format!("{number} is no number that a double holds")),
                None if arguments.contains("misfit") => Err("`misfit` is not a parameter".into()),
                None => Ok([u8::try_from(arguments.len()).expect("arguments of tests are short"); 32]),
            }),
            expires_s: 60,
        };
    })
}

/// A job whose answer has these calls, each with different arguments, up to the point where the outside is needed.
fn answered(names: &[&str]) -> Dialogue {
    let mut dialogue = Dialogue::working(asking(), 1);
    let one = |(place, name): (usize, &&str)| match *name {
        "write_file" => call(name, &json!({"path": "a.md", "content": "What the pages say."})),
        "todo_complete" => call(name, &json!({})),
        "read_file" => call(name, &json!({"path": "instructions.md", "offset": 100 + place})),
        name => call(name, &json!({"page": 10_i64.pow(u32::try_from(place).expect("few calls"))})),
    };
    let calls: Vec<ToolCall> = names.iter().enumerate().map(one).collect();
    dialogue.apply(Outcome::ModelReplied(reply("", calls)));
    dialogue
}

type Decide = fn(&mut Approval);

const APPROVE: Decide = |row| row.state = ApprovalState::Approved;
const REJECT: Decide = |row| (row.state, row.reason) = (ApprovalState::Rejected, Some("not this one".into()));
const EXPIRE: Decide = |row| row.state = ApprovalState::Expired;
const EDIT: Decide = |row| {
    let arguments = json!({"page": 7}).to_string();
    let edited = ToolCall { id: row.call_id.clone(), name: row.tool.clone(), arguments };
    (row.state, row.edited) = (ApprovalState::Approved, Some(edited));
};
const MISFIT: Decide = |row| {
    let arguments = json!({"misfit": 7}).to_string();
    let edited = ToolCall { id: row.call_id.clone(), name: row.tool.clone(), arguments };
    (row.state, row.edited) = (ApprovalState::Approved, Some(edited));
};

/// The waiting calls are decided, and the rest of the answer is executed.
fn decide(dialogue: &mut Dialogue, decisions: &[Decide]) -> Vec<Change> {
    dialogue.toy.decide(decisions.iter().copied());
    dialogue.crash();
    dialogue.run_tools()
}

fn asked(dialogue: &Dialogue) -> Vec<(String, ApprovalState)> {
    dialogue.toy.approvals.iter().map(|row| (row.tool.clone(), row.state)).collect()
}

fn results(changes: &[Change]) -> Vec<String> {
    let result = |change: &Change| match change {
        Change::Message(message) if message.tool_call_id.is_some() => Some(message.content.clone()),
        _ => None,
    };
    changes.iter().filter_map(result).collect()
}

fn outcomes(changes: &[Change]) -> Vec<CallOutcome> {
    let outcome = |change: &Change| match change {
        Change::Approval(ApprovalChange::Answered { outcome, .. }) => Some(*outcome),
        _ => None,
    };
    changes.iter().filter_map(outcome).collect()
}

#[test]
fn the_calls_before_are_carried_out_and_all_of_the_answer_that_need_it_are_asked_for() {
    let mut dialogue = answered(&["web_search", "send_letter", "write_file", "index_page", "todo_complete"]);
    dialogue.run_tools();
    assert!(matches!(dialogue.exit(), JobExit::AwaitsDecision { calls: 2 }), "{:?}", dialogue.exit());
    let pending = |tool: &str| (tool.to_owned(), ApprovalState::Pending);
    assert_eq!(asked(&dialogue), [pending("send_letter"), pending("index_page")]);
    assert!(!dialogue.toy.files.contains_key("a.md"), "the file is written in its turn");

    let changes = decide(&mut dialogue, &[APPROVE, APPROVE]);
    let said = results(&changes);
    assert_eq!(said.len(), 4, "{said:?}");
    assert!(said[0].contains("send_letter done") && said[2].contains("Page 1000 is indexed"), "{said:?}");
    assert!(dialogue.toy.files.contains_key("a.md") && said[3].contains("marked complete"), "{said:?}");
    assert_eq!(outcomes(&changes), [CallOutcome::Ok, CallOutcome::Ok]);
    assert!(dialogue.toy.approvals.is_empty(), "{:?}", dialogue.toy.approvals);
}

#[test]
fn each_decision_says_what_becomes_of_its_call_alone() {
    for (decisions, letter, page) in [
        ([REJECT, APPROVE], "Error: rejected by anna: not this one", "Page 1000 is indexed"),
        ([APPROVE, REJECT], "send_letter done", "Error: rejected by anna"),
        ([EXPIRE, APPROVE], "Error: not carried out: this call needs a person's approval", "Page 1000 is indexed"),
        ([EXPIRE, EXPIRE], "its time was over", "its time was over"),
        ([APPROVE, EDIT], "send_letter done", "Page 7 is indexed"),
    ] {
        let mut dialogue = answered(&["web_search", "send_letter", "write_file", "index_page", "todo_complete"]);
        dialogue.run_tools();
        let said = results(&decide(&mut dialogue, &decisions));
        assert!(said[0].contains(letter) && said[2].contains(page), "{said:?}");
        let closes = !said[..3].iter().any(|result| result.starts_with("Error"));
        assert_eq!(said[3].contains("marked complete"), closes, "what failed keeps the todo open: {said:?}");
        assert!(!dialogue.toy.approvals.iter().any(|row| row.state == ApprovalState::Approved));
    }
}

#[test]
fn edited_arguments_are_sent_and_reported_to_the_model() {
    let mut dialogue = answered(&["index_page"]);
    let said = results(&decide(&mut dialogue, &[EDIT]));
    assert!(said[0].contains("Page 7 is indexed") && said[0].contains("changed by anna"), "{said:?}");
    assert!(said[0].contains(r#"{"page":7}"#), "{said:?}");
    let calls = dialogue.toy.messages.iter().flat_map(|message| &message.tool_calls);
    assert!(calls.filter(|call| call.name == "index_page").all(|call| call.arguments.contains(r#""page":1"#)));
}

#[test]
fn a_change_that_does_not_fit_is_asked_for_again_with_the_sentence() {
    let mut dialogue = answered(&["index_page"]);
    decide(&mut dialogue, &[MISFIT]);
    assert!(matches!(dialogue.exit(), JobExit::AwaitsDecision { calls: 1 }));
    let rows = &dialogue.toy.approvals;
    assert_eq!(rows.iter().map(|row| row.state).collect::<Vec<_>>(), [ApprovalState::Void, ApprovalState::Pending]);
    assert!(rows[1].reason.as_deref().is_some_and(|reason| reason.contains("`misfit` is not a parameter")));
    let said = results(&decide(&mut dialogue, &[APPROVE]));
    assert!(said[0].contains("Page 1 is indexed"), "{said:?}");
}

#[test]
fn a_call_that_was_rejected_is_refused_without_asking() {
    let mut dialogue = answered(&["index_page"]);
    decide(&mut dialogue, &[REJECT]);
    for _ in 0..2 {
        let said = dialogue.call("index_page", json!({"page": 1}));
        assert!(said.contains("refused: this call") && said.contains("not this one"), "{said}");
    }
    assert_eq!(dialogue.toy.approvals.len(), 1);
    dialogue.apply(Outcome::ModelReplied(reply("", vec![call("index_page", &json!({"page": 22}))])));
    assert!(matches!(dialogue.exit(), JobExit::AwaitsDecision { calls: 1 }), "another page is another call");
}

#[test]
fn an_approved_call_is_dispatched_before_it_leaves_and_in_doubt_without_a_result() {
    let mut dialogue = answered(&["index_page"]);
    dialogue.toy.decide([APPROVE]);
    dialogue.crash();
    assert_eq!(dialogue.effect(), "run []", "what it does first is the dispatch");
    let changes = dialogue.apply(Outcome::ToolsReturned(Vec::new()));
    assert!(matches!(&changes[..], [Change::Approval(ApprovalChange::Executed { .. })]), "{changes:?}");
    assert_eq!(dialogue.effect(), "run [index_page], after a commit");
    let Effect::RunTools { calls, .. } = dialogue.run.next() else { panic!("{}", effect(&dialogue.run.next())) };
    assert!(calls[0].once, "it is sent once, although its tool has a key");

    dialogue.crash();
    let changes = dialogue.run_tools();
    assert!(results(&changes)[0].contains("outcome unknown"), "{changes:?}");
    assert_eq!(outcomes(&changes), [CallOutcome::InDoubt]);
}

#[test]
fn a_dispatch_that_is_refused_takes_nothing_with_it() {
    let mut dialogue = answered(&["send_letter", "index_page"]);
    dialogue.toy.decide([APPROVE, APPROVE]);
    dialogue.crash();
    dialogue.apply(Outcome::ToolsReturned(Vec::new()));
    // The commit of the second dispatch contains the result of the first.
    let (now, letter) = (dialogue.now, ToolReturn::ok("call_15_1", "send_letter done.", Vec::new()));
    let Effect::RunTools { calls, .. } = dialogue.run.next() else { panic!("the letter is sent") };
    let letter = ToolReturn { call_id: calls[0].id.clone(), ..letter };
    let sent = dialogue.run.apply(Outcome::ToolsReturned(vec![letter]), now).expect("it is the letter's result");
    assert!(dialogue.run.commits_next(false));
    let refused = dialogue.run.apply(Outcome::DispatchRefused, now).expect("the dispatch is not committed");
    assert!(results(&sent)[0].contains("send_letter done"));
    assert!(results(&refused)[0].contains("its time was over"), "{refused:?}");
    assert!(!dialogue.run.commits_next(false));
}

#[test]
fn an_approval_holds_for_the_tool_and_the_arguments_as_they_were() {
    for change in [(|row| row.tool_sha256 = [9; 32]) as Decide, |row| row.arguments_sha256 = [9; 32]] {
        let mut dialogue = answered(&["index_page"]);
        dialogue.toy.decide([|row: &mut Approval| {
            row.state = ApprovalState::Approved;
            change(row);
        }]);
        dialogue.crash();
        let changes = dialogue.run_tools();
        assert!(results(&changes)[0].contains("are not those that were approved"), "{changes:?}");
        let closed = |change: &Change| matches!(change, Change::Approval(ApprovalChange::Closed { .. }));
        assert!(changes.iter().any(closed) && outcomes(&changes).is_empty());
    }
}

#[test]
fn only_a_call_that_would_run_is_asked_for() {
    let mut dialogue = Dialogue::working(asking(), 1);
    let said = dialogue.call("index_page", json!({"page": 9_007_199_254_740_993_u64}));
    assert!(said.contains("is no number that a double holds"), "{said}");
    let said = dialogue.call("index_page", json!({"misfit": 1}));
    assert!(said.contains("`misfit` is not a parameter"), "{said}");
    let said = dialogue.call("write_file", json!({"path": "a.md", "content": "Text of the policy."}));
    assert!(!said.starts_with("Error") && dialogue.toy.approvals.is_empty(), "{said}");
}

#[test]
fn calls_after_the_one_that_ends_the_phase_are_requested_in_their_turn() {
    let mut names = vec!["send_letter"];
    names.extend([["read_file", "todo_complete"]; 5].concat());
    names.push("index_page");
    let mut dialogue = answered(&names);
    assert!(matches!(dialogue.exit(), JobExit::AwaitsDecision { calls: 1 }), "{:?}", dialogue.exit());
    decide(&mut dialogue, &[APPROVE]);
    assert!(matches!(dialogue.exit(), JobExit::AwaitsDecision { calls: 1 }), "{:?}", dialogue.run.exit());
    assert_eq!(dialogue.phase().1, plumbline_engine::PhaseKind::Tactical, "it is still bound here");
    decide(&mut dialogue, &[APPROVE]);
    assert_eq!(dialogue.phase().1, plumbline_engine::PhaseKind::Strategic);
    let opening: Vec<&str> = dialogue.toy.messages.iter().map(|message| message.content.as_str()).collect();
    assert!(opening.iter().any(|text| text.contains("is indexed")), "{opening:?}");
}

#[test]
fn what_is_asked_for_no_more_frees_no_waiting_row() {
    let mut dialogue = answered(&["index_page"]);
    dialogue.resume(|settings| settings.approval.asks_for.clear());
    dialogue.run_tools();
    assert!(matches!(dialogue.exit(), JobExit::AwaitsDecision { .. }), "{:?}", dialogue.run.exit());
}

#[test]
fn time_that_a_job_waits_for_people_is_none_of_its_deadline() {
    let arguments: Value = json!({"page": 1});
    let mut settings = asking();
    settings.limits.deadline_s = Some(50);
    let mut dialogue = Dialogue::working(settings, 1);
    dialogue.apply(Outcome::ModelReplied(reply("", vec![call("index_page", &arguments)])));
    dialogue.toy.wait(1000);
    dialogue.later(chrono::TimeDelta::seconds(1000));
    decide(&mut dialogue, &[APPROVE]);
    assert!(matches!(dialogue.run.next(), Effect::CallModel(_)), "{}", effect(&dialogue.run.next()));
    dialogue.later(chrono::TimeDelta::seconds(100));
    dialogue.says("More.");
    assert!(dialogue.reason().contains("deadline of 50 s"), "{}", dialogue.reason());
}
