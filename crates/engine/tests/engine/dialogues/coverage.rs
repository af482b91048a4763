//! The coverage ledger in a job's life: documents are prepared, passages read and answered, and completion requires all
//! of them.

use crate::kit::{Dialogue, covering, intake_of_four, prepare};
use plumbline_engine::{
    AnsweredPassage, Carried, CarriedPassage, CoverageSettings, Effect, FileWrite, Intake, JobExit, Outcome,
    PassageState, PhaseKind, Prepare, Prepared, Product, Settings, Versions,
};
use serde_json::{Value, json};

fn covering_with(change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = covering();
    change(&mut settings);
    settings
}

/// A job over the document of four passages, in its first phase of work.
fn working(settings: Settings) -> Dialogue {
    let mut dialogue = Dialogue::new(settings);
    dialogue.apply(intake_of_four());
    dialogue.write_plan(1);
    dialogue.open_tactical();
    dialogue
}

fn states(dialogue: &Dialogue) -> Vec<(PassageState, Option<AnsweredPassage>)> {
    dialogue.toy.passages.values().map(|passage| (passage.state, passage.answered_by)).collect()
}

/// The text counts as read once a request has contained it: with the answer after the one that asked for it.
fn read(dialogue: &mut Dialogue) {
    dialogue.call("read_file", json!({"path": "input/policy.pdf"}));
    dialogue.call("get_progress", json!({}));
}

fn cite(dialogue: &mut Dialogue, passages: [i32; 2]) {
    for passage in passages {
        dialogue.call("cite", json!({"quote": passage.to_string(), "passage": passage}));
    }
}

fn complete(dialogue: &mut Dialogue, undelivered: Value) -> String {
    complete_quoting(dialogue, &[], undelivered)
}

/// The same with a report that quotes the first sentences of passages.
fn complete_quoting(dialogue: &mut Dialogue, passages: &[i32], undelivered: Value) -> String {
    if dialogue.phase().1 == PhaseKind::Tactical {
        dialogue.finish_phase();
        let quoted: String = passages.iter().map(|passage| format!(" It quotes passage {passage}.")).collect();
        let content = format!("42 requirements recorded, 42 quotes verified.{quoted}");
        dialogue.call("write_file", json!({"path": "output/report.md", "content": content}));
    }
    let claim =
        json!({"summary": "Done.", "deliverables": ["output/report.md"], "undelivered": undelivered, "confidence": 1});
    dialogue.call("job_complete", claim)
}

fn all(reason: &str) -> Value {
    json!([{"passages": [1, 2, 3, 4, 4], "document": "input/policy.pdf", "reason": reason}])
}

fn error(dialogue: &Dialogue) -> &plumbline_engine::JobError {
    let JobExit::Failed(error) = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    error
}

#[test]
fn documents_are_prepared_before_the_first_request_one_a_step() {
    let mut dialogue = Dialogue::new(covering());
    dialogue.try_apply(intake_of_four()).expect("the documents are at hand");
    let progress = dialogue.run.progress();
    assert_eq!(progress.current_todo.as_deref(), Some("Prepare input/policy.pdf (1 left)"));
    assert_eq!(dialogue.phase().0, 0, "nothing is asked of the model yet");
    dialogue.crash();
    let note = "extracted input/policy.pdf, 4 pages".to_string();
    let cut = crate::kit::prepare("input/policy.pdf", &dialogue.toy);
    dialogue.apply(Outcome::Prepared(Prepared { note: note.clone(), ..cut }));
    let opening = &dialogue.request()[1].text;
    let line = "input/policy.pdf: 4 passages (1-4): 4 unread, 0 read, 0 answered; 2 candidate sentences";
    assert!(opening.contains(line) && opening.contains(&note), "{opening}");
}

