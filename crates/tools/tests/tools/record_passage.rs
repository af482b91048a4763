//! The requirements of a passage in one call.

use crate::bench::Bench;
use plumbline_engine::{Account, PassageDecision, Product};
use serde_json::{Value, json};

const TEXT: &str = "[page 1]\n\nInvoices must be kept for ten years. A definition is no duty.\n\nThe operator shall:\n\n\
                    (a) keep a log of:\n\n(i) each access;\n\n[page 2]\n\n(b) report each breach, and sign the report.\n\n\
                    Backups should be tested. Invoices must be kept for ten years.\n\nPersonal data must be erased.\n";

/// A document of one passage: sentences 1 to 9.
async fn bench() -> Bench {
    let mut bench = Bench::new().extracted("input/policy.pdf", "chunks/policy.md", TEXT);
    bench.ok("chunk_document", json!({"file_path": "input/policy.pdf"})).await;
    bench
}

fn rows(bench: &Bench) -> Vec<(Option<i32>, &str, &str, &str, &Value)> {
    let rows = bench.rows.recorded.iter().map(|known| &known.requirement);
    rows.map(|it| (it.number, &*it.text, &*it.name, &*it.priority, &it.source_location)).collect()
}

fn decision(products: &[Product]) -> &PassageDecision {
    let decisions: Vec<&PassageDecision> = products
        .iter()
        .filter_map(|product| if let Product::DecidePassage(decision) = product { Some(&**decision) } else { None })
        .collect();
    assert_eq!(decisions.len(), 1);
    decisions[0]
}

#[tokio::test]
async fn what_is_left_out_is_set_from_the_sentences() {
    let mut bench = bench().await;
    let items = json!([{"s": "1"}, {"s": 5}, {"s": "3:6", "name": "Reports"}, {"s": "7", "confidence": 0.9}]);
    let said = bench.ok("record_passage", json!({"passage": 1, "items": items})).await;
    assert_eq!(said, "passage 1: r1 = 1, r2 = 5, r3 = 3:6, r4 = 7.");
    assert_eq!(
        rows(&bench),
        [
            (
                Some(1),
                "Invoices must be kept for ten years.",
                "Invoices must be kept for ten years.",
                "high",
                &json!({"page": 1})
            ),
            (Some(2), "The operator shall: keep a log of: each access;", "each access", "high", &json!({"page": 1})),
            (
                Some(3),
                "The operator shall: report each breach, and sign the report.",
                "Reports",
                "high",
                &json!({"page": 2})
            ),
            (Some(4), "Backups should be tested.", "Backups should be tested.", "medium", &json!({"page": 2})),
        ]
    );
    let third = &bench.rows.recorded[2].requirement;
    let cited: Vec<(&Value, &Value)> =
        third.citations.as_array().unwrap().iter().map(|cited| (&cited["from"], &cited["quote"])).collect();
    assert_eq!(
        cited,
        [(&json!(6), &json!("report each breach, and sign the report.")), (&json!(3), &json!("The operator shall:"))]
    );
    assert_eq!(bench.rows.recorded[3].requirement.confidence, 0.9);
}

#[tokio::test]
async fn two_duties_of_one_sentence_have_names_of_their_own() {
    let mut bench = bench().await;
    let items = json!([
        {"s": "6", "text": "The operator shall report each breach."},
        {"s": "6", "text": "The operator shall sign the report."},
    ]);
    bench.ok("record_passage", json!({"passage": 1, "items": items})).await;
    let names: Vec<&str> = rows(&bench).iter().map(|row| row.2).collect();
    assert_eq!(names, ["The operator shall report each breach.", "The operator shall sign the report."]);
}

/// However many items a call has, it reads its passage, its document's text, and what is recorded, each once.
#[tokio::test]
async fn many_items_read_the_rows_as_often_as_one() {
    let mut reads = Vec::new();
    for items in [json!([{"s": "1"}]), json!([{"s": "1"}, {"s": "5"}, {"s": "3:6"}, {"s": "7"}, {"s": "9"}])] {
        let mut bench = bench().await;
        let before = bench.reads();
        bench.ok("record_passage", json!({"passage": 1, "items": items})).await;
        reads.push(bench.reads() - before);
    }
    assert_eq!(reads, [4, 4]);
}

#[tokio::test]
async fn answers_about_one_passage_read_it_once_until_its_document_is_cut_again() {
    let mut bench = bench().await;
    let mut reads = Vec::new();
    for s in ["1", "5"] {
        let before = bench.reads();
        bench.ok("record_passage", json!({"passage": 1, "items": [{"s": s}]})).await;
        reads.push(bench.reads() - before);
    }
    assert_eq!(reads, [4, 2], "neither the passage nor the document's text is read again");
    bench.place("chunks/policy.md", "[page 1]\n\nReports must be signed within a week.\n");
    bench.ok("chunk_document", json!({"file_path": "input/policy.pdf"})).await;
    let number = bench.rows.passages.last().unwrap().number;
    bench.ok("record_passage", json!({"passage": number, "items": [{"s": "1"}]})).await;
    assert_eq!(rows(&bench).last().unwrap().1, "Reports must be signed within a week.");
}

