//! The validator's tools: what they give, judge and refuse, and the script they write without a graph.

use crate::validation_queue::{Rows, known, ok, refused, row, turn};
use plumbline_engine::{HeldRequirement, KnownRequirement, Verdict, place_of};
use plumbline_tools::{Graph, ToolContext};
use serde_json::{Value, json};

pub(crate) const INVOICES: &str = "Invoices must be kept for ten years.";

pub(crate) fn rows(held: Vec<HeldRequirement>) -> Rows {
    Rows { held, ..Rows::default() }
}

pub(crate) fn id(row: &HeldRequirement) -> String {
    row.id.to_string()
}

#[tokio::test]
async fn without_a_graph_a_sound_requirement_is_accepted_and_written_as_a_script() {
    let rows = rows(vec![row(1, INVOICES), row(2, "Backups must be tested.")]);
    let claimed: Value =
        serde_json::from_str(&ok(&rows, Graph::Off, "next_requirement", json!({"count": 2})).await).unwrap();
    let first = &claimed["requirements"][0];
    assert_eq!(first["id"], "r1", "its short id");
    assert_eq!((&first["faults"], &first["objects"]), (&Value::Null, &json!(["Invoices", "Spaceship"])));
    let relations = json!([{"type": "IMPACTS_OBJECT", "target": "Invoices"}]);
    let calls = [
        ("integrate_requirement", json!({"id": id(&rows.held[0]), "relations": relations})),
        ("integrate_requirement", json!({"id": id(&rows.held[1])})),
        ("integrate_requirement", json!({"id": id(&rows.held[0])})),
        ("next_requirement", json!({"count": 10})),
    ];
    let done = turn(&rows, Graph::Off, &calls).await;
    assert!(done[2].is_error && done[2].content.contains("judged earlier in this turn"), "{}", done[2].content);
    assert!(done[3].content.starts_with(
        "no pending requirement. Judged by this job: 0 integrated, 2 accepted (integration is switched off"
    ));
    let judged = rows.judgements.lock().unwrap();
    assert!(
        judged
            .iter()
            .all(|done| done.verdict == Verdict::Accepted && done.validation_result["integration"] == "switched off")
    );
    assert_eq!(judged[0].validation_result["warnings"], json!(["C4: it is neither fulfilled nor marked as a gap"]));
    let script = rows.script().remove("output/insert.cypher").expect("there is a script");
    assert_eq!(script.matches("CREATE CONSTRAINT requirement_rid").count(), 1, "{script}");
    assert_eq!(script.matches("MERGE (r:Requirement").count(), 2);
    assert!(
        script.contains("toLower('Invoices')") && script.contains("source: 'input/policy.pdf, page 4, section 3.1'")
    );
}

/// Neither accepted nor rejected: an answer that claims a row has not read it.
#[tokio::test]
async fn a_row_that_no_request_has_shown_is_not_judged() {
    let rows = rows(vec![row(1, INVOICES)]);
    let calls = [
        ("next_requirement", json!({})),
        ("integrate_requirement", json!({"id": "r1"})),
        ("reject_requirement", json!({"id": id(&rows.held[0]), "reason": "It binds nobody."})),
    ];
    let done = turn(&rows, Graph::Off, &calls).await;
    for refused in &done[1..] {
        assert!(
            refused.is_error && refused.content.contains("has not been shown by a request yet"),
            "{}",
            refused.content
        );
    }
    assert!(rows.judgements.lock().unwrap().is_empty());
    ok(&rows, Graph::Off, "integrate_requirement", json!({"id": "r1"})).await;
}

