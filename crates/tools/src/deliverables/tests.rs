//! Rendering of rows.

use super::{Rows, SUMMARY_REPORT, render};
use plumbline_engine::{
    Account, AnsweredPassage, Candidate, Decision, FileIndex, FileMeta, Passage, PassageState, Product,
    RecordedRequirement, Requirement, Source,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn recorded(id: &str, name: &str, place: Value, status: &str) -> RecordedRequirement {
    let quote =
        json!({"source": "input/a.pdf", "page": 2, "page_to": null, "quote": "It must be kept.", "verified": true});
    RecordedRequirement {
        status: status.into(),
        requirement: Requirement {
            number: Some(1),
            candidate_id: id.into(),
            content_key: vec![1],
            text: format!("{name}, and it must be kept."),
            name: name.into(),
            r#type: "compliance".into(),
            priority: "high".into(),
            source_document: Some("input/a.pdf".into()),
            source_location: place,
            gobd_relevant: true,
            gdpr_relevant: false,
            citations: json!([quote]),
            mentioned_objects: vec!["Invoice".into()],
            mentioned_messages: Vec::new(),
            reasoning: Some("It says must.".into()),
            research_notes: None,
            confidence: 0.9,
            tags: Vec::new(),
        },
    }
}

fn three() -> Vec<RecordedRequirement> {
    vec![
        recorded("req_00000000000b", "Later", json!({"page": 3, "section": "2 Records"}), "pending"),
        recorded("req_00000000000a", "Retention", json!({"page": 2, "section": "2 Records"}), "pending"),
        recorded("req_00000000000c", "No duty", json!({"page": 1}), "withdrawn"),
    ]
}

fn files(recorded: &[RecordedRequirement], report: Option<&str>, index: &FileIndex) -> Vec<(String, Option<String>)> {
    let source = Source { path: "input/a.pdf".into(), size: 9, pages: Some(8), text_path: None, ..Source::default() };
    let (passages, records, sources) = (&[][..], &BTreeMap::new(), &[source][..]);
    written(&Rows { recorded, sources, passages, records, files: index, report })
}

fn written(rows: &Rows<'_>) -> Vec<(String, Option<String>)> {
    let file = |product| match product {
        Product::WriteFile(file) => (file.path, Some(String::from_utf8(file.content).unwrap())),
        Product::DeleteFile { path } => (path, None),
        other => panic!("{other:?}"),
    };
    render(rows).products.into_iter().map(file).collect()
}

fn text<'a>(files: &'a [(String, Option<String>)], path: &str) -> &'a str {
    files.iter().find(|(known, _)| known == path).and_then(|(_, text)| text.as_deref()).unwrap()
}

#[test]
fn the_lists_are_sorted_by_document_section_and_page() {
    let files = files(&three(), None, &FileIndex::new());
    let list: Vec<Value> = serde_json::from_str(text(&files, "output/requirements.json")).unwrap();
    let ids: Vec<&str> = list.iter().filter_map(|requirement| requirement["id"].as_str()).collect();
    assert_eq!(ids, ["req_00000000000a", "req_00000000000b"], "by page, without what was withdrawn");
    assert_eq!(list[0]["citations"][0]["quote"], "It must be kept.");
    let table = text(&files, "output/requirements.csv");
    let retention = "req_00000000000a,Retention,\"Retention, and it must be kept.\",compliance,high,input/a.pdf,2,2 Records,\
                     It must be kept.,1,true,false,0.9,";
    assert_eq!(table.lines().nth(1), Some(retention));
    let markdown = text(&files, "output/requirements.md");
    let at = |what: &str| markdown.find(what).unwrap_or_else(|| panic!("{what} is missing in {markdown}"));
    assert!(at("## input/a.pdf") < at("### 2 Records") && at("### 2 Records") < at("#### req_00000000000a Retention"));
    assert_eq!(markdown.matches("### 2 Records").count(), 1);
    let page = text(&files, "requirements/req_00000000000a.md");
    assert!(
        page.contains("compliance · high · page 2 · GoBD · confidence 0.9") && page.contains("It says must."),
        "{page}"
    );
    assert!(page.contains("> input/a.pdf, page 2") && page.contains("Objects: Invoice"), "{page}");
}

