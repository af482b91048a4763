//! `add_requirement`: complete rows, verified evidence, no duplicates.

use crate::bench::Bench;
use plumbline_engine::{PassageState, Requirement};
use serde_json::{Value, json};

const TEXT: &str = "[page 1]\n\nInvoices must be kept for ten years.\n\n[page 2]\n\nBackups shall be tested.\n";
const SENTENCE: &str = "Invoices must be kept for ten years.";

fn bench() -> Bench {
    Bench::new().extracted("input/policy.pdf", "chunks/policy.md", TEXT)
}

fn evidence(quote: &str) -> Value {
    json!({"source": "policy.pdf", "quote": quote})
}

#[tokio::test]
async fn the_whole_row() {
    let mut bench = bench();
    let said = bench
        .ok(
            "add_requirement",
            json!({
                "text": format!(" {SENTENCE} "), "name": "Retention of invoices", "type": "compliance", "priority": "high",
                "source_document": "policy.pdf", "source_location": {"section": "2.1", "article": 14},
                "citations": [evidence(SENTENCE)], "gobd_relevant": true, "mentioned_objects": ["Invoice"],
                "mentioned_messages": ["InvoicePosted"], "reasoning": "must", "research_notes": "none",
                "confidence": 0.9, "tags": ["retention"]
            }),
        )
        .await;
    let row = bench.rows.recorded[0].requirement.clone();
    assert_eq!(said, format!("recorded {}: Retention of invoices (1 citation verified), r1", row.candidate_id));
    assert!(row.candidate_id.starts_with("req_") && row.candidate_id.len() == 16);
    let expected = Requirement {
        number: Some(1),
        candidate_id: row.candidate_id.clone(),
        content_key: row.content_key.clone(),
        text: SENTENCE.into(),
        name: "Retention of invoices".into(),
        r#type: "compliance".into(),
        priority: "high".into(),
        source_document: Some("input/policy.pdf".into()),
        source_location: json!({"section": "2.1", "article": 14, "page": 1}),
        gobd_relevant: true,
        gdpr_relevant: false,
        citations: json!([{"source": "input/policy.pdf", "page": 1, "page_to": null, "quote": SENTENCE, "verified": true}]),
        mentioned_objects: vec!["Invoice".into()],
        mentioned_messages: vec!["InvoicePosted".into()],
        reasoning: Some("must".into()),
        research_notes: Some("none".into()),
        confidence: 0.9,
        tags: vec!["retention".into()],
    };
    assert_eq!(row, expected);
    assert_eq!(row.content_key.len(), 32);
    assert_eq!(bench.rows.citations.len(), 1);
}

