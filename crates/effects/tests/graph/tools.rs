//! The validator's tools, with a graph and without.

use crate::engine::Engine;
use crate::hand_over::{Rows, known, ok, refused, row, turn};
use crate::server::Server;
use plumbline_effects::graph::{Access, GraphClient, GraphConfig, Statement};
use plumbline_effects::tools::{Graph, HeldRequirement};
use plumbline_engine::Verdict;
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
    let claimed: Value = serde_json::from_str(&ok(&rows, Graph::Off, "next_requirement", json!({})).await).unwrap();
    let first = &claimed["requirements"][0];
    assert_eq!(
        (&first["verdict"], &first["objects"]),
        (&json!("may be integrated"), &json!(["Invoices", "Spaceship"]))
    );
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
    let script = rows.script();
    assert_eq!(script.matches("CREATE CONSTRAINT requirement_rid").count(), 1, "{script}");
    assert_eq!(script.matches("MERGE (r:Requirement").count(), 2);
    assert!(
        script.contains("toLower('Invoices')") && script.contains("source: 'input/policy.pdf, page 4, section 3.1'")
    );
}

#[tokio::test]
async fn a_requirement_with_a_fault_can_only_be_rejected() {
    let nameless = HeldRequirement { name: None, r#type: Some("wish".into()), ..row(1, INVOICES) };
    let unproven = HeldRequirement { citations_confirmed: 0, ..row(2, INVOICES) };
    let odd = HeldRequirement { mentioned_objects: json!("[\"Invoice\"]"), ..row(3, INVOICES) };
    let mut rows = rows(vec![nameless, unproven, odd, row(4, INVOICES)]);
    let faults =
        ["it has no name; its type `wish` is none of", "none of its 1 citations was verified", "no list of names"];
    for (held, fault) in rows.held.iter().zip(faults) {
        let said = refused(&rows, Graph::Off, "integrate_requirement", json!({"id": id(held)})).await;
        assert!(said.contains("has to be rejected") && said.contains(fault), "{said}");
    }
    rows.known = vec![known(50, "invoices must be kept for ten years", "integrated")];
    let said = refused(&rows, Graph::Off, "integrate_requirement", json!({"id": id(&rows.held[3])})).await;
    assert!(said.contains("it is a duplicate of R-0007 'Known' (similarity 1.00)"), "{said}");
    rows.known = vec![known(50, "Invoices must be kept for six years.", "pending")];
    let claimed = ok(&rows, Graph::Off, "next_requirement", json!({"count": 10})).await;
    let claimed: Value = serde_json::from_str(&claimed).unwrap();
    let verdicts: Vec<&Value> = claimed["requirements"].as_array().unwrap().iter().map(|row| &row["verdict"]).collect();
    assert_eq!(verdicts, ["has to be rejected", "has to be rejected", "has to be rejected", "may be integrated"]);
    assert_eq!(claimed["requirements"][3]["checks"]["similar"][0]["status"], "pending", "reported, not refused");

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

#[tokio::test]
async fn similar_requirements_are_told_with_their_likeness() {
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
    let none = ok(&rows, Graph::Off, "query_similar_requirements", json!({"text": "Doors are green."})).await;
    assert!(none.starts_with("nothing"), "{none}");
}

#[tokio::test]
async fn a_graph_that_is_away_leaves_everything_as_it_is() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let client = GraphClient::new(GraphConfig::new(format!("http://{}", listener.local_addr().unwrap()))).unwrap();
    drop(listener);
    let rows = rows(vec![row(1, INVOICES)]);
    for (tool, arguments) in [
        ("next_requirement", json!({})),
        ("integrate_requirement", json!({"id": id(&rows.held[0])})),
        ("get_graph_schema", json!({})),
    ] {
        let said = refused(&rows, Graph::On(&client), tool, arguments).await;
        assert!(said.contains("cannot be reached") && said.contains("connections.neo4j.uri"), "{said}");
    }
    let said = refused(&rows, Graph::Unusable("no password is set"), "next_requirement", json!({})).await;
    assert!(said.contains("no password is set"), "{said}");
}

#[tokio::test]
async fn a_requirement_goes_into_the_graph_with_its_relations() {
    let Some(engine) = Engine::start().await else { return };
    let server = Server::over(engine.port).await;
    let client = server.client();
    let create = Statement::new("CREATE (:BusinessObject {boid: 'BO-1', name: 'Invoice'})", json!({}));
    client.run(&create, Access::Write).await.unwrap();
    let graph = Graph::On(&client);
    let rows = rows(vec![row(1, INVOICES), row(2, "Backups must be tested.")]);
    let claimed: Value = serde_json::from_str(&ok(&rows, graph, "next_requirement", json!({})).await).unwrap();
    let objects = &claimed["requirements"][0]["objects"];
    assert_eq!((&objects[0]["id"], &objects[1]["id"]), (&json!("BO-1"), &Value::Null));

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
async fn a_query_writes_only_where_the_configuration_and_the_call_say_so() {
    let none = r#"{"data": {"fields": [], "values": []}}"#;
    let server = Server::recorded(&[(202, none), (202, none)]).await;
    let writable = GraphClient::new(GraphConfig { allow_write: true, ..GraphConfig::new(server.uri.clone()) }).unwrap();
    let rows = rows(Vec::new());
    let create = "CREATE (:Message {mid: 'MSG-1'})";
    let said = refused(
        &rows,
        Graph::On(&server.client()),
        "execute_cypher_query",
        json!({"query": create, "allow_write": true}),
    )
    .await;
    assert!(said.contains("connections.neo4j.allow_write"), "{said}");
    for query in [create, "MATCH (n) DETACH DELETE n"] {
        refused(&rows, Graph::On(&writable), "execute_cypher_query", json!({"query": query})).await;
    }
    refused(
        &rows,
        Graph::On(&writable),
        "execute_cypher_query",
        json!({"query": "MATCH (n) DELETE n", "allow_write": true}),
    )
    .await;
    assert_eq!(server.seen().await.len(), 0, "nothing was sent");
    ok(&rows, Graph::On(&writable), "execute_cypher_query", json!({"query": create, "allow_write": true})).await;
    ok(
        &rows,
        Graph::On(&writable),
        "execute_cypher_query",
        json!({"query": "MATCH (n) RETURN n", "allow_write": true}),
    )
    .await;
    let modes: Vec<Value> = server.seen().await.into_iter().map(|seen| seen.body["accessMode"].clone()).collect();
    assert_eq!(modes, ["WRITE", "READ"]);
    let said = refused(&rows, Graph::Off, "execute_cypher_query", json!({"query": "RETURN 1"})).await;
    assert!(said.contains("no graph is configured"), "{said}");
}
