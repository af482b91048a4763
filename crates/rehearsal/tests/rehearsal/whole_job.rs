//! Whole jobs: documents in, requirements with pages and deliverables out.

use plumbline_rehearsal::DISCLAIMER;

use crate::fake_engine::{Engine, Habits};

const ENGLISH: &str = "\
[page 1]
# Record-keeping policy

## 1 Scope

This policy describes how Meridian keeps records. Every department must appoint a records officer.

Contents . . . . . . . . . . . . 1

[page 2]
## 2 Retention

Invoices shall be kept for ten years, e.g. in the
archive at Leeds. Boxes should be labelled on two sides. Records of a
pending audit must not be destroyed before the

[page 3]

auditor has released them in writing.

- personal data must be erased on request
- the form is blue

| Class | Rule |
|---|---|
| Letters | Approval of the head of records is required before disposal |
";

const GERMAN: &str = "\
[page 1]
# Aufbewahrungsrichtlinie

§ 1 Grundsatz

Belege müssen vollständig und lesbar sein. Das Archiv liegt in Kassel.

[page 2]
§ 2 Fristen

Rechnungen sind gem. § 147 Abs. 3 AO zehn Jahre aufzubewahren. Vor dem 31. Dezember 2030 darf kein Beleg
vernichtet werden. Die Leitung soll den Bestand jährlich prüfen.
";

fn rows(engine: &Engine) -> Vec<(&str, Option<u64>)> {
    engine.requirements.iter().map(|row| (row.text.as_str(), row.page)).collect()
}

fn english_rows() -> Vec<(&'static str, Option<u64>)> {
    vec![
        ("Every department must appoint a records officer.", Some(1)),
        ("Invoices shall be kept for ten years, e.g. in the archive at Leeds.", Some(2)),
        ("Boxes should be labelled on two sides.", Some(2)),
        ("Records of a pending audit must not be destroyed before the auditor has released them in writing.", Some(2)),
        ("personal data must be erased on request", Some(3)),
        ("Letters | Approval of the head of records is required before disposal", Some(3)),
    ]
}