#[tokio::test]
async fn answers_that_go_back_to_an_earlier_passage_read_it_once() {
    let mut bench = bench().await.extracted("input/more.pdf", "chunks/more.md", TEXT);
    bench.ok("chunk_document", json!({"file_path": "input/more.pdf"})).await;
    let later = bench.rows.passages.last().unwrap().number;
    assert!(later > 1);
    let mut reads = Vec::new();
    for (passage, s) in [(later, "1"), (1, "5"), (1, "7")] {
        let before = bench.reads();
        bench.ok("record_passage", json!({"passage": passage, "items": [{"s": s}]})).await;
        reads.push(bench.reads() - before);
    }
    assert_eq!(reads, [4, 4, 2]);
}

#[tokio::test]
async fn a_wrong_item_is_named_and_the_others_are_recorded_and_nothing_is_decided() {
    let mut bench = bench().await;
    let items = json!([
        {"s": "1"}, {"s": "90"}, {"s": "6"}, {"s": "6"}, {"s": "6", "text": "The operator shall sign the report."},
        {"s": "x"}, {"s": "1-7"}
    ]);
    let done = bench.call("record_passage", json!({"passage": 1, "items": items, "rest": []})).await;
    assert!(done.is_error);
    assert_eq!(
        done.content,
        "Error: #2: `s` is 90, and the passage has sentences 1 to 9, no sentence 90; #4: names the same sentences as #3; another \
         duty needs a `text`; #6: `s` is x; give sentence numbers as \"3\", \"5-6\" or, for a lead and its entry, \"3:41\"; #7: \
         `s` names 7 sentences, at most 6 belong to one requirement; make an item of each duty. Of passage 1: r1 = 1, r2 = 6, r3 \
         = 6."
    );
    assert!(!decision(&done.products).decides);
    assert_eq!(bench.rows.recorded.len(), 3);
}

#[tokio::test]
async fn the_rest_is_decided_by_number_or_for_all_that_is_left() {
    let mut bench = bench().await;
    let rest = json!([{"s": "2-3", "why": "a definition and a lead"}, {"s": "7", "in": "#2"}, {"why": "examples, nobody is bound"}]);
    let items = json!([{"s": "99"}]);
    let failed =
        bench.call("record_passage", json!({"passage": 1, "items": items, "rest": [{"s": "7", "in": "#1"}]})).await;
    assert!(failed.content.contains("rest[0]: `in` is #1, and no item of this call"), "{}", failed.content);
    let items = json!([{"s": "1"}, {"s": "6"}]);
    let done = bench.call("record_passage", json!({"passage": 1, "items": items, "rest": rest})).await;
    let why = |text: &str| Account::Why(text.into());
    assert_eq!(
        decision(&done.products),
        &PassageDecision {
            passage: 1,
            by_number: vec![
                (2, why("a definition and a lead")),
                (3, why("a definition and a lead")),
                (7, Account::In(2))
            ],
            why: Some("examples, nobody is bound".into()),
            decides: true,
        }
    );
    for (rest, expected) in [
        (json!([{"why": "short"}]), "must have 15 characters"),
        (json!([{"s": "2"}]), "give `why` in words, or `in`"),
        (json!([{"s": "2", "why": "x", "in": "r1"}]), "not both"),
        (json!([{"in": "r1"}]), "`in` needs `s`"),
        (json!([{"s": "2", "in": "first"}]), "give \"r12\""),
    ] {
        let done = bench.call("record_passage", json!({"passage": 1, "rest": rest})).await;
        assert!(done.is_error && done.content.contains(expected), "{}", done.content);
        assert!(!decision(&done.products).decides);
    }
    let done = bench.call("record_passage", json!({"passage": 1})).await;
    assert!(!done.is_error && !decision(&done.products).decides, "{}", done.content);
    let refusal = bench.refused("record_passage", json!({"passage": 8, "items": [{"s": "1"}]})).await;
    assert!(refusal.starts_with("nothing was recorded; there is no passage 8"), "{refusal}");
}

#[tokio::test]
async fn the_same_words_at_the_same_place_are_one_and_at_another_place_another() {
    let mut bench = bench().await;
    let said = bench.ok("record_passage", json!({"passage": 1, "items": [{"s": "1"}, {"s": "8"}]})).await;
    assert_eq!(said, "passage 1: r1 = 1, r2 = 8 (same words as r1).");
    let ids: Vec<&str> = bench.rows.citations.iter().map(|citation| &*citation.id).collect();
    assert!(ids.len() == 2 && ids[0] != ids[1], "{ids:?}");
    let again =
        json!({"passage": 1, "items": [{"s": "1"}, {"s": "1, 9", "text": "Invoices must be kept for ten years."}]});
    let done = bench.call("record_passage", again).await;
    assert!(done.is_error, "{}", done.content);
    assert!(done.content.contains("Of passage 1: r1 = 1 (recorded before)."), "{}", done.content);
    let more = json!({"passage": 1, "items": [{"s": "1, 9", "text": "Invoices must be kept for ten years."}]});
    let said = bench.ok("record_passage", more).await;
    assert_eq!(said, "passage 1: r1 = 1, 9 (recorded before, quotes added).");
    assert_eq!(bench.rows.recorded.len(), 2);
    assert_eq!(bench.rows.recorded[0].requirement.citations.as_array().unwrap().len(), 2);
}
