//! A job's operations on its own records: list, correct and withdraw.

use crate::bench::Bench;
use plumbline_engine::{Product, RecordedRequirement};
use serde_json::{Value, json};

const TEXT: &str = "[page 1]\n\nInvoices must be kept for ten years.\n\n[page 2]\n\nBackups shall be tested.\n";
const SENTENCE: &str = "Invoices must be kept for ten years.";
const BACKUPS: &str = "Backups shall be tested.";

async fn bench() -> (Bench, [String; 2]) {
    let mut bench = Bench::new().extracted("input/policy.pdf", "chunks/policy.md", TEXT);
    for (quote, name) in [(SENTENCE, "Retention"), (BACKUPS, "Tests of backups")] {
        let arguments =
            json!({"name": name, "priority": "high", "citations": [{"source": "policy.pdf", "quote": quote}]});
        bench.ok("add_requirement", arguments).await;
    }
    let ids = [0, 1].map(|at: usize| bench.rows.recorded[at].requirement.candidate_id.clone());
    (bench, ids)
}

fn row(bench: &Bench, at: usize) -> &RecordedRequirement {
    &bench.rows.recorded[at]
}

#[tokio::test]
async fn the_list_is_compact_and_continues_where_it_ended() {
    let (mut bench, [first, second]) = bench().await;
    let all = bench.ok("list_requirements", json!({})).await;
    let expected = format!(
        "2 recorded\nr1 {first} | p. 1 | functional | high | Retention\nr2 {second} | p. 2 | functional | high | Tests of backups"
    );
    assert_eq!(all, expected);
    let one = bench.ok("list_requirements", json!({"limit": 1})).await;
    assert!(one.ends_with("| Retention\n1 more; go on with {\"after\": \"r1\"}"), "{one}");
    let rest = bench.ok("list_requirements", json!({"after": first, "document": "policy.pdf"})).await;
    assert_eq!(rest, format!("2 recorded; 2 of them here\nr2 {second} | p. 2 | functional | high | Tests of backups"));
    let refusal = bench.refused("list_requirements", json!({"after": "req_000000000000"})).await;
    assert_eq!(refusal, "`after` is req_000000000000, which is not in this list");
}

#[tokio::test]
async fn the_list_of_a_passage_is_what_begins_in_its_chunk() {
    let (mut bench, [first, second]) = bench().await;
    let chunk = |text: &str| format!("<!-- source: input/policy.pdf | pages: 1 -->\n\n{text}\n");
    for (path, text) in [("chunks/chunk_001.md", SENTENCE), ("chunks/chunk_002.md", BACKUPS)] {
        bench.place(path, &chunk(text));
    }
    let of = bench.ok("list_requirements", json!({"passages": "2"})).await;
    assert!(of.starts_with("2 recorded; 1 of them here\n") && of.contains(&second) && !of.contains(&first), "{of}");
    let both = bench.ok("list_requirements", json!({"passages": "1-2"})).await;
    assert!(both.starts_with("2 recorded; 2 of them here\n"), "{both}");
    let refusal = bench.refused("list_requirements", json!({"passages": "9"})).await;
    assert_eq!(refusal, "there is no chunk 9; chunks/manifest.json lists them");
}

#[tokio::test]
async fn an_update_keeps_the_id_and_what_is_not_named() {
    let (mut bench, [first, _]) = bench().await;
    let fields =
        json!({"priority": "low", "text": "Invoices may go after ten years.", "source_location": {"section": "4"}});
    let said =
        bench.ok("update_requirement", json!({"id": first, "fields": fields, "reason": "the sentence says may"})).await;
    assert_eq!(said, format!("updated {first}: Retention (priority, source_location, text)"));
    let now = &row(&bench, 0).requirement;
    assert_eq!((now.candidate_id.as_str(), now.priority.as_str(), now.name.as_str()), (&*first, "low", "Retention"));
    assert_eq!(now.source_location, json!({"page": 1, "section": "4"}));
    assert_eq!(now.citations[0]["quote"], SENTENCE);
    let said =
        bench.ok("update_requirement", json!({"id": first, "fields": {"priority": "low"}, "reason": "again"})).await;
    assert_eq!(said, format!("{first} says that already; nothing changed"));
    for known in [SENTENCE, "Invoices may go after ten years."] {
        let said = bench.ok("add_requirement", json!({"text": known})).await;
        assert_eq!(said, format!("already recorded as {first}; nothing changed"), "{known}");
    }
    let fields = json!({"text": BACKUPS});
    let refusal =
        bench.refused("update_requirement", json!({"id": first, "fields": fields, "reason": "the same"})).await;
    assert!(refusal.contains("has this text already"), "{refusal}");
}

