//! What the rows become.

use super::{Rows, SUMMARY_REPORT, render};
use plumbline_engine::{FileIndex, FileMeta, Product, RecordedRequirement, Requirement, Source};
use serde_json::{Value, json};

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
    let rendered = render(&Rows { recorded, sources: &[source], files: index, report });
    let file = |product| match product {
        Product::WriteFile(file) => (file.path, Some(String::from_utf8(file.content).unwrap())),
        Product::DeleteFile { path } => (path, None),
        other => panic!("{other:?}"),
    };
    rendered.products.into_iter().map(file).collect()
}

fn text<'a>(files: &'a [(String, Option<String>)], path: &str) -> &'a str {
    files.iter().find(|(known, _)| known == path).and_then(|(_, text)| text.as_deref()).unwrap()
}

#[test]
fn the_lists_hold_what_stands_by_document_section_and_page() {
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
fn the_figures_of_the_report_are_the_rows_and_stand_once() {
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