#[test]
fn what_an_earlier_job_found_is_carried_over_before_the_first_request() {
    let previous = Some(uuid::Uuid::from_u128(9));
    let mut dialogue = Dialogue::new(covering());
    let Outcome::IntakeDone(intake) = intake_of_four() else { unreachable!("it is an intake") };
    dialogue.try_apply(Outcome::IntakeDone(Intake { previous, ..intake })).expect("the documents are at hand");
    let cut = crate::kit::prepare("input/policy.pdf", &dialogue.toy);
    dialogue.try_apply(Outcome::Prepared(cut)).expect("it answers what is prepared");
    dialogue.crash();
    assert!(matches!(dialogue.run.next(), Effect::Carry { previous: named } if Some(named) == previous));
    assert_eq!(dialogue.phase().0, 0, "nothing is asked of the model yet");
    let versions = Versions { same: 3, changed: 1, new: 0, gone: 2, reread: 0 };
    let carried =
        |number| CarriedPassage { number, from: AnsweredPassage::Citation, decisions: Vec::new(), is_decided: true };
    let passages = [1, 2, 4].map(carried).to_vec();
    dialogue.apply(Outcome::Carried(Carried { passages, versions, products: Vec::new() }));
    let carried = (PassageState::Answered, Some(AnsweredPassage::Carried));
    assert_eq!(states(&dialogue), [carried, carried, (PassageState::Unread, None), carried]);
    let opening = &dialogue.request()[1].text;
    assert!(opening.contains("3 are word for word the same, 1 have changed, 0 are new and 2 are gone"), "{opening}");
    dialogue.write_plan(1);
    dialogue.open_tactical();
    read(&mut dialogue);
    cite(&mut dialogue, [3, 3]);
    let unclear = json!([{"passages": [3], "document": "input/policy.pdf", "reason": "it is unclear"}]);
    complete_quoting(&mut dialogue, &[3], unclear);
    let JobExit::Completed { result } = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert_eq!(result["versions"], json!({"same": 3, "changed": 1, "new": 0, "gone": 2, "reread": 0}));
    assert!(dialogue.run.state().previous.is_some(), "it is looked at once");
}

/// The result of preparing a scan.
fn scanned() -> Outcome {
    let note = SCAN.to_string();
    Outcome::Prepared(Prepared { document: "input/policy.pdf".into(), note, products: Vec::new() })
}

const SCAN: &str = "input/policy.pdf has no text: it is a scan";

#[test]
fn a_job_none_of_whose_documents_has_text_fails_before_its_first_request() {
    let mut dialogue = Dialogue::new(covering_with(|_| ()));
    dialogue.try_apply(intake_of_four()).expect("the documents are at hand");
    dialogue.apply(scanned());
    let failed = error(&dialogue);
    assert_eq!((failed.message.as_str(), &failed.details["kind"]), (SCAN, &json!("no_text")));
    assert_eq!(dialogue.run.workspace().sources()[0].warnings, [SCAN]);
    assert_eq!(states(&dialogue), [(PassageState::Unread, None)]);
    dialogue.resume(|_| {});
    dialogue.apply(intake_of_four());
    assert!(dialogue.run.workspace().sources()[0].warnings.is_empty(), "a retry takes the document in anew");
    assert_eq!((states(&dialogue).len(), dialogue.phase().0), (4, 1));
}

#[test]
fn a_document_without_text_is_named_by_the_system_if_others_have_text() {
    let mut dialogue = Dialogue::new(covering_with(|settings| {
        settings.coverage = Some(CoverageSettings { minimum: 1.0, max_closed: 1.0, unsupported: 1.0, records: false });
    }));
    let Outcome::IntakeDone(mut intake) = intake_of_four() else { unreachable!() };
    intake.files.push(FileWrite::text("input/annex.md", "Invoices must be kept for ten years."));
    dialogue.try_apply(Outcome::IntakeDone(intake)).expect("the documents are at hand");
    let annex = prepare("input/annex.md", &dialogue.toy);
    dialogue.try_apply(Outcome::Prepared(annex)).expect("it is the first to be prepared");
    dialogue.apply(scanned());
    let opening = dialogue.request()[1].text.clone();
    assert!(opening.contains(&format!("bytes)\n  - {SCAN}")), "{opening}");
    let bound = "fails if it ends with a share below 1 of the passages that have text answered.";
    assert!(opening.contains(bound) && !opening.contains("a share above"), "{opening}");
    dialogue.write_plan(1);
    dialogue.open_tactical();
    assert!(!dialogue.request()[1].text.contains(bound), "it is for who plans");
    dialogue.call("read_file", json!({"path": "input/annex.md"}));
    complete_quoting(&mut dialogue, &[1], json!([]));
    let JobExit::Completed { result } = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    let named = json!([{"passages": [2], "document": "input/policy.pdf", "reason": SCAN}]);
    assert_eq!((&result["coverage"], &result["undelivered"]), (&json!(0.5), &named));
}