#[tokio::test]
async fn the_quotes_of_an_update_are_verified() {
    let (mut bench, [first, _]) = bench().await;
    let with =
        |citations: Value| json!({"id": first, "fields": {"citations": citations}, "reason": "the better place"});
    let wrong = with(json!([{"source": "policy.pdf", "quote": "Invoices may be burnt."}]));
    let refusal = bench.refused("update_requirement", wrong).await;
    assert!(refusal.starts_with("nothing was changed; citations[0]: the quote does not occur"), "{refusal}");
    let right = with(json!([{"source": "policy.pdf", "page": 1, "quote": BACKUPS}]));
    let said = bench.ok("update_requirement", right).await;
    assert!(said.contains("the quote is on page 2, not 1"), "{said}");
    let now = &row(&bench, 0).requirement;
    assert_eq!((&now.citations[0]["quote"], &now.source_location["page"]), (&json!(BACKUPS), &json!(2)));
    for nothing in [json!({}), json!({"colour": "red"}), json!({"name": ""}), json!({"type": "wish"})] {
        let refusal =
            bench.refused("update_requirement", json!({"id": first, "fields": nothing, "reason": "no"})).await;
        assert!(refusal.contains("do not fit"), "{nothing}: {refusal}");
    }
}

#[tokio::test]
async fn a_short_id_names_a_record_wherever_an_id_does() {
    let (mut bench, [first, second]) = bench().await;
    let fields = json!({"priority": "low"});
    let said = bench.ok("update_requirement", json!({"id": "R1", "fields": fields, "reason": "says may"})).await;
    assert_eq!(said, format!("updated {first}: Retention (priority)"));
    let rest = bench.ok("list_requirements", json!({"after": "r1"})).await;
    assert_eq!(rest, format!("2 recorded\nr2 {second} | p. 2 | functional | high | Tests of backups"));
    let said = bench.ok("withdraw_requirement", json!({"id": "r2", "reason": "not wanted"})).await;
    assert_eq!(said, format!("withdrawn {second}: Tests of backups"));
    let refusal = bench.refused("withdraw_requirement", json!({"id": "r7", "reason": "not wanted"})).await;
    assert!(refusal.starts_with("this job has recorded no requirement r7"), "{refusal}");
}

#[tokio::test]
async fn quotes_are_added_to_those_that_are_there() {
    let (mut bench, [first, _]) = bench().await;
    let more = json!({"citations": {"add": [{"source": "policy.pdf", "quote": BACKUPS}]}});
    let add = json!({"id": first, "fields": more, "reason": "said again there"});
    assert!(bench.ok("update_requirement", add.clone()).await.starts_with(&format!("updated {first}")));
    let now = &row(&bench, 0).requirement;
    let quotes: Vec<&Value> = now.citations.as_array().unwrap().iter().map(|cited| &cited["quote"]).collect();
    assert_eq!((quotes, &now.source_location["page"]), (vec![&json!(SENTENCE), &json!(BACKUPS)], &json!(1)));
    let said = bench.ok("update_requirement", add).await;
    assert_eq!(said, format!("{first} says that already; nothing changed"));
    let wrong = json!({"citations": {"add": [{"source": "policy.pdf", "quote": "Burn the invoices at once."}]}});
    let refusal = bench.refused("update_requirement", json!({"id": first, "fields": wrong, "reason": "no more"})).await;
    assert!(refusal.contains("citations[0]: the quote does not occur"), "{refusal}");
}