#[tokio::test]
async fn what_one_result_has_no_room_for_comes_with_the_next_call() {
    let text = |n| format!("Document {n} must be kept. {}", "帳簿は十年間保存する。".repeat(120));
    let named = |n| HeldRequirement { name: Some(format!("Document {n}")), ..row(n, &text(n)) };
    let rows = rows((1..=10).map(named).collect());
    let mut given: Vec<String> = Vec::new();
    while given.len() < 10 {
        let claimed = ok(&rows, Graph::Off, "next_requirement", json!({"count": 10})).await;
        let room = ToolContext::new(rows.held[0].id, &[]).max_result_tokens;
        assert!(plumbline_tokens::count(&claimed) <= room, "the conversation has room for it");
        let claimed: Value = serde_json::from_str(&claimed).unwrap();
        let ids: Vec<String> =
            claimed["requirements"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().into()).collect();
        assert!(claimed.to_string().contains("保存"), "its words are shown");
        let held_back = claimed["held_back"].as_u64().unwrap_or(0) as usize;
        assert_eq!(held_back, 10 - given.len() - ids.len(), "what is held back is told");
        assert!(!given.is_empty() || held_back > 0, "ten of them fit into no result");
        let calls: Vec<(&str, Value)> = ids.iter().map(|id| ("integrate_requirement", json!({"id": id}))).collect();
        assert!(turn(&rows, Graph::Off, &calls).await.iter().all(|done| !done.is_error));
        given.extend(ids);
    }
    assert_eq!(given, (1..=10).map(|n| format!("r{n}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_long_script_is_written_in_self_contained_parts() {
    let text =
        |n| format!("Invoices of kind {n} must be kept. {}", "They are filed by number, day and sender. ".repeat(200));
    let named = |n| HeldRequirement { name: Some(format!("Invoices of kind {n}")), ..row(n, &text(n)) };
    let rows = rows((1..=80).map(named).collect()).shown();
    for row in &rows.held {
        ok(&rows, Graph::Off, "integrate_requirement", json!({"id": id(row)})).await;
    }
    let parts = rows.script();
    let names: Vec<&str> = parts.keys().map(String::as_str).collect();
    assert_eq!(names, ["output/insert.cypher", "output/insert_part_002.cypher", "output/insert_part_003.cypher"]);
    for (name, part) in &parts {
        assert_eq!(part.matches("CREATE CONSTRAINT requirement_rid").count(), 1, "{name}");
        assert!(part.len() < 256 * 1024 + 2 * text(1).len(), "{name} has {} bytes", part.len());
    }
    let whole: String = parts.into_values().collect();
    for row in &rows.held {
        assert_eq!(whole.matches(&format!("MERGE (r:Requirement {{sourceRequirementId: '{}'}})", row.id)).count(), 1);
    }
}

#[tokio::test]
async fn a_requirement_with_a_fault_can_only_be_rejected() {
    let nameless = HeldRequirement { name: None, r#type: Some("wish".into()), ..row(1, INVOICES) };
    let unproven = HeldRequirement { citations_confirmed: 0, ..row(2, INVOICES) };
    let odd = HeldRequirement { mentioned_objects: json!("[\"Invoice\"]"), ..row(3, INVOICES) };
    let mut rows = rows(vec![nameless, unproven, odd, row(4, INVOICES)]);
    ok(&rows, Graph::Off, "next_requirement", json!({"count": 10})).await;
    let faults =
        ["it has no name; its type `wish` is none of", "none of its 1 citations was verified", "no list of names"];
    for (held, fault) in rows.held.iter().zip(faults) {
        let said = refused(&rows, Graph::Off, "integrate_requirement", json!({"id": id(held)})).await;
        assert!(said.contains("has to be rejected") && said.contains(fault), "{said}");
    }
    rows.known = vec![known(50, "invoices must be kept for ten years", "integrated")];
    let said = refused(&rows, Graph::Off, "integrate_requirement", json!({"id": id(&rows.held[3])})).await;
    assert!(said.contains("it is a duplicate of R-0007 'Known': the same words at the same place"), "{said}");
    rows.known = vec![known(50, "Invoices must be kept for six years.", "pending")];
    let claimed = ok(&rows, Graph::Off, "next_requirement", json!({"count": 10, "again": true})).await;
    let claimed: Value = serde_json::from_str(&claimed).unwrap();
    let is_faulty: Vec<bool> =
        claimed["requirements"].as_array().unwrap().iter().map(|row| row["faults"].is_array()).collect();
    assert_eq!(is_faulty, [true, true, true, false]);
    let similar = claimed["requirements"][3]["similar"][0].as_str().unwrap();
    assert!(similar.contains("'Known' (pending), 0.8"), "reported, not refused: {similar}");

    ok(&rows, Graph::Off, "reject_requirement", json!({"id": id(&rows.held[1]), "reason": "No evidence."})).await;
    ok(
        &rows,
        Graph::Off,
        "reject_requirement",
        json!({"id": id(&rows.held[2]), "reason": "Unreadable.", "failed": true}),
    )
    .await;
    let said =
        refused(&rows, Graph::Off, "reject_requirement", json!({"id": id(&rows.held[1]), "reason": "Again."})).await;
    assert!(said.contains("is not held by this job; next_requirement gives"), "{said}");
    refused(&rows, Graph::Off, "reject_requirement", json!({"id": "nonsense", "reason": "Again."})).await;
    let judged = rows.judgements.lock().unwrap();
    assert_eq!((judged[0].verdict, judged[0].reason.as_deref()), (Verdict::Rejected, Some("No evidence.")));
    assert_eq!(judged[0].validation_result["checks"]["citations"], json!({"given": 1, "verified": 0}));
    assert_eq!(judged[1].verdict, Verdict::Failed);
}

/// A model repeats faults as its reason, which has 2,000 characters at most, and other producers write what they like.
#[tokio::test]
async fn a_fault_is_short_whatever_the_row_has() {
    let held = HeldRequirement { r#type: Some("wish ".repeat(600)), is_ours: false, ..row(1, INVOICES) };
    let twin = known(50, INVOICES, "integrated");
    let rows = Rows { known: vec![KnownRequirement { name: Some("Paper ".repeat(600)), ..twin }], ..rows(vec![held]) };
    let claimed = ok(&rows, Graph::Off, "next_requirement", json!({})).await;
    let faults = serde_json::from_str::<Value>(&claimed).unwrap()["requirements"][0]["faults"].clone();
    let faults: Vec<String> = serde_json::from_value(faults).unwrap();
    assert_eq!(faults.len(), 2);
    assert!(faults.iter().all(|fault| fault.chars().count() < 250), "{faults:?}");
    assert!(faults[0].starts_with("its type `wish wish"), "{faults:?}");
}

#[tokio::test]
async fn citations_that_cannot_be_held_are_a_fault_of_their_own() {
    let rows = rows(vec![HeldRequirement { citations: Value::Null, ..row(1, INVOICES) }]).shown();
    let said = refused(&rows, Graph::Off, "integrate_requirement", json!({"id": id(&rows.held[0])})).await;
    assert!(said.contains("its citations cannot be read"), "{said}");
}

#[tokio::test]
async fn rows_that_somebody_is_changing_are_looked_for_again_and_named() {
    let seldom = Rows { waiting: 1, passed_over: 1.into(), ..rows(vec![row(1, INVOICES)]) };
    let given = ok(&seldom, Graph::Off, "next_requirement", json!({})).await;
    assert!(given.contains(INVOICES), "{given}");
    let locked = Rows { waiting: 2, ..rows(Vec::new()) };
    let said = ok(&locked, Graph::Off, "next_requirement", json!({})).await;
    assert!(said.starts_with("no pending requirement. Judged by this job: 0 integrated"), "{said}");
    assert!(said.ends_with("2 more are pending, and somebody else holds them at this moment."), "{said}");
}

/// This many different words.
fn words(count: usize) -> String {
    (0..count).map(|n| format!("word{} ", char::from(b'a' + u8::try_from(n).unwrap()))).collect()
}

#[tokio::test]
async fn the_same_words_at_the_same_place_are_a_duplicate_and_from_0_7_on_it_is_reported() {
    for (shared, similarity, is_duplicate) in
        [(20, "1.00", true), (19, "0.95", false), (18, "0.90", false), (14, "0.70", false)]
    {
        let mut rows = rows(vec![HeldRequirement { name: Some("Words".into()), ..row(1, &words(20)) }]);
        rows.known = vec![known(50, &words(shared), "integrated")];
        let claimed = ok(&rows, Graph::Off, "next_requirement", json!({})).await;
        let claimed: Value = serde_json::from_str(&claimed).unwrap();
        let checks = &claimed["requirements"][0];
        let similar = checks["similar"][0].as_str().unwrap();
        assert!(similar.starts_with(&format!("R-0007 'Known' (integrated), {similarity}")), "{similar}");
        assert_eq!(checks["faults"].as_array().map_or(0, Vec::len), usize::from(is_duplicate), "{shared}: {checks}");
        let integrate = json!({"id": id(&rows.held[0])});
        match is_duplicate {
            true => assert!(refused(&rows, Graph::Off, "integrate_requirement", integrate).await.contains("duplicate")),
            false => drop(ok(&rows, Graph::Off, "integrate_requirement", integrate).await),
        }
    }
    let mut below = rows(vec![row(1, &words(20))]);
    below.known = vec![known(50, &words(13), "integrated")];
    let claimed = ok(&below, Graph::Off, "next_requirement", json!({})).await;
    let claimed: Value = serde_json::from_str(&claimed).unwrap();
    assert_eq!(claimed["requirements"][0]["similar"], Value::Null, "0.65 is not even reported");
}

#[tokio::test]
async fn a_row_is_judged_by_its_short_id_where_no_other_has_it() {
    let named = |n, id: &str| HeldRequirement {
        number: None,
        candidate_id: Some(id.into()),
        ..row(n, &format!("{INVOICES} {n}"))
    };
    let rows =
        rows(vec![named(1, "req_00000000000a"), named(2, "req_00000000000b"), named(3, "req_00000000000b")]).shown();
    let said = ok(&rows, Graph::Off, "integrate_requirement", json!({"id": "req_00000000000a"})).await;
    assert!(said.starts_with("accepted req_00000000000a; "), "{said}");
    let reason = json!({"id": "req_00000000000b", "reason": "It binds nobody."});
    let said = refused(&rows, Graph::Off, "reject_requirement", reason).await;
    assert!(said.contains("that of 2 rows, from several jobs"), "{said}");
    let said =
        refused(&rows, Graph::Off, "reject_requirement", json!({"id": "req_00000000000c", "reason": "None."})).await;
    assert!(said.contains("is not held by this job"), "{said}");
}

#[tokio::test]
async fn the_same_words_at_another_place_are_another_requirement() {
    let quote =
        |from: u32| json!({"source": "input/rules.pdf", "page": 2, "quote": words(20), "passage": 3, "from": from});
    for (from, is_duplicate) in [(4, true), (9, false)] {
        let held = HeldRequirement { name: Some("Words".into()), citations: json!([quote(4)]), ..row(1, &words(20)) };
        let mut rows = rows(vec![held]);
        rows.known = vec![KnownRequirement { place: place_of(&quote(from)), ..known(50, &words(20), "pending") }];
        let claimed = ok(&rows, Graph::Off, "next_requirement", json!({})).await;
        let claimed: Value = serde_json::from_str(&claimed).unwrap();
        let checks = &claimed["requirements"][0];
        assert!(checks["similar"][0].as_str().unwrap().ends_with("1.00, the same words"), "{checks}");
        assert_eq!(checks["faults"].as_array().map_or(0, Vec::len), usize::from(is_duplicate), "{from}: {checks}");
    }
}

#[tokio::test]
async fn a_row_says_whether_it_is_relevant_and_whether_it_is_met() {
    let free = HeldRequirement {
        gobd_relevant: false,
        r#type: Some("functional".into()),
        ..row(2, "Visitors wear a badge in the archive.")
    };
    let rows = rows(vec![row(1, "Invoices must be kept unaltered for ten years."), free]).shown();
    let relations = json!([
        {"type": "FULFILLED_BY_OBJECT", "target": "Archive", "properties": {"confidence": 0.8, "evidence": "it is one"}},
        {"type": "NOT_FULFILLED_BY_OBJECT", "target": "Scanner", "properties": {"severity": "major", "gapDescription": "none"}},
    ]);
    ok(&rows, Graph::Off, "integrate_requirement", json!({"id": id(&rows.held[0]), "relations": relations})).await;
    ok(&rows, Graph::Off, "integrate_requirement", json!({"id": id(&rows.held[1])})).await;
    let judged = rows.judgements.lock().unwrap();
    let (law, free) = (&judged[0].validation_result, &judged[1].validation_result);
    assert_eq!(law["relevance"], json!({"decision": "relevant", "confidence": 0.75, "regulated": true}));
    assert_eq!(free["relevance"]["decision"], "needs review", "without a graph nobody can say");
    assert_eq!((&law["compliance_status"], &law["fulfilment"]["status"]), (&json!("partial"), &json!("partial")));
    let met = json!([{"target": "Archive", "confidence": 0.8, "evidence": "it is one"}]);
    assert_eq!(law["fulfilment"]["fulfilled_by"], met);
    assert_eq!(law["fulfilment"]["gaps"][0]["severity"], "major");
    assert_eq!(law["fulfilment"]["gobd_criteria"], json!(["retention", "immutability"]));
    assert_eq!(free["fulfilment"], json!({"status": "open", "fulfilled_by": [], "gaps": []}));
}

#[tokio::test]
async fn similar_requirements_are_reported_with_their_similarity() {
    let mut rows = rows(Vec::new());
    rows.known = vec![
        known(1, "Visitors wear badges.", "pending"),
        known(2, "Invoices must be kept for six years.", "integrated"),
    ];
    let said = ok(&rows, Graph::Off, "query_similar_requirements", json!({"text": INVOICES})).await;
    assert!(
        said.starts_with("0.8") && said.lines().count() == 1 && said.contains("R-0007 'Known' (integrated)"),
        "{said}"
    );
    let other = json!({"text": "Green badges are kept at the doors."});
    let none = ok(&rows, Graph::Off, "query_similar_requirements", other).await;
    assert!(none.starts_with("none of 2 recorded requirements reaches 0.7; nearest:\n0."), "{none}");
    assert_eq!(none.lines().count(), 3, "{none}");
}

/// Requirements recorded earlier in the same answer are not in the rows yet, and are compared nevertheless.
#[tokio::test]
async fn what_this_answer_has_recorded_is_among_the_similar() {
    let query = |text: &str| ("query_similar_requirements", json!({"text": text}));
    let done = turn(
        &rows(Vec::new()),
        Graph::Off,
        &[
            ("add_requirement", json!({"text": INVOICES, "name": "Retention"})),
            ("add_requirement", json!({"text": "Visitors wear badges at all times."})),
            query(INVOICES),
            query("Doors are green."),
        ],
    )
    .await;
    let same = &done[2].content;
    assert!(same.starts_with("1.00, the same words: req_") && same.contains("'Retention' (pending)"), "{same}");
    let none = &done[3].content;
    assert!(none.starts_with("none of 2 recorded requirements reaches 0.7"), "{none}");
}
