//! The tools of validators with a graph: what they ask it, write into it, and say while it is away.

use crate::kit::{Engine, Server};
use crate::tools::{INVOICES, id, rows};
use crate::validation_queue::{away, ok, refused, row, try_turn, turn};
use plumbline_engine::Verdict;
use plumbline_tools::graph::{Access, GraphClient, GraphConfig, Statement};
use plumbline_tools::{BatchError, Graph};
use serde_json::{Value, json};

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