#[test]
fn what_the_model_may_prepare_itself_the_system_prepares_when_a_phase_of_work_has_ended() {
    let mut dialogue = working(covering_with(|settings| settings.prepare = Prepare::Model));
    assert!(dialogue.toy.passages.is_empty(), "it is the model's to do");
    dialogue.finish_phase();
    assert_eq!(states(&dialogue), [(PassageState::Unread, None); 4]);
}

#[test]
fn an_unprepared_document_is_not_skipped() {
    let mut dialogue = Dialogue::new(covering_with(|settings| settings.prepare = Prepare::Model));
    dialogue.apply(intake_of_four());
    dialogue.call("write_file", json!({"path": "output/report.md", "content": "42 requirements recorded, 42 quotes."}));
    let refused = complete(&mut dialogue, json!(["appendix B was not there"]));
    assert!(refused.contains("input/policy.pdf has no passages yet"), "{refused}");
}

/// Like a fork at a step before its documents were cut again.
#[test]
fn a_run_without_passages_is_prepared_when_it_is_loaded() {
    let mut dialogue = working(covering_with(|settings| settings.prepare = Prepare::Model));
    dialogue.resume(|settings| settings.prepare = Prepare::Start);
    assert!(matches!(dialogue.run.next(), Effect::Prepare { .. }), "{:?}", dialogue.run.next());
}

#[test]
fn the_systems_report_is_no_answer_of_the_models() {
    let mut dialogue = working(covering());
    read(&mut dialogue);
    let closed = json!([{"passages": "1, 3", "reason": "it obliges nobody at all"}]);
    dialogue.call("close_passages", json!({"passages": closed}));
    dialogue.finish_phase();
    let claim = json!({"summary": "Done.", "deliverables": ["output/report.html"], "confidence": 1});
    let refused = dialogue.call("job_complete", claim);
    assert!(refused.contains("no deliverable is named and no requirement is recorded"), "{refused}");
}

#[test]
fn a_passage_is_read_by_being_shown_and_answered_by_delivered_quotes_or_for_having_no_candidates() {
    let mut dialogue = working(covering());
    read(&mut dialogue);
    let empty = (PassageState::Answered, Some(AnsweredPassage::Empty));
    assert_eq!(states(&dialogue), [(PassageState::Read, None), empty, (PassageState::Read, None), empty]);
    cite(&mut dialogue, [1, 3]);
    let read = (PassageState::Read, None);
    assert_eq!(states(&dialogue), [read, empty, read, empty], "a citation alone answers nothing");
    let refused = complete_quoting(&mut dialogue, &[1], json!([]));
    assert!(refused.contains("1 of 4 passages are neither answered") && refused.contains("it was cited"), "{refused}");
    let cited = (PassageState::Answered, Some(AnsweredPassage::Citation));
    assert_eq!(states(&dialogue), [cited, empty, read, empty]);
    let more = json!({"path": "output/report.md", "content": "It quotes passage 1 and passage 3 word for word."});
    dialogue.call("write_file", more);
    assert_eq!(complete(&mut dialogue, json!([])), "The job is complete.");
    let JobExit::Completed { result } = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert_eq!(result["coverage"], 1.0);
    let passages = json!({"total": 4, "unread": 0, "read": 0, "answered": 4, "cited": 2, "empty": 2, "closed": 0, "not_judged": 0});
    assert_eq!(result["passages"], passages);
}

#[test]
fn a_result_that_was_cut_shows_what_it_holds_and_no_more() {
    let mut dialogue = working(covering_with(|settings| settings.limits.max_tool_result_tokens = 40));
    read(&mut dialogue);
    assert!(
        states(&dialogue).contains(&(PassageState::Unread, None)),
        "the middle was not shown: {:?}",
        states(&dialogue)
    );
}

#[test]
fn the_liar_does_not_end_completed() {
    let mut dialogue = working(covering());
    let refused = complete(&mut dialogue, json!([]));
    assert!(refused.contains("4 of 4 passages are neither answered nor named in 'undelivered'"), "{refused}");
    assert!(refused.contains("passage 1 (chunks/chunk_001.md, page 1): unread, 1 candidate"), "{refused}");
    // Naming all of it as undelivered is too little work.
    complete(&mut dialogue, all("the document is long and was not read"));
    assert_eq!(error(&dialogue).details["kind"], "not_covered");
}

