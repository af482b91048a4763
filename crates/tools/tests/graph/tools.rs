//! The validator's tools, with a graph and without.

use crate::kit::{Engine, Server};
use crate::validation_queue::{Rows, away, known, ok, refused, row, try_turn, turn};
use plumbline_engine::Verdict;
use plumbline_engine::{HeldRequirement, KnownRequirement, place_of};
use plumbline_tools::graph::{Access, GraphClient, GraphConfig, Statement};
use plumbline_tools::{BatchError, Graph, ToolContext};
use serde_json::{Value, json};

const INVOICES: &str = "Invoices must be kept for ten years.";

fn rows(held: Vec<HeldRequirement>) -> Rows {
    Rows { held, ..Rows::default() }
}

fn id(row: &HeldRequirement) -> String {
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

#[tokio::test]
async fn calls_wait_for_a_graph_that_is_away() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let client = GraphClient::new(GraphConfig::new(format!("http://{}", listener.local_addr().unwrap()))).unwrap();
    drop(listener);
    let rows = rows(vec![row(1, INVOICES)]).shown();
    for (tool, arguments) in [
        ("next_requirement", json!({})),
        ("integrate_requirement", json!({"id": id(&rows.held[0])})),
        ("get_graph_schema", json!({})),
    ] {
        let (said, needs_operator) = away(&rows, Graph::On(&client), &[(tool, arguments)]).await;
        assert!(said.contains("cannot be reached") && said.contains("connections.neo4j.uri"), "{said}");
        assert!(!needs_operator, "time may bring it back");
    }
    let unusable = Graph::Unusable("no password is set");
    let found = away(&rows, unusable, &[("next_requirement", json!({}))]).await;
    assert_eq!(found, ("no password is set".to_owned(), true), "a person has to set it");
    // A query may have been executed before the answer was lost: it is not repeated without the model's knowledge.
    let query = json!({"query": "MATCH (n) RETURN n"});
    let done = turn(&rows, Graph::On(&client), &[("execute_cypher_query", query.clone())]).await;
    assert!(done[0].is_error && done[0].content.contains("cannot be reached"), "{done:?}");
    // Calls made before the outage are kept: here the answer to the query.
    let calls = [("execute_cypher_query", query), ("next_requirement", json!({}))];
    let Err(BatchError::Unavailable(outage)) = try_turn(&rows, Graph::On(&client), &calls).await else {
        panic!("the second call waits")
    };
    assert_eq!(outage.returns.iter().map(|given| given.call_id.as_str()).collect::<Vec<_>>(), ["call_0"]);
}

#[tokio::test]
async fn what_a_graph_answers_says_whether_waiting_helps() {
    let unauthorized =
        r#"{"errors": [{"code": "Neo.ClientError.Security.Unauthorized", "message": "Invalid credential."}]}"#;
    let no_database =
        r#"{"errors": [{"code": "Neo.ClientError.Database.DatabaseNotFound", "message": "there is no records"}]}"#;
    let deadlock = r#"{"errors": [{"code": "Neo.TransientError.Transaction.DeadlockDetected", "message": "a cycle"}]}"#;
    for (status, body, says, needs_operator) in [
        (401, unauthorized, "refuses the user", true),
        (503, "<html>Service Unavailable</html>", "HTTP 503", false),
        (200, "<html>Welcome</html>", "is none of a graph's Query API", true),
        (404, no_database, "`connections.neo4j.database`", true),
        (202, deadlock, "at this moment", false),
    ] {
        // The constraints, for a server that always answers the same.
        let server = Server::recorded(&[(status, body); 4]).await;
        let client = server.client();
        let found = away(&rows(Vec::new()), Graph::On(&client), &[("next_requirement", json!({}))]).await;
        assert!(found.0.contains(says), "{found:?}");
        assert_eq!(found.1, needs_operator, "{found:?}");
        let tries = if body == deadlock { 4 } else { 1 };
        assert_eq!(server.seen().len(), tries, "what may pass at once is asked again: {found:?}");
    }
}