fn deliverables(engine: &Engine) -> Vec<&str> {
    let result = engine.result.as_ref().unwrap();
    result["deliverables"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect()
}

fn finished(prompt: &str, documents: &[(&str, &str)], habits: Habits) -> Engine {
    let mut engine = Engine::new(prompt, documents, habits);
    engine.run();
    engine
}

#[test]
fn an_english_document_becomes_requirements_with_pages() {
    let engine = finished("Extract the requirements.", &[("input/policy.pdf", ENGLISH)], Habits::default());
    assert_eq!(engine.refusals, Vec::<String>::new());
    assert_eq!(rows(&engine), english_rows());
    assert_eq!(deliverables(&engine), ["output/summary_report.md"]);
    for report in ["output/summary_report.md", "workspace.md"] {
        assert!(engine.files[report].contains(DISCLAIMER), "{report} must say what wrote it");
    }
    let report = &engine.files["output/summary_report.md"];
    assert!(report.contains("[figures]") && report.contains("the rehearsal model is rule-based: "), "{report}");
    assert!(engine.files.keys().all(|path| !path.starts_with("candidates/")), "the records are rows");
}

#[test]
fn a_german_document_becomes_requirements_with_pages() {
    let engine = finished("Extrahiere die Anforderungen.", &[("input/richtlinie.pdf", GERMAN)], Habits::default());
    assert_eq!(
        rows(&engine),
        vec![
            ("Belege müssen vollständig und lesbar sein.", Some(1)),
            ("Rechnungen sind gem. § 147 Abs. 3 AO zehn Jahre aufzubewahren.", Some(2)),
            ("Vor dem 31. Dezember 2030 darf kein Beleg vernichtet werden.", Some(2)),
            ("Die Leitung soll den Bestand jährlich prüfen.", Some(2)),
        ]
    );
    assert_eq!(engine.requirements[1].args["type"], "compliance");
}

#[test]
fn a_short_document_takes_few_requests() {
    let engine =
        finished("Extract.", &[("input/long.pdf", &long_document(12))], Habits { prepared: true, ..Habits::default() });
    // Planning, three todos of four passages, the report, the end.
    assert_eq!((engine.answers.len(), engine.phases.len()), (6, 3), "{:?}", engine.phases);
    assert_eq!(rows(&engine).len(), long_rows(12).len());
}

/// A document of many pages, with distinct sentences on every page.
fn long_document(pages: u32) -> String {
    let page = |page: u32| {
        let sentences: String = (0..page % 9).map(|n| format!("Rule {n} of page {page} must be kept.\n\n")).collect();
        format!("[page {page}]\nThis is page {page}.\n\n{sentences}The page ends here.\n")
    };
    (1..=pages).map(page).collect()
}

fn long_rows(pages: u32) -> Vec<(String, Option<u64>)> {
    let rules = |page: u32| {
        (0..page % 9).map(move |n| (format!("Rule {n} of page {page} must be kept."), Some(u64::from(page))))
    };
    (1..=pages).flat_map(rules).collect()
}

#[test]
fn a_long_document_is_done_in_parts() {
    let engine = finished("Extract.", &[("input/long.pdf", &long_document(130))], Habits::default());
    let found: Vec<_> = engine.requirements.iter().map(|row| (row.text.clone(), row.page)).collect();
    assert_eq!(found, long_rows(130));
    let parts = engine.phases.iter().filter(|name| name.starts_with("Requirement extraction")).count();
    assert_eq!(parts, 6);
    assert_eq!(deliverables(&engine), ["output/summary_report.md"]);
}

#[test]
fn the_result_does_not_depend_on_the_habits_of_the_engine() {
    let document = long_document(45);
    let plain = finished("Extract.", &[("input/long.pdf", &document)], Habits::default());
    for habits in [
        Habits { keep_results: Some(5), ..Habits::default() },
        Habits { compact_after: Some(30), ..Habits::default() },
        Habits { max_lines: Some(50), ..Habits::default() },
        Habits { no_headers: true, ..Habits::default() },
        Habits { todos_after_system: true, ..Habits::default() },
        Habits { max_tokens: Some(900), ..Habits::default() },
    ] {
        let engine = finished("Extract.", &[("input/long.pdf", &document)], habits);
        assert_eq!(rows(&engine), rows(&plain));
        assert_eq!(engine.result, plain.result);
        for (path, text) in plain.files.iter().filter(|(path, _)| path.starts_with("output/")) {
            assert_eq!(&engine.files[path], text, "{path}");
        }
    }
}

#[test]
fn two_runs_of_a_job_are_the_same_byte_for_byte_and_no_call_id_comes_twice() {
    let run = || finished("Extract.", &[("input/policy.pdf", ENGLISH)], Habits::default());
    let (first, second) = (run(), run());
    assert_eq!(first.answers, second.answers);
    assert_eq!(first.files, second.files);
    let all = first.answers.concat();
    let mut ids: Vec<&str> = all.split("\"id\":\"call_").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[test]
fn an_unreadable_document_is_named_and_the_others_are_done() {
    let documents = [
        ("input/a.pdf", "encrypted"),
        ("input/policy.pdf", ENGLISH),
        ("input/note.txt", "All boxes must be kept shut.\n"),
    ];
    let engine = finished("Extract.", &documents, Habits::default());
    let expected = english_rows().into_iter().chain([("All boxes must be kept shut.", None)]).collect::<Vec<_>>();
    let mut found = rows(&engine);
    found.sort_unstable();
    let mut sorted = expected;
    sorted.sort_unstable();
    assert_eq!(found, sorted);
    let undelivered = engine.result.as_ref().unwrap()["undelivered"][0].as_str().unwrap();
    assert!(undelivered.contains("input/a.pdf") && undelivered.contains("encrypted"), "{undelivered}");
    assert!(engine.files["output/summary_report.md"].contains("input/a.pdf"));
}

#[test]
fn a_job_without_any_readable_document_delivers_nothing_and_says_so() {
    let engine = finished("Extract.", &[("input/a.pdf", "encrypted")], Habits::default());
    assert_eq!(deliverables(&engine), Vec::<&str>::new());
    assert!(engine.result.as_ref().unwrap()["undelivered"][0].as_str().unwrap().contains("input/a.pdf"));
    assert!(engine.requirements.is_empty());
}

#[test]
fn a_document_without_normative_sentences_is_decided_and_reported() {
    let engine = finished("Extract.", &[("input/poem.txt", "The sea is wide. The sky is high.\n")], Habits::default());
    assert!(engine.requirements.is_empty());
    assert_eq!(deliverables(&engine), ["output/summary_report.md"]);
    assert!(engine.answers.concat().contains("the rehearsal model is rule-based: "));
}

#[test]
fn a_job_without_documents_answers_with_its_own_prompt() {
    let engine = finished("Write a haiku. It must have three lines.", &[], Habits::default());
    assert!(engine.requirements.is_empty());
    assert_eq!(deliverables(&engine), ["output/answer.md", "output/summary_report.md"]);
    let answer = &engine.files["output/answer.md"];
    assert!(
        answer.contains("- Write a haiku.\n")
            && answer.contains("- It must have three lines. (normative by the word 'must')")
    );
    assert!(answer.contains(DISCLAIMER));
}

#[test]
fn what_a_refused_record_leaves_open_is_decided_by_number() {
    let refusal =
        "Error: #1: no such sentence. Of passage 1: r1 = 3. 1 of passage 1 are open: [4] \"Every department…\".";
    let habits = Habits { refuse_once: Some(("record_passage", refusal)), ..Habits::default() };
    let engine = finished("Extract.", &[("input/policy.pdf", ENGLISH)], habits);
    let again = engine.answers.iter().find(|answer| answer.contains("did not take its record"));
    assert!(again.is_some_and(|answer| answer.contains("\\\"s\\\":\\\"4\\\"")), "{again:?}");
}

#[test]
fn a_list_that_is_refused_because_it_had_no_effect_ends_the_job() {
    let refusal = "Error: todos.yaml not written: this is, word for word, the list of a phase that came to its end without an effect.";
    let habits = Habits { refuse_once: Some(("todo_write", refusal)), ..Habits::default() };
    let engine = finished("Extract.", &[("input/policy.pdf", ENGLISH)], habits);
    assert!(engine.result.is_some() && engine.requirements.is_empty(), "{:?}", engine.result);
}

#[test]
fn a_refused_document_tool_is_reported_rather_than_repeated() {
    let habits = Habits { refuse_once: Some(("chunk_document", "Error: out of memory.")), ..Habits::default() };
    let engine = finished("Extract.", &[("input/policy.pdf", ENGLISH)], habits);
    assert!(engine.result.as_ref().unwrap()["undelivered"][0].as_str().unwrap().contains("out of memory"));
}

#[test]
fn after_a_rewind_the_open_todos_are_done_and_nothing_is_lost() {
    let mut engine = Engine::new("Extract.", &[("input/long.pdf", &long_document(45))], Habits::default());
    engine.run_until(|engine| engine.current().is_some_and(|todo| todo.starts_with("Process chunks 9-12 ")));
    engine.rewind("The chunks looked wrong.");
    engine.run();
    let found: Vec<_> = engine.requirements.iter().map(|row| (row.text.clone(), row.page)).collect();
    assert_eq!(found, long_rows(45));
    assert!(engine.files["workspace.md"].contains("The chunks looked wrong."));
    assert!(
        deliverables(&engine).contains(&"output/summary_report.md"),
        "the end that is offered too early is not taken"
    );
    let again = engine.answers.iter().filter(|answer| answer.contains("chunk_001.md")).count();
    assert_eq!(again, 1, "finished todos stay finished");
}

#[test]
fn feedback_is_answered_with_a_phase_of_its_own() {
    let mut engine = finished("Extract.", &[("input/policy.pdf", ENGLISH)], Habits::default());
    engine.feed_back("Please sort by page.");
    engine.run();
    assert!(engine.files["output/feedback_1.md"].contains("Please sort by page."));
    assert!(deliverables(&engine).contains(&"output/feedback_1.md"));
    assert_eq!(rows(&engine), english_rows());
}

#[test]
fn a_document_that_comes_late_is_named_as_not_delivered() {
    let mut engine = Engine::new("Extract.", &[("input/policy.pdf", ENGLISH)], Habits::default());
    engine.run_until(|engine| engine.current().is_some_and(|todo| todo.starts_with("Read the beginning")));
    engine.files.insert("input/late.txt".to_owned(), "All boxes must be kept shut.\n".to_owned());
    engine.run();
    let undelivered = engine.result.as_ref().unwrap()["undelivered"][0].as_str().unwrap();
    assert!(undelivered.contains("input/late.txt"), "{undelivered}");
    assert_eq!(rows(&engine), english_rows());
}