#[test]
fn one_that_closes_everything_does_not_end_completed() {
    let mut dialogue = working(covering());
    let entry = |passage: i32| json!({"passage": passage, "reason": "nothing in it is a requirement"});
    let unread = dialogue.call("close_passages", json!({"passages": [entry(1)]}));
    assert!(unread.starts_with("Error: nothing was closed: passage 1 was not read to its end"), "{unread}");
    read(&mut dialogue);
    let short = dialogue.call("close_passages", json!({"passages": [{"passage": 1, "reason": "none"}]}));
    assert!(short.contains("15 characters or more"), "{short}");
    let closed = dialogue.call("close_passages", json!({"passages": [entry(1), entry(3)]}));
    assert_eq!(closed, "2 closed. 4 of 4 passages are answered, 0 are unread.");
    complete(&mut dialogue, json!([]));
    assert_eq!(error(&dialogue).details["kind"], "not_covered");
    assert!(error(&dialogue).message.contains("coverage_settings.max_closed"), "{}", error(&dialogue).message);
}

/// A job in which requirements decide: one for each candidate, the first ones with a tag of the system.
fn recorded(tagged: usize, unsupported: f64) -> Dialogue {
    let mut dialogue = working(covering_with(|settings| {
        settings.coverage = Some(CoverageSettings { minimum: 0.5, max_closed: 0.5, unsupported, records: true });
    }));
    read(&mut dialogue);
    for (at, (passage, text)) in
        [(1, "Strangers guard the old castle."), (3, "Nothing else is kept.")].into_iter().enumerate()
    {
        let tags = if at < tagged { json!(["needs_look"]) } else { json!([]) };
        dialogue.call("add_requirement", json!({"text": text, "passage": passage, "tags": tags}));
    }
    let empty = |passage| json!({"passage": passage, "reason": "nothing in it is a requirement"});
    let all = [1, 2, 3, 4].map(empty);
    dialogue.call("close_passages", json!({"passages": all}));
    dialogue
}

#[test]
fn a_job_whose_requirements_go_beyond_their_quotes_is_refused_once_and_then_fails() {
    let mut dialogue = recorded(2, 0.5);
    let refused = complete(&mut dialogue, json!([]));
    assert!(refused.contains("2 of 2 requirements need a look"), "{refused}");
    assert!(refused.contains("- r1 \"Strangers guard the old castle.\": 0 of its 4 content words"), "{refused}");
    assert!(refused.contains("It quotes \"Invoices must be kept.\""), "{refused}");
    assert_eq!(
        complete(&mut dialogue, json!([])),
        "The job ends as failed: its requirements say what their quotes do not. Files and rows are kept."
    );
    assert_eq!(error(&dialogue).details["kind"], "not_supported");
    assert!(error(&dialogue).message.contains("coverage_settings.unsupported"), "{}", error(&dialogue).message);

    assert_eq!(complete(&mut recorded(1, 0.5), json!([])), "The job is complete.", "half of them may");
    assert_eq!(complete(&mut recorded(2, 1.0), json!([])), "The job is complete.", "all of them may");
    assert!(complete(&mut recorded(1, 0.4), json!([])).contains("1 of 2 requirements need a look"));
}

/// Passages that the scan cannot judge have no candidates: they are what lacks a reason.
#[test]
fn a_job_without_records_names_the_passages_that_are_not_judged() {
    let mut dialogue = Dialogue::new(covering_with(|settings| {
        settings.coverage = Some(CoverageSettings { minimum: 0.0, max_closed: 1.0, unsupported: 1.0, records: true });
    }));
    dialogue.try_apply(intake_of_four()).expect("the documents are at hand");
    let mut prepared = prepare("input/policy.pdf", &dialogue.toy);
    for product in &mut prepared.products {
        let Product::CutDocument(cut) = product else { continue };
        cut.passages.iter_mut().for_each(|passage| (passage.judged, passage.candidates) = (false, Vec::new()));
    }
    dialogue.apply(Outcome::Prepared(prepared));
    dialogue.write_plan(1);
    dialogue.open_tactical();
    let said = "no requirement is recorded, and 4 of 4 passages that are not judged have no reason";
    let refused = complete(&mut dialogue, all("there was no time to read it"));
    assert!(refused.contains(said), "{refused}");
    complete(&mut dialogue, all("there was no time to read it"));
    assert_eq!(
        (error(&dialogue).message.as_str(), &error(&dialogue).details["kind"]),
        (said, &json!("nothing_recorded"))
    );
}