#[tokio::test]
async fn relevance_is_told_of_a_graph_that_has_objects_or_messages() {
    let Some(engine) = Engine::start().await else { return };
    let server = Server::over(&engine).await;
    let client = server.client();
    let merge = Statement::new("MERGE (:BusinessObject {boid: 'BO-1', name: 'Invoice'})", json!({}));
    for expected in [Value::Null, json!("not relevant")] {
        let mut held = row(1, "Backups must be tested.");
        (held.gobd_relevant, held.gdpr_relevant, held.r#type) = (false, false, None);
        (held.mentioned_objects, held.mentioned_messages) = (json!([]), json!([]));
        let rows = rows(vec![held]);
        let claimed = ok(&rows, Graph::On(&client), "next_requirement", json!({})).await;
        let claimed: Value = serde_json::from_str(&claimed).unwrap();
        assert_eq!(claimed["requirements"][0]["relevance"], expected, "{claimed}");
        client.run(&merge, Access::Write).await.unwrap();
    }
}

#[tokio::test]
async fn a_requirement_goes_into_the_graph_with_its_relations() {
    let Some(engine) = Engine::start().await else { return };
    let server = Server::over(&engine).await;
    let client = server.client();
    let create = Statement::new("CREATE (:BusinessObject {boid: 'BO-1', name: 'Invoice'})", json!({}));
    client.run(&create, Access::Write).await.unwrap();
    let graph = Graph::On(&client);
    let rows = rows(vec![row(1, INVOICES), row(2, "Backups must be tested.")]);
    let claimed: Value =
        serde_json::from_str(&ok(&rows, graph, "next_requirement", json!({"count": 2})).await).unwrap();
    let objects = &claimed["requirements"][0]["objects"];
    assert!(objects["Invoices"].as_str().unwrap().starts_with("BO-1 'Invoice' 0."), "{objects}");
    assert_eq!(
        (objects.get("Spaceship"), &claimed["requirements"][0]["relevance"]),
        (Some(&Value::Null), &Value::Null)
    );

    let unknown = json!({"id": id(&rows.held[0]), "relations": [{"type": "IMPACTS_OBJECT", "target": "Spaceship"}]});
    let said = refused(&rows, graph, "integrate_requirement", unknown).await;
    assert!(
        said.contains("relations[0]: the graph has no BusinessObject named `Spaceship`; the nearest are Invoice"),
        "{said}"
    );
    let sound = json!({"id": id(&rows.held[0]), "compliance_status": "fulfilled", "relations": [
        {"type": "IMPACTS_OBJECT", "target": "invoices", "properties": {"rationale": "sets its retention"}}]});
    let said = ok(&rows, graph, "integrate_requirement", sound).await;
    assert!(said.contains("as R-0001, 1 relations") && said.contains("C5"), "{said}");
    let refines = json!({"id": id(&rows.held[1]), "relations": [{"type": "REFINES", "target": "r-0001"}]});
    ok(&rows, graph, "integrate_requirement", refines).await;
    let judged = rows.judgements.lock().unwrap().clone();
    assert_eq!((judged[0].verdict, judged[0].graph_node_id.as_deref()), (Verdict::Integrated, Some("R-0001")));
    assert_eq!(judged[0].validation_result["relations"], json!([{"type": "IMPACTS_OBJECT", "target": "BO-1"}]));

    let schema = ok(&rows, graph, "get_graph_schema", json!({})).await;
    assert!(schema.contains("- Requirement: 2") && schema.contains("- REFINES: 1"), "{schema}");
    let query = json!({"query": "MATCH (r:Requirement)-[:REFINES]->(o) WHERE o.rid = $rid RETURN r.rid AS rid, r.source AS source", "params": {"rid": "R-0001"}});
    let found = ok(&rows, graph, "execute_cypher_query", query).await;
    assert_eq!(found, r#"{"rid":"R-0002","source":"input/policy.pdf, page 4, section 3.1"}"#);
}

#[tokio::test]
async fn the_calls_of_a_turn_share_the_graphs_names_and_see_what_the_turn_wrote() {
    let Some(engine) = Engine::start().await else { return };
    let server = Server::over(&engine).await;
    let client = server.client();
    let create = Statement::new("CREATE (:BusinessObject {boid: 'BO-1', name: 'Invoice'})", json!({}));
    client.run(&create, Access::Write).await.unwrap();
    let rows = rows(vec![row(1, INVOICES), row(2, "Backups must be tested."), row(3, "Doors must be closed.")]).shown();
    let refines = |row: usize| {
        let relations =
            json!([{"type": "REFINES", "target": "R-0001"}, {"type": "RELATES_TO_OBJECT", "target": "Invoice"}]);
        ("integrate_requirement", json!({"id": id(&rows.held[row]), "relations": relations}))
    };
    let first = ("integrate_requirement", json!({"id": id(&rows.held[0])}));
    let third = ("reject_requirement", json!({"id": id(&rows.held[2]), "reason": "It binds nobody."}));
    let done = turn(&rows, Graph::On(&client), &[refines(1), first, refines(1), third]).await;
    assert!(done[0].is_error && done[0].content.contains("no Requirement named `R-0001`"), "{}", done[0].content);
    assert!(done[2].content.contains("as R-0002, 2 relations"), "{}", done[2].content);
    let reads = |of: &str| {
        let seen = server.seen();
        seen.iter().filter(|seen| seen.body["statement"].as_str().is_some_and(|text| text.contains(of))).count()
    };
    assert_eq!((reads("RETURN n.boid AS id"), reads("RETURN n.rid AS id")), (1, 2));

    let judged = rows.judgements.lock().unwrap();
    let rejected = &judged.last().unwrap().validation_result;
    assert_eq!(rejected["relevance"]["names"]["in_graph"], 1, "{rejected}");
    assert_eq!((&rejected["integration"], &rejected["compliance_status"]), (&json!("none"), &json!("open")));
    let members = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(members(rejected), members(&judged[0].validation_result), "whatever the verdict");
}

#[tokio::test]
async fn a_query_writes_only_where_the_configuration_and_the_call_say_so() {
    let none = r#"{"data": {"fields": [], "values": []}}"#;
    let plan = |name: &str| json!({"queryPlan": {"operatorType": name, "arguments": {}, "children": []}}).to_string();
    let (create_plan, read_plan, delete_plan) =
        (plan("Create@neo4j"), plan("AllNodesScan@neo4j"), plan("Delete@neo4j"));
    let answers = [&create_plan, &delete_plan, &delete_plan, &create_plan, none, &read_plan, none];
    let server = Server::recorded(&answers.map(|answer| (202, answer))).await;
    let writable = GraphClient::new(GraphConfig { allow_write: true, ..GraphConfig::new(server.uri.clone()) }).unwrap();
    let rows = rows(Vec::new());
    let create = "CREATE (:Message {mid: 'MSG-1'})";
    let asked = |query: &str, allow_write: bool| json!({"query": query, "allow_write": allow_write});
    let said = refused(&rows, Graph::On(&server.client()), "execute_cypher_query", asked(create, true)).await;
    assert!(said.contains("connections.neo4j.allow_write"), "{said}");
    assert_eq!(server.seen().len(), 0, "nothing was sent");
    for (query, allow_write) in [(create, false), ("MATCH (n) DELETE n", false), ("MATCH (n) DELETE n", true)] {
        refused(&rows, Graph::On(&writable), "execute_cypher_query", asked(query, allow_write)).await;
    }
    for query in [create, "MATCH (n) RETURN n"] {
        ok(&rows, Graph::On(&writable), "execute_cypher_query", asked(query, true)).await;
    }
    let of = |seen: &crate::kit::Seen| {
        let explained = seen.body["statement"].as_str().unwrap().starts_with("EXPLAIN ");
        (explained, seen.body["accessMode"].as_str().unwrap().to_owned())
    };
    let modes: Vec<(bool, String)> = server.seen().iter().map(of).collect();
    let expected = [
        (true, "READ"),
        (true, "READ"),
        (true, "READ"),
        (true, "READ"),
        (false, "WRITE"),
        (true, "READ"),
        (false, "READ"),
    ];
    assert_eq!(modes, expected.map(|(explained, mode)| (explained, mode.to_owned())));
    let said = refused(&rows, Graph::Off, "execute_cypher_query", json!({"query": "RETURN 1"})).await;
    assert!(said.contains("no graph is configured"), "{said}");
}

/// The graph may have carried out a write although its answer was lost: the tool does not retry it, and its error says
/// that the outcome is unknown.
#[tokio::test]
async fn a_write_without_an_answer_may_have_been_carried_out() {
    let plan = json!({"queryPlan": {"operatorType": "Create@neo4j", "arguments": {}, "children": []}}).to_string();
    let server = Server::recorded(&[(202, &plan), (502, "<html>Bad Gateway</html>"), (202, &plan), (202, "")]).await;
    let timeout = std::time::Duration::from_secs(1);
    let config = GraphConfig { allow_write: true, timeout, ..GraphConfig::new(server.uri.clone()) };
    let (client, rows) = (GraphClient::new(config).unwrap(), rows(Vec::new()));
    let create = json!({"query": "CREATE (:Message {mid: 'MSG-1'})", "allow_write": true});
    let said = refused(&rows, Graph::On(&client), "execute_cypher_query", create.clone()).await;
    assert!(said.contains("502") && said.contains("whether the query was carried out is unknown"), "{said}");
    server.fall_silent(1, crate::kit::Moment::After);
    let said = refused(&rows, Graph::On(&client), "execute_cypher_query", create).await;
    assert!(said.contains("did not answer within 1 s") && !said.contains("ask for less"), "{said}");
    assert!(said.contains("whether the query was carried out is unknown"), "{said}");
    assert_eq!(server.seen().len(), 4, "each query once, after its plan");
}

/// Keys and values of a relation come from a model: only keys of the vocabulary are accepted, with a graph and without.
#[tokio::test]
async fn a_relation_has_the_properties_of_the_vocabulary_alone() {
    let rows = rows(vec![row(1, INVOICES)]).shown();
    for key in ["a\\u0060: 1} WITH r MATCH (n) DETACH DELETE n //", "a`b", "", "größe", "rid", "constructor"] {
        let relations = json!([{"type": "IMPACTS_OBJECT", "target": "Invoice", "properties": {key: "v"}}]);
        let asked = json!({"id": id(&rows.held[0]), "relations": relations});
        let said = refused(&rows, Graph::Off, "integrate_requirement", asked).await;
        assert!(said.contains("relations[0]: a relation has no property") && said.contains("rationale"), "{said}");
    }
    assert!(rows.script().is_empty());
    let properties = json!({"rationale": "'}) DETACH DELETE r; //", "confidence": 0.5});
    let relations = json!([{"type": "IMPACTS_OBJECT", "target": "Invoice", "properties": properties}]);
    ok(&rows, Graph::Off, "integrate_requirement", json!({"id": id(&rows.held[0]), "relations": relations})).await;
}