#[tokio::test]
async fn what_is_left_out_is_derived() {
    let mut bench = bench();
    bench.again = true;
    bench
        .ok(
            "write_requirement_to_db",
            json!({"text": "Backups shall be tested.", "citations": [evidence("Backups shall be tested.")]}),
        )
        .await;
    let row = &bench.rows.recorded[0].requirement;
    assert_eq!(
        (row.name.as_str(), row.r#type.as_str(), row.priority.as_str()),
        ("Backups shall be tested.", "functional", "medium")
    );
    assert_eq!(row.source_document.as_deref(), Some("input/policy.pdf"));
    assert_eq!(row.source_location, json!({"page": 2}));
    let said = bench.ok("add_requirement", json!({"text": "A requirement from nowhere."})).await;
    assert!(said.contains("(unverified, it has no citation)"), "{said}");
    assert_eq!(bench.rows.recorded[1].requirement.source_location, json!({}));
    assert_eq!(bench.rows.recorded[1].requirement.citations, json!([]));
}

#[tokio::test]
async fn the_same_text_is_recorded_once() {
    let mut bench = bench();
    bench.again = true;
    bench.ok("add_requirement", json!({"text": SENTENCE})).await;
    let id = bench.rows.recorded[0].requirement.candidate_id.clone();
    for again in [SENTENCE.to_string(), format!("  {}\n", SENTENCE.replace(' ', "\n "))] {
        let refusal =
            bench.refused("add_requirement", json!({"text": again, "citations": [evidence("wrong words here")]})).await;
        assert!(refusal.contains("nothing was recorded; citations[0]: the quote does not occur"), "{refusal}");
        let done = bench.call("add_requirement", json!({"text": again})).await;
        assert_eq!(
            (done.is_error, done.content.as_str()),
            (false, format!("already recorded as {id}; nothing changed").as_str())
        );
        assert_eq!(done.products, []);
    }
    // A row without a quote gets its first one.
    let said = bench.ok("add_requirement", json!({"text": SENTENCE, "citations": [evidence(SENTENCE)]})).await;
    assert_eq!(said, format!("already recorded as {id}; 1 quote was added to it"));
    let row = &bench.rows.recorded[0].requirement;
    assert_eq!(
        (row.citations[0]["quote"].as_str(), row.source_document.as_deref()),
        (Some(SENTENCE), Some("input/policy.pdf"))
    );
    let turn = bench
        .turn(&[
            ("add_requirement", json!({"text": "Within one turn too."})),
            ("add_requirement", json!({"text": "Within one  turn too."})),
        ])
        .await;
    assert!(turn[1].content.starts_with("already recorded as req_"), "{}", turn[1].content);
}

#[tokio::test]
async fn evidence_by_id_and_by_quote() {
    let mut bench = bench();
    bench.ok("cite", json!({"source": "policy.pdf", "quote": SENTENCE})).await;
    let id = bench.rows.citations[0].id.clone();
    let said = bench
        .ok("add_requirement", json!({"text": SENTENCE, "citations": [id, evidence("Backups shall be tested.")]}))
        .await;
    assert!(said.contains("(2 citations verified)"), "{said}");
    let pages: Vec<&Value> = bench.rows.recorded[0]
        .requirement
        .citations
        .as_array()
        .unwrap()
        .iter()
        .map(|citation| &citation["page"])
        .collect();
    assert_eq!(pages, [&json!(1), &json!(2)]);
}

#[tokio::test]
async fn one_wrong_quote_refuses_the_whole() {
    let mut bench = bench();
    let arguments =
        json!({"text": SENTENCE, "citations": [evidence(SENTENCE), evidence("Invoices must be kept for six years.")]});
    let refusal = bench.refused("add_requirement", arguments).await;
    assert!(
        refusal.starts_with("nothing was recorded; citations[1]: the quote does not occur in input/policy.pdf"),
        "{refusal}"
    );
    assert!(refusal.contains("on page 1") && refusal.contains("kept for ten years"), "{refusal}");
    let refusal = bench.refused("add_requirement", json!({"text": SENTENCE, "citations": ["cit_00000000"]})).await;
    assert!(refusal.contains("there is no citation cit_00000000; cite the quote first"), "{refusal}");
}

#[tokio::test]
async fn lesson_58_wrong_values_are_answered_with_the_valid_ones() {
    let text = "A requirement of some length.";
    for (arguments, says) in [
        (json!({}), "`text` may be left out only where there is exactly one citation"),
        (json!({"text": "short"}), "`text` must have at least 10 characters"),
        (json!({"text": "   a           "}), "`text` has fewer than 10 characters besides white space"),
        (json!({"text": "x".repeat(10_001)}), "`text` has 10001 characters, at most 10000 are allowed"),
        (json!({"text": text, "name": "n".repeat(81)}), "`name` has 81 characters, at most 80 are allowed"),
        (
            json!({"text": text, "type": "legal"}),
            "`type` is \"legal\", expected one of functional, non_functional, compliance, constraint",
        ),
        (json!({"text": text, "priority": "urgent"}), "`priority` is \"urgent\", expected one of high, medium, low"),
        (json!({"text": text, "confidence": 95}), "`confidence` is 95, expected at most 1"),
        (json!({"text": text, "source_location": {"page": 0}}), "`source_location.page` is 0, expected at least 1"),
        (
            json!({"text": text, "source_location": {"line": 3}}),
            "`source_location.line` is not a parameter, known are article, page, paragraph, section",
        ),
        (
            json!({"text": text, "citations": ["page 3"]}),
            "`citations[0]` is \"page 3\", expected sentences of a passage by their numbers, {passage, from, to}",
        ),
        (
            json!({"text": text, "source_document": "other.pdf"}),
            "`other.pdf` is no document of this job; its documents are input/policy.pdf",
        ),
        (json!({"txt": text}), "`txt` is not a parameter"),
    ] {
        for tool in ["add_requirement", "write_requirement_to_db"] {
            let refusal = bench().refused(tool, arguments.clone()).await;
            assert!(refusal.contains(says), "{tool} {arguments}: {refusal}");
        }
    }
}

#[tokio::test]
async fn the_same_words_at_two_places_are_two_requirements() {
    let text = "Visitors must sign in.\n\nThis is a heading of its own\n\nVisitors must sign in.\n";
    let mut bench = Bench::new().extracted("input/a.md", "chunks/a.md", text);
    bench.ok("chunk_document", json!({"file_path": "input/a.md"})).await;
    let first = bench.ok("add_requirement", json!({"citations": [{"passage": 1, "from": 1}]})).await;
    let second = bench.ok("add_requirement", json!({"citations": [{"passage": 1, "from": 3}]})).await;
    let id = &bench.rows.recorded[0].requirement.candidate_id;
    assert!(
        first.ends_with(", r1") && second.ends_with(&format!("; the same words as {id}, at another place")),
        "{second}"
    );
    let again = bench.call("add_requirement", json!({"citations": [{"passage": 1, "from": 3}]})).await;
    assert!(again.content.ends_with("nothing changed") && again.products.is_empty(), "{}", again.content);
    assert_eq!(bench.rows.recorded.len(), 2);
    let cited: Vec<(&str, i32)> =
        bench.rows.citations.iter().filter_map(|cited| Some((cited.id.as_str(), cited.place?.from))).collect();
    assert!(matches!(cited[..], [(one, 1), (other, 3)] if one != other), "{cited:?}");
}

#[tokio::test]
async fn a_record_without_a_quote_is_refused_once_with_the_nearest_sentences_that_were_shown() {
    let text = "Visitors must sign in.\n\nThe guard must keep the book of visitors for a year.\n";
    let mut bench = Bench::new().extracted("input/a.md", "chunks/a.md", text);
    bench.ok("chunk_document", json!({"file_path": "input/a.md"})).await;
    let call = json!({"text": "The book of visitors has to be kept.", "confidence": 0.9});
    let refused = bench.call("add_requirement", call.clone()).await;
    assert!(refused.is_error && refused.taken_again && refused.products.is_empty());
    assert!(!refused.content.contains("nearest"), "nothing was shown yet: {}", refused.content);
    bench.rows.passages[0].state = PassageState::Read;
    let refused = bench.call("add_requirement", call.clone()).await;
    let nearest = "shown: {\"passage\": 1, \"from\": 2} \"The guard must keep the book of visitors for a year.\"";
    assert!(refused.content.contains(nearest), "{}", refused.content);
    bench.again = true;
    let said = bench.ok("add_requirement", call).await;
    assert!(said.contains("(unverified, it has no citation), r1"), "{said}");
    assert_eq!(bench.rows.recorded[0].requirement.confidence, 0.5);
}