#[test]
fn what_is_answered_is_not_undelivered_and_the_rest_is_named_once() {
    let mut dialogue = working(covering());
    read(&mut dialogue);
    let both = [all("the auditor is out of scope")[0].clone(), all("the auditor is out of scope")[0].clone()];
    complete_quoting(&mut dialogue, &[1], json!(both));
    let JobExit::Completed { result } = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    let named = json!([{"passages": [3], "document": "input/policy.pdf", "reason": "the auditor is out of scope"}]);
    assert_eq!((&result["undelivered"], &result["coverage"]), (&named, &json!(0.75)));
}

#[test]
fn a_strategic_phase_opens_with_what_is_left_worst_first() {
    let mut dialogue = working(covering());
    read(&mut dialogue);
    dialogue.finish_phase();
    let opening = dialogue.request()[1].text.clone();
    let left = "Left, worst first:\n- passage 1 (chunks/chunk_001.md, page 1): read, open: [1] \"Invoices must be kept";
    assert!(opening.contains(left), "{opening}");
    let shown = dialogue.call("coverage", json!({}));
    assert!(shown.contains("0 unread, 2 read, 2 answered") && shown.contains("- passage 3"), "{shown}");
    assert!(dialogue.call("coverage", json!({"document": "none.pdf"})).contains("none.pdf has no passages"));
}

/// A job in its first phase of work, with these todos, one per passage.
fn working_on(todos: &[Value]) -> Dialogue {
    let mut dialogue = Dialogue::new(covering());
    dialogue.apply(intake_of_four());
    dialogue.write_plan(2);
    dialogue.call("todo_write", json!({"phase": "Extraction", "description": "All of it", "todos": todos}));
    dialogue.finish_phase();
    dialogue
}

fn one_a_passage() -> Vec<Value> {
    (1..=5).map(|id| json!({"id": id, "content": format!("Process chunks {id}-{id} of the policy")})).collect()
}

#[test]
fn a_todo_that_names_passages_is_refused_once_while_they_are_open() {
    let mut dialogue = working_on(&one_a_passage());
    let refused = dialogue.close();
    assert!(
        refused.contains("of the passages that it names 1 is not answered:\n- passage 1 (chunks/chunk_001.md, page 1)"),
        "{refused}"
    );
    dialogue.crash();
    let taken = dialogue.close();
    assert!(taken.starts_with("Task 1") && taken.contains("1 of its passages stay open"), "{taken}");
    read(&mut dialogue);
    assert!(dialogue.close().starts_with("Task 2"), "the second passage has no candidates and was read");
    let refused = dialogue.close();
    assert!(refused.contains("read, open: [1] \"The auditor must be shown"), "{refused}");
    cite(&mut dialogue, [3, 3]);
    let taken = dialogue.close();
    assert!(taken.starts_with("Task 3") && !taken.contains("stay open"), "{taken}");
}

#[test]
fn the_refusal_carries_the_text_of_the_first_unread_passage_which_is_read_by_it() {
    let mut dialogue = working_on(&one_a_passage());
    let refused = dialogue.close();
    let text = String::from_utf8_lossy(&dialogue.toy.files["chunks/chunk_001.md"]).into_owned();
    assert!(refused.ends_with(&format!("Passage 1, which counts as read by this:\n\n{text}")), "{refused}");
    assert_eq!(states(&dialogue)[0], (PassageState::Unread, None), "no request has carried it yet");
    dialogue.call("get_progress", json!({}));
    assert_eq!(states(&dialogue)[0], (PassageState::Read, None));
    // If one answer closes two todos, the second is current when its closing is refused.
    cite(&mut dialogue, [1, 1]);
    let results = dialogue.calls(&[("todo_complete", json!({})), ("todo_complete", json!({}))]);
    assert!(results[0].starts_with("Task 1"), "{results:?}");
    assert!(results[1].contains("todo 2 stays open") && results[1].contains("Passage 2, which counts"), "{results:?}");
    // It had no candidates, so reading answered it.
    assert!(dialogue.close().starts_with("Task 2"));
}