#[test]
fn the_figures_of_the_report_match_the_rows_and_appear_once() {
    let report = "# Report\n\n[figures]\n\nNothing contradicts itself.\n";
    let once = files(&three(), Some(report), &FileIndex::new());
    let once = text(&once, SUMMARY_REPORT);
    for figure in
        ["| pages | 8 |", "| requirements | 2 |", "| of type compliance | 2 |", "| withdrawn | 1 |", "| quotes | 2 |"]
    {
        assert!(once.contains(figure), "{figure} is missing in {once}");
    }
    assert!(!once.contains("[figures]") && once.ends_with("Nothing contradicts itself.\n"), "{once}");
    let mut fewer = three();
    fewer[0].status = "withdrawn".into();
    let again = files(&fewer, Some(once), &FileIndex::new());
    let again = text(&again, SUMMARY_REPORT);
    assert!(again.contains("| requirements | 1 |") && again.matches("| requirements |").count() == 1, "{again}");
    let without = files(&three(), Some("# Report\n\nAll is well.\n"), &FileIndex::new());
    assert!(text(&without, SUMMARY_REPORT).starts_with("# Report\n\nAll is well.\n\n## Figures\n"));
    let nothing = files(&[], Some(report), &FileIndex::new());
    let zero = text(&nothing, SUMMARY_REPORT);
    assert!(zero.contains("| requirements | 0 |") && !zero.contains("[figures]"), "{zero}");
    assert_eq!(nothing.len(), 1, "and no empty lists");
}

#[test]
fn pages_of_what_was_withdrawn_go_and_what_others_wrote_stays() {
    let facts = FileMeta { size: 1, placeholder: false };
    let paths = ["requirements/req_00000000000c.md", "requirements/req_00000000000a.md", "requirements/notes.md"];
    let index: FileIndex = paths.map(|path| (path.to_owned(), facts)).into();
    let deleted: Vec<String> =
        files(&three(), None, &index).into_iter().filter(|(_, text)| text.is_none()).map(|(path, _)| path).collect();
    assert_eq!(deleted, ["requirements/req_00000000000c.md"]);
    assert_eq!(files(&[], None, &index), [], "a job that recorded nothing delivers no empty lists");
}

#[test]
fn each_candidate_is_listed_with_what_it_led_to() {
    let candidate = |(sentence, text, cited): (i32, &str, bool)| Candidate {
        sentence,
        text: text.into(),
        cited_step: cited.then_some(4),
        ..Candidate::default()
    };
    let first = [(2, "It must be kept.", true), (5, "The holder must:", true), (6, "A | B shall be shown.", false)];
    let decision = Decision { s: 6, account: Account::Why("a heading".into()), step: 4 };
    let closed = Passage {
        pages: Some((2, 3)),
        candidates: first.map(candidate).to_vec(),
        decisions: vec![decision],
        state: PassageState::Answered,
        answered_by: Some(AnsweredPassage::Recorded),
        ..Passage::unread(7, "input/a.pdf", 2)
    };
    let open = Passage {
        candidates: vec![candidate((1, "Visitors must\nsign.", false))],
        ..Passage::unread(9, "input/a.pdf", 1)
    };
    let records = BTreeMap::from([((7, 2), vec![1, 12])]);
    let (passages, files) = ([&closed, &open], FileIndex::new());
    let rows =
        Rows { recorded: &[], sources: &[], passages: &passages, records: &records, files: &files, report: None };
    let written = written(&rows);
    assert_eq!(written.len(), 1, "without requirements there is no other list");
    let lines: Vec<&str> =
        text(&written, "candidates/candidates.md").lines().filter(|line| line.contains(':')).collect();
    assert_eq!(
        lines,
        [
            "The sentences that are likely to oblige somebody: 4, of which requirements cover 2. The number is that of the \
             passage, then that of the sentence in it.",
            "| 9:1 | passage 1 | Visitors must sign. | open |",
            "| 7:2 | pages 2 to 3 | It must be kept. | r1, r12 |",
            "| 7:5 | pages 2 to 3 | The holder must: | its entries |",
            "| 7:6 | pages 2 to 3 | A \\| B shall be shown. | none: a heading |",
        ]
    );
}
