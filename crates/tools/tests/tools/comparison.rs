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
    let call = json!({"text": text, "citations": citations, "tags": ["mine", "needs_look"]});
    // A record without a quote was refused before.
    bench.again = citations == json!([]);
    bench.ok("add_requirement", call).await;
}

#[tokio::test]
async fn a_text_is_compared_with_its_quotes_and_their_headings() {
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

#[tokio::test]
async fn the_page_of_an_entry_is_its_own_and_not_that_of_its_lead() {
    let text = "[page 2]\n\n# 3 Prospectus\n\n## 3.1 Contents\n\nThe prospectus must contain:\n\n(a) the objective of the fund;\n\n[page \
                3]\n\n(b) the fees of the fund.\n\n## 3.2 Notices\n\nA notice must be given.\n";
    let mut bench = Bench::new().extracted("input/rules.pdf", "documents/rules.md", text);
    bench.ok("chunk_document", json!({"file_path": "input/rules.pdf"})).await;
    let both = json!([{"passage": 1, "from": 3}, {"passage": 1, "from": 5}]);
    let said = bench
        .ok("add_requirement", json!({"text": "The prospectus must contain the fees of the fund.", "citations": both}))
        .await;
    let location = |bench: &Bench, row: usize| bench.rows.recorded[row].requirement.source_location.clone();
    assert!(said.ends_with("; r1: its words are on page 3, not 2; page 3 was recorded"), "{said}");
    assert_eq!(location(&bench, 0), json!({"page": 3, "section": "3.1"}), "the section is set where none is given");

    let place = json!({"page": 12, "section": "99"});
    let said =
        bench.ok("add_requirement", json!({"citations": [{"passage": 1, "from": 7}], "source_location": place})).await;
    assert!(said.contains("on page 3, not 12") && said.contains("under \"3.2 Notices\", not in section 99"), "{said}");
    assert_eq!(location(&bench, 1), json!({"page": 3, "section": "3.2"}));

    let fields = json!({"source_location": {"section": "3.2.1", "page": 2}});
    let said =
        bench.ok("update_requirement", json!({"id": id(&bench, 1), "fields": fields, "reason": "a clause"})).await;
    assert!(said.contains("on page 3, not 2"), "{said}");
    assert_eq!(location(&bench, 1), json!({"page": 3, "section": "3.2.1"}));
}

#[tokio::test]
async fn requirements_from_before_the_tags_are_compared_when_the_job_asks_for_its_end() {
    let mut bench = bench().await;
    record(&mut bench, "The log need not be signed by the auditor.", at(6)).await;
    record(&mut bench, "The prospectus must name the fees.", at(4)).await;
    for row in &mut bench.rows.recorded {
        row.requirement.tags = vec!["mine".to_owned()];
    }
    bench.ok("job_complete", json!({})).await;
    assert_eq!((tags(&bench, 0), tags(&bench, 1)), (vec!["mine"], vec!["mine"]));
    bench.compares = true;
    bench.ok("job_complete", json!({})).await;
    assert_eq!((tags(&bench, 0), tags(&bench, 1)), (vec!["mine", "needs_look"], vec!["mine"]));
}