#[test]
fn a_todo_has_the_passages_of_its_field_and_of_its_text() {
    let mut todos = one_a_passage();
    todos[0] = json!({"id": 1, "content": "Read the beginning", "passages": "1-2, 4"});
    todos[1] = json!({"id": 2, "content": "Read chunk 3", "passages": [1]});
    let dialogue = working_on(&todos);
    let passages: Vec<&[i32]> = dialogue.run.todos().iter().map(|todo| todo.passages.as_slice()).collect();
    assert_eq!(passages, [&[1, 2, 4][..], &[1, 3], &[3], &[4], &[5]]);
    let yaml = String::from_utf8_lossy(&dialogue.toy.files["todos.yaml"]).into_owned();
    assert!(yaml.contains("content: \"Read the beginning\"\n    passages: \"1-2, 4\"\n"), "{yaml}");
    let mut dialogue = Dialogue::begun(covering());
    todos[0] = json!({"id": 1, "content": "Read the beginning", "passages": "the first two"});
    let refused = dialogue.call("todo_write", json!({"phase": "E", "description": "All", "todos": todos}));
    assert!(refused.contains("todo 1: its passages must be listed as in \"7-9, 12\""), "{refused}");
    let mut dialogue = working(covering());
    dialogue.finish_phase();
    todos[0] = json!({"id": 1, "content": "Read the beginning", "passages": "4-5"});
    let refused = dialogue.call("todo_write", json!({"phase": "E", "description": "All", "todos": todos}));
    assert!(refused.contains("todo 1: there is no passage 5; the documents have passages up to 4."), "{refused}");
}

#[test]
fn a_text_in_no_request_was_not_read() {
    let mut dialogue = working(covering());
    // One answer reads all of it and ends the phase: the next request starts a new conversation without the text.
    let mut calls = vec![("read_file", json!({"path": "input/policy.pdf"}))];
    calls.extend((1..5).map(|line| ("read_file", json!({"path": "instructions.md", "offset": line}))));
    calls.extend(std::iter::repeat_n(("todo_complete", json!({})), 5));
    dialogue.calls(&calls);
    assert_eq!(dialogue.phase().1, PhaseKind::Strategic);
    dialogue.call("get_progress", json!({}));
    assert_eq!(states(&dialogue), [(PassageState::Unread, None); 4]);
}

#[test]
fn todos_for_skipped_passages_are_added_if_the_model_writes_none() {
    let mut dialogue = working_on(&one_a_passage());
    read(&mut dialogue);
    // Each of the two with a candidate is refused once.
    for _ in 0..7 {
        dialogue.close();
    }
    assert_eq!(dialogue.phase().1, PhaseKind::Strategic);
    let others: Vec<Value> = (1..=5).map(|id| json!({"id": id, "content": format!("Write part {id}")})).collect();
    let list = |todos: &Vec<Value>| json!({"phase": "Report", "description": "Write it", "todos": todos});
    let written = dialogue.call("todo_write", list(&others));
    assert!(written.contains("with 6 todos") && written.contains("Passages 1, 3 were left open"), "{written}");
    let yaml = String::from_utf8_lossy(&dialogue.toy.files["todos.yaml"]).into_owned();
    assert!(yaml.contains("  - id: 1\n    content: \"Work through passages 1, 3, which were left open"), "{yaml}");
    let mut own = others.clone();
    own[4] = json!({"id": 5, "content": "Finish chunk 3"});
    let written = dialogue.call("todo_write", list(&own));
    assert!(written.contains("with 5 todos") && !written.contains("left open"), "{written}");
}

#[test]
fn a_job_without_documents_has_no_passages_to_account_for() {
    let mut dialogue = Dialogue::new(covering());
    let files = vec![FileWrite::text("instructions.md", "Compare the two interfaces.\n")];
    dialogue.apply(Outcome::IntakeDone(Intake { files, ..Intake::default() }));
    dialogue.write_plan(1);
    dialogue.open_tactical();
    assert_eq!(complete(&mut dialogue, json!([])), "The job is complete.");
    let JobExit::Completed { result } = dialogue.exit() else { panic!("{:?}", dialogue.exit()) };
    assert_eq!(result["coverage"], Value::Null);
    assert_eq!(result["passages"]["total"], 0);
}