#[tokio::test]
async fn a_withdrawn_record_is_listed_nowhere_and_may_be_made_again() {
    let (mut bench, [first, second]) = bench().await;
    let said = bench.ok("withdraw_requirement", json!({"id": first, "reason": "a definition"})).await;
    assert_eq!((said, row(&bench, 0).status.as_str()), (format!("withdrawn {first}: Retention"), "withdrawn"));
    let list = bench.ok("list_requirements", json!({})).await;
    assert!(
        list.starts_with("1 recorded, 1 withdrawn\n") && list.contains(&second) && !list.contains(&first),
        "{list}"
    );
    let refusal = bench.refused("withdraw_requirement", json!({"id": first, "reason": "again"})).await;
    assert_eq!(refusal, format!("{first} is withdrawn already; record it anew if it holds after all"));
    bench.again = true;
    let said = bench.ok("add_requirement", json!({"text": SENTENCE, "name": "It holds"})).await;
    assert!(said.starts_with("recorded req_"), "{said}");
    let said = bench.ok("update_requirement", json!({"id": first, "fields": {"name": "Yes"}, "reason": "short"})).await;
    assert_eq!((said, bench.rows.recorded.len()), (format!("updated {first}: Yes (name)"), 3));
}

#[tokio::test]
async fn only_what_is_pending_and_ones_own_is_changed() {
    let (mut bench, [first, _]) = bench().await;
    bench.rows.recorded[0].status = "validating".into();
    let refusal = bench.refused("withdraw_requirement", json!({"id": first, "reason": "too late"})).await;
    assert_eq!(
        refusal,
        format!("{first} is validating: a validator has taken it, and only what is pending can be changed")
    );
    let unknown = json!({"id": "req_000000000000", "fields": {"name": "x"}, "reason": "no such"});
    let refusal = bench.refused("update_requirement", unknown).await;
    assert_eq!(refusal, "this job has recorded no requirement req_000000000000; list_requirements gives their ids");
}

#[tokio::test]
async fn calls_of_one_answer_see_what_those_before_them_did() {
    let mut bench = Bench::new();
    let text = "Visitors must not enter the archive.";
    let id = {
        bench.ok("add_requirement", json!({"text": text})).await;
        bench.rows.recorded.remove(0).requirement.candidate_id
    };
    let calls = [
        ("add_requirement", json!({"text": text})),
        (
            "update_requirement",
            json!({"id": id, "fields": {"text": "Guests must not enter the archive."}, "reason": "the word"}),
        ),
        ("add_requirement", json!({"text": text})),
        ("withdraw_requirement", json!({"id": id, "reason": "no duty of ours"})),
        ("list_requirements", json!({})),
        ("add_requirement", json!({"text": text})),
    ];
    let done = bench.turn(&calls).await;
    let said: Vec<&str> = done.iter().map(|done| done.content.as_str()).collect();
    assert_eq!(said[2], format!("already recorded as {id}; nothing changed"), "{said:?}");
    assert_eq!(said[4], "0 recorded, 1 withdrawn", "{said:?}");
    assert!(said[5].starts_with("recorded "), "{said:?}");
    let changes = done.iter().flat_map(|done| &done.products);
    assert_eq!(changes.filter(|product| matches!(product, Product::ChangeRequirement(_))).count(), 2);
}

/// `job_complete` belongs to the engine; only the names in its deliverables are checked here.
#[tokio::test]
async fn a_deliverable_names_no_requirement_that_is_not_there() {
    let (mut bench, [first, second]) = bench().await;
    bench.ok("withdraw_requirement", json!({"id": second, "reason": "a recommendation"})).await;
    bench.place("output/good.md", &format!("{first} stands, {second} was withdrawn."));
    bench.place("output/bad.md", &format!("{first} and req_0123456789ab are what matters."));
    let good = bench.ok("job_complete", json!({"deliverables": ["output/good.md", "output/none.md"]})).await;
    assert_eq!(good, "");
    let refusal = bench.refused("job_complete", json!({"deliverables": ["output/good.md", "output/bad.md"]})).await;
    assert!(refusal.contains("output/bad.md names req_0123456789ab, which this job never recorded"), "{refusal}");
    assert!(!refusal.contains(&first), "{refusal}");
}
