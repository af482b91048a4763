//! The user's feedback: added at a boundary between turns while the job runs, and a reason to reopen it in review.

use crate::kit::{Dialogue, check, effect, settings};
use plumbline_engine::{
    Autonomy, Effect, FileWrite, Intake, JobExit, Opening, Outcome, PhaseKind, Role, Settings, Source, Stage,
};
use serde_json::json;

fn reviewed() -> Settings {
    Dialogue::with(|settings| settings.autonomy = Autonomy::Review)
}

/// A finished job that waits for a person.
fn in_review() -> Dialogue {
    let mut dialogue = Dialogue::working(reviewed(), 1);
    dialogue.finish_phase();
    dialogue.call("write_file", json!({"path": "output/report.md", "content": "Invoices must be kept for ten years."}));
    dialogue.call("job_complete", json!({"summary": "Done.", "deliverables": ["output/report.md"], "confidence": 1}));
    dialogue
}

#[test]
fn feedback_between_two_turns() {
    let script = r#"
        take in
        feedback Mind annex B.
        say I will.
        feedback And annex C.
        crash
    "#;
    check("feedback_between_two_turns", settings(), script);
}

#[test]
fn feedback_never_comes_between_a_call_and_its_result() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let search = crate::kit::call("web_search", &json!({"query": "GoBD"}));
    dialogue.apply(plumbline_engine::Outcome::ModelReplied(crate::kit::reply("", vec![search])));
    dialogue.feedback("Stop searching.");
    assert!(matches!(dialogue.run.state().stage, Stage::Tools { .. }));
    assert!(dialogue.run.feedback_waiting());
    dialogue.run_tools();
    assert!(!dialogue.run.feedback_waiting());
    let roles: Vec<Role> = dialogue.request().iter().map(|line| line.role).collect();
    use Role::{Assistant, System, Tool, User};
    assert_eq!(roles, [System, User, Assistant, Tool, User, User]);
    assert_eq!(dialogue.request()[4].text, "Feedback from the user:\n\nStop searching.");
}

#[test]
fn review_waits_for_a_person() {
    let mut dialogue = in_review();
    assert!(matches!(dialogue.exit(), JobExit::Review { .. }), "{:?}", dialogue.exit());
    assert_eq!(dialogue.reason(), "waiting for approval or feedback");
    dialogue.resume(|_| {});
    assert!(matches!(dialogue.run.next(), Effect::Exit(JobExit::Review { .. })), "{}", effect(&dialogue.run.next()));
}

#[test]
fn feedback_in_review_reopens_the_work() {
    let mut dialogue = in_review();
    let row =
        plumbline_engine::Feedback { id: 1, text: "The page numbers are wrong.".into(), created_at: dialogue.now };
    dialogue.toy.feedback.push(row);
    dialogue.resume(|_| {});
    assert!(dialogue.run.feedback_waiting());
    dialogue.apply(plumbline_engine::Outcome::FeedbackReceived(Vec::new()));
    assert_eq!(dialogue.phase(), (4, PhaseKind::Strategic, Opening::Feedback));
    assert_eq!(dialogue.toy.taken, [1]);
    let request = dialogue.request();
    assert!(request[1].text.contains("The user gave feedback on the finished work."), "{}", request[1].text);
    assert!(request[2].text.ends_with("The page numbers are wrong."), "{}", request[2].text);
    assert!(request[3].text.contains("[ ] 1. Take in the feedback      ← CURRENT"), "{}", request[3].text);
    dialogue
        .call("job_complete", json!({"summary": "Corrected.", "deliverables": ["output/report.md"], "confidence": 1}));
    assert!(matches!(dialogue.exit(), JobExit::Review { .. }), "corrected work is reviewed again");
}

#[test]
fn lesson_57_a_job_does_not_complete_over_unread_words() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.finish_phase();
    let search = crate::kit::call("web_search", &json!({"query": "GoBD"}));
    let report = json!({"path": "output/report.md", "content": "Invoices must be kept for ten years."});
    let done = json!({"summary": "Done.", "deliverables": ["output/report.md"], "confidence": 1});
    let calls = vec![crate::kit::call("write_file", &report), search, crate::kit::call("job_complete", &done)];
    dialogue.apply(Outcome::ModelReplied(crate::kit::reply("", calls)));
    dialogue.feedback("Annex B is missing.");
    dialogue.run_tools();
    assert!(dialogue.run.exit().is_none(), "{:?}", dialogue.run.exit());
    let request = dialogue.request();
    let refused = request.iter().rev().find(|line| line.answers.is_some()).expect("the calls are answered");
    assert!(refused.text.contains("the user has written in the meantime"), "{}", refused.text);
    assert_eq!(request[request.len() - 2].text, "Feedback from the user:\n\nAnnex B is missing.");
    dialogue.call("job_complete", done);
    assert!(matches!(dialogue.exit(), JobExit::Completed { .. }), "{:?}", dialogue.exit());
}

#[test]
fn words_that_arrive_while_the_job_ends_reopen_it() {
    let mut dialogue = Dialogue::working(settings(), 1);
    dialogue.finish_phase();
    let report = json!({"path": "output/report.md", "content": "Invoices must be kept for ten years."});
    dialogue.call("write_file", report);
    dialogue.call("job_complete", json!({"summary": "Done.", "deliverables": ["output/report.md"], "confidence": 1}));
    assert!(matches!(dialogue.exit(), JobExit::Completed { .. }), "{:?}", dialogue.exit());
    let row = plumbline_engine::Feedback { id: 1, text: "Annex B is missing.".into(), created_at: dialogue.now };
    dialogue.toy.feedback.push(row);
    dialogue.resume(|_| {});
    dialogue.apply(Outcome::FeedbackReceived(Vec::new()));
    assert_eq!(dialogue.phase(), (4, PhaseKind::Strategic, Opening::Feedback));
    assert!(dialogue.request()[2].text.ends_with("Annex B is missing."), "{}", dialogue.request()[2].text);
}

#[test]
fn the_same_row_is_taken_in_once() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let search = crate::kit::call("web_search", &json!({"query": "GoBD"}));
    dialogue.apply(plumbline_engine::Outcome::ModelReplied(crate::kit::reply("", vec![search])));
    dialogue.feedback("Stop searching.");
    let again = dialogue.toy.feedback.clone();
    dialogue.apply(plumbline_engine::Outcome::FeedbackReceived(again));
    dialogue.run_tools();
    let said = dialogue.request().iter().filter(|line| line.text.contains("Stop searching.")).count();
    assert_eq!(said, 1);
}

#[test]
fn files_that_the_user_places_are_the_jobs_before_the_next_turn() {
    let mut dialogue = Dialogue::working(settings(), 1);
    let file = FileWrite::text("input/annex.md", "Annex B: invoices must be kept for ten years.");
    let source = Source { path: file.path.clone(), size: 46, pages: Some(1), text_path: None, ..Source::default() };
    dialogue.apply(Outcome::FilesPlaced(Intake {
        files: vec![file],
        sources: vec![source.clone()],
        ..Intake::default()
    }));
    // The last message is the todo list.
    let said = dialogue.request().into_iter().rev().nth(1).unwrap();
    assert_eq!(said.role, Role::User);
    assert!(said.text.contains("- input/annex.md (45 bytes)"), "{}", said.text);
    assert!(dialogue.run.workspace().files().contains_key("input/annex.md"));
    assert!(dialogue.run.workspace().sources().contains(&source));
    dialogue.crash();
    assert!(dialogue.run.workspace().files().contains_key("input/annex.md"));
}
