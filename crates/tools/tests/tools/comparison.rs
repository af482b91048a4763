//! The tags `needs_look` and `translated`, as tools record, change and withdraw requirements.

use crate::bench::Bench;
use serde_json::{Value, json};

const TEXT: &str = "[page 1]\n\n# 3 Prospectus\n\nThe Fund Manager must ensure that the prospectus contains:\n\n(a) the investment \
                    objective;\n\n(b) the fees.\n\nInvoices must be kept for 10 years and must not be changed.\n\n[page 2]\n\nThe log \
                    shall be signed by the auditor.\n";

/// The heading is sentence 1, the lead 2, the entries 3 and 4, the invoices 5, the log 6.
async fn bench() -> Bench {
    let mut bench = Bench::new().extracted("input/rules.pdf", "documents/rules.md", TEXT);
    bench.ok("chunk_document", json!({"file_path": "input/rules.pdf"})).await;
    bench
}

fn tags(bench: &Bench, row: usize) -> Vec<&str> {
    bench.rows.recorded[row].requirement.tags.iter().map(String::as_str).collect()
}

fn at(from: u32) -> Value {
    json!([{"passage": 1, "from": from}])
}

fn id(bench: &Bench, row: usize) -> String {
    bench.rows.recorded[row].requirement.candidate_id.clone()
}

async fn record(bench: &mut Bench, text: &str, citations: Value) {
    bench.ok("add_requirement", json!({"text": text, "citations": citations, "tags": ["mine", "needs_look"]})).await;
}

#[tokio::test]
async fn a_text_is_held_against_its_quotes_and_what_they_stand_under() {
    let mut bench = bench().await;
    for (text, citations, expected) in [
        ("The Fund Manager must ensure that the prospectus contains the investment objective.", at(3), &["mine"][..]),
        ("The prospectus must name the fees.", at(4), &["mine"]),
        ("Everybody has to comply with whatever holds.", at(6), &["mine", "needs_look"]),
        ("The log need not be signed by the auditor.", at(6), &["mine", "needs_look"]),
        ("Das Protokoll muss vom Prüfer unterschrieben sein.", at(6), &["mine", "translated"]),
        ("Das Protokoll muss nicht vom Prüfer unterschrieben sein.", at(6), &["mine", "needs_look", "translated"]),
        ("The log must be signed in 3 days.", at(6), &["mine", "needs_look"]),
        ("The log must be signed, who knows why.", json!([]), &["mine", "needs_look"]),
    ] {
        record(&mut bench, text, citations).await;
        assert_eq!(tags(&bench, bench.rows.recorded.len() - 1), expected, "{text}");
    }
}

#[tokio::test]
async fn what_is_put_right_needs_no_look_any_more() {
    let mut bench = bench().await;
    record(&mut bench, "The log need not be signed by the auditor.", at(6)).await;
    let named =
        |fields: Value, bench: &Bench| json!({"id": id(bench, 0), "fields": fields, "reason": "as it is quoted"});
    let fields = named(json!({"tags": ["other"]}), &bench);
    bench.ok("update_requirement", fields).await;
    assert_eq!(tags(&bench, 0), ["other", "needs_look"], "no model takes it away");
    let fields = named(json!({"text": "The log must be signed by the auditor."}), &bench);
    bench.ok("update_requirement", fields).await;
    assert_eq!(tags(&bench, 0), ["other"]);
    let fields = named(json!({"citations": at(5)}), &bench);
    bench.ok("update_requirement", fields).await;
    assert_eq!(tags(&bench, 0), ["other", "needs_look"]);
}

#[tokio::test]
async fn what_one_leaves_out_another_of_the_sentence_may_say() {
    let mut bench = bench().await;
    record(&mut bench, "Invoices must be kept.", at(5)).await;
    assert_eq!(tags(&bench, 0), ["mine", "needs_look"], "ten years are left out");
    record(&mut bench, "Invoices must not be changed in ten years.", at(5)).await;
    assert_eq!((tags(&bench, 0), tags(&bench, 1)), (vec!["mine"], vec!["mine"]));
    let gone = json!({"id": id(&bench, 1), "reason": "it is one duty"});
    bench.ok("withdraw_requirement", gone).await;
    assert_eq!(tags(&bench, 0), ["mine", "needs_look"], "nobody says it any more");

    let both = [
        ("add_requirement", json!({"text": "Keep invoices for ten years.", "citations": at(5)})),
        ("add_requirement", json!({"text": "Invoices must not be changed.", "citations": at(5)})),
    ];
    let mut fresh = self::bench().await;
    for done in fresh.turn(&both).await {
        done.products.into_iter().for_each(|product| fresh.commit(product));
    }
    assert_eq!((tags(&fresh, 0), tags(&fresh, 1)), (vec![], vec![]), "in one answer as well");
}

#[tokio::test]
async fn a_document_that_is_cut_tells_what_its_quotes_stand_under() {
    let mut bench = Bench::new().extracted("input/rules.pdf", "documents/rules.md", TEXT);
    let quote = json!([{"source": "rules.pdf", "quote": "the investment objective;"}]);
    record(&mut bench, "The Fund Manager must ensure that the prospectus contains the investment objective.", quote)
        .await;
    assert_eq!(tags(&bench, 0), ["mine", "needs_look"]);
    bench.ok("chunk_document", json!({"file_path": "input/rules.pdf"})).await;
    assert_eq!(tags(&bench, 0), ["mine"]);
}
