//! A requirement in a real graph: once, complete, numbered.

use crate::kit::{Engine, Server};
use plumbline_tools::graph::{
    Access, End, GraphClient, Link, PROPERTIES, RequirementNode, Statement, relation, script_head, script_of,
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

fn node(id: u128, name: &str) -> RequirementNode {
    let mut properties = Map::new();
    properties.insert("name".into(), name.into());
    properties.insert("citationIds".into(), json!(["cit_1", "cit_2"]));
    properties.insert("source".into(), Value::Null);
    RequirementNode { source_requirement_id: Uuid::from_u128(id), properties, now: "2026-11-21T09:00:00.000Z".into() }
}

fn link(name: &str, target: &str) -> Link {
    let mut properties = Map::new();
    properties.insert("rationale".into(), "it sets its retention".into());
    Link { kind: relation(name).unwrap(), target: target.into(), properties }
}

async fn ask(client: &GraphClient, text: &str) -> Vec<Vec<Value>> {
    client.run(&Statement::new(text, json!({})), Access::Write).await.unwrap().values
}

async fn seeded(client: &GraphClient) {
    client.constrain().await.unwrap();
    for (id, name) in [("BO-1", "Invoice"), ("BO-2", "Archive")] {
        let create =
            Statement::new("CREATE (:BusinessObject {boid: $id, name: $name})", json!({"id": id, "name": name}));
        client.run(&create, Access::Write).await.unwrap();
    }
}

#[tokio::test]
async fn lesson_106_a_repeated_integration_gives_the_same_node() {
    let Some(engine) = Engine::start().await else { return };
    let server = Server::over(&engine).await;
    let client = server.client();
    seeded(&client).await;
    let links = [link("IMPACTS_OBJECT", "BO-1"), link("RELATES_TO_OBJECT", "BO-2")];
    let first = client.integrate(&node(1, "Retention"), &links).await.unwrap();
    let again = client.integrate(&node(1, "Retention of invoices"), &links).await.unwrap();
    assert_eq!((first.rid.as_str(), first.existed), ("R-0001", false));
    assert_eq!((again.rid.as_str(), again.existed), ("R-0001", true));
    assert_eq!(client.integrate(&node(2, "Backups"), &[]).await.unwrap().rid, "R-0002");
    let rows = ask(&client, "MATCH (r:Requirement) RETURN r.rid, r.name, r.citationIds ORDER BY r.rid").await;
    assert_eq!(rows[0], [json!("R-0001"), json!("Retention of invoices"), json!(["cit_1", "cit_2"])]);
    let related =
        ask(&client, "MATCH (:Requirement)-[x]->(o) RETURN type(x), o.boid, x.rationale ORDER BY o.boid").await;
    assert_eq!(related.len(), 2);
    assert_eq!(related[0], [json!("IMPACTS_OBJECT"), json!("BO-1"), json!("it sets its retention")]);
}

#[tokio::test]
async fn lesson_105_a_taken_number_is_followed_by_the_next_free_one_by_value() {
    let Some(engine) = Engine::start().await else { return };
    let server = Server::over(&engine).await;
    let client = server.client();
    seeded(&client).await;
    ask(&client, "CREATE (:Requirement {rid: 'R-0001', sourceRequirementId: 'a'})").await;
    ask(&client, "CREATE (:Requirement {rid: 'R-9999', sourceRequirementId: 'b'})").await;
    ask(&client, "CREATE (:Requirement {rid: 'R-10000', sourceRequirementId: 'c'})").await;
    assert_eq!(client.integrate(&node(1, "Retention"), &[]).await.unwrap().rid, "R-10001");
    assert_eq!(client.integrate(&node(2, "Backups"), &[]).await.unwrap().rid, "R-10002");
}

/// The node is written by this answer alone: an answer that has no row or no number has written none.
#[tokio::test]
async fn a_node_that_the_graph_does_not_return_is_not_integrated() {
    let none = r#"{"data": {"fields": ["x"], "values": []}}"#;
    let null = r#"{"data": {"fields": ["rid"], "values": [[null]]}}"#;
    let opened = r#"{"transaction": {"id": "7f"}}"#;
    let counted = r#"{"data": {"fields": ["value"], "values": [[42]]}}"#;
    for merged in [none, null] {
        let mut answers = vec![(202, none); 5];
        answers.extend([(202, opened), (202, counted), (202, merged), (200, "")]);
        let server = Server::recorded(&answers).await;
        let error = server.client().integrate(&node(1, "Retention"), &[]).await.unwrap_err();
        assert!(!error.is_permanent() && error.to_string().contains("MERGE"), "{error}");
        assert_eq!(server.seen().last().unwrap().line, "DELETE /db/neo4j/query/v2/tx/7f");
    }
}

#[tokio::test]
async fn a_node_of_others_without_a_number_gets_one() {
    let Some(engine) = Engine::start().await else { return };
    let server = Server::over(&engine).await;
    let client = server.client();
    seeded(&client).await;
    let id = Uuid::from_u128(1);
    ask(&client, &format!("CREATE (:Requirement {{sourceRequirementId: '{id}', name: 'of others'}})")).await;
    let links = [link("IMPACTS_OBJECT", "BO-1")];
    let integrated = client.integrate(&node(1, "Retention"), &links).await.unwrap();
    assert_eq!((integrated.rid.as_str(), integrated.existed), ("R-0001", true));
    assert_eq!(client.integrate(&node(1, "Retention"), &links).await.unwrap().rid, "R-0001");
    let rows = ask(&client, "MATCH (r:Requirement)-[:IMPACTS_OBJECT]->() RETURN r.rid, r.name").await;
    assert_eq!(rows, [[json!("R-0001"), json!("Retention")]]);
}

#[tokio::test]
async fn nothing_of_a_refused_requirement_is_left() {
    let Some(engine) = Engine::start().await else { return };
    let server = Server::over(&engine).await;
    let client = server.client();
    seeded(&client).await;
    let links = [link("IMPACTS_OBJECT", "BO-1"), link("IMPACTS_OBJECT", "BO-404")];
    let refused = client.integrate(&node(1, "Retention"), &links).await.unwrap_err();
    assert!(refused.is_permanent() && refused.to_string().contains("BO-404"), "{refused}");
    assert_eq!(ask(&client, "MATCH (r:Requirement) RETURN count(r)").await, [[json!(0)]]);
    let itself = client.integrate(&node(1, "Retention"), &[link("REFINES", "R-0001")]).await.unwrap_err();
    assert!(itself.is_permanent(), "B3: {itself}");
    assert_eq!(client.integrate(&node(1, "Retention"), &[]).await.unwrap().rid, "R-0001", "no number is lost");
}

#[tokio::test]
async fn names_of_a_document_are_found_in_the_graph() {
    let Some(engine) = Engine::start().await else { return };
    let server = Server::over(&engine).await;
    let client = server.client();
    seeded(&client).await;
    let names = client.names(End::Object).await.unwrap();
    for (wanted, expected) in
        [("INVOICE", Some("BO-1")), ("bo-2", Some("BO-2")), ("Invoices", Some("BO-1")), ("Warehouse", None)]
    {
        let found = client.find(End::Object, &names, wanted).await.unwrap();
        assert_eq!(found.map(|found| found.id).as_deref(), expected, "{wanted}");
    }
}

#[tokio::test]
async fn the_script_says_the_same_as_the_integration_and_can_be_run_twice() {
    let Some(engine) = Engine::start().await else { return };
    let server = Server::over(&engine).await;
    let client = server.client();
    seeded(&client).await;
    client.integrate(&node(1, "Retention"), &[]).await.unwrap();
    let odd = "It's \"odd\"; // \\ \n MATCH (n) DETACH DELETE n; é\u{1}";
    let script = script_head()
        + &script_of(&node(1, "Retention"), &[]).unwrap()
        + &script_of(&node(2, odd), &[link("IMPACTS_OBJECT", "invoice")]).unwrap();
    for _ in 0..2 {
        for statement in script.split(";\n").map(str::trim) {
            let lines = statement.lines().filter(|line| !line.starts_with("//"));
            let statement = lines.collect::<Vec<_>>().join("\n");
            if !statement.trim().is_empty() {
                ask(&client, &statement).await;
            }
        }
    }
    let rows = ask(&client, "MATCH (r:Requirement) RETURN r.rid, r.name ORDER BY r.rid").await;
    assert_eq!(rows, [[json!("R-0001"), json!("Retention")], [json!("R-0002"), json!(odd)]]);
    assert_eq!(ask(&client, "MATCH (:Requirement)-[x:IMPACTS_OBJECT]->(o) RETURN o.boid").await, [[json!("BO-1")]]);
}

/// The escaping of values: each character of Unicode, alone and after the beginning of an escape.
#[tokio::test]
async fn the_script_holds_every_character_as_it_is() {
    let Some(engine) = Engine::start().await else { return };
    let server = Server::over(&engine).await;
    let client = server.client();
    let every: Vec<char> = ('\0'..=char::MAX).collect();
    let mut texts: Vec<String> = every.chunks(60_000).map(|chunk| chunk.iter().collect()).collect();
    for before in ["\\", "\\\\", "\\u", "'", "\\'", "\u{e9}\\"] {
        texts.push(('\0'..='\u{2fff}').map(|c| format!("{before}{c}0027 ")).collect());
    }
    for (place, text) in texts.iter().enumerate() {
        let script = script_of(&node(place as u128, text), &[]).unwrap();
        assert_eq!(script.matches(';').count(), 1, "whatever cuts at semicolons finds the statement's end alone");
        ask(&client, script.trim().trim_end_matches(';')).await;
        let id = Uuid::from_u128(place as u128);
        let named = ask(&client, &format!("MATCH (r:Requirement {{sourceRequirementId: '{id}'}}) RETURN r.name")).await;
        let found = named[0][0].as_str().unwrap();
        let differs = found.chars().zip(text.chars()).find(|(found, given)| found != given);
        assert!(differs.is_none() && found.len() == text.len(), "text {place}: {differs:?}");
    }
}

#[tokio::test]
async fn a_script_of_hostile_values_changes_nothing_else() {
    let Some(engine) = Engine::start().await else { return };
    let server = Server::over(&engine).await;
    let client = server.client();
    seeded(&client).await;
    let hostile = [
        "'}) MATCH (n) DETACH DELETE n //",
        "\\u0027}) MATCH (n) DETACH DELETE n //",
        "\\\\u0027}) MATCH (n) DETACH DELETE n //",
        "\\'}) MATCH (n) DETACH DELETE n //",
        "a;\nMATCH (n) DETACH DELETE n;\n//",
        "*/ MATCH (n) DETACH DELETE n /*",
        "`) MATCH (n) DETACH DELETE n",
        "\u{2028}MATCH (n) DETACH DELETE n",
    ];
    let mut script = script_head();
    for (place, value) in hostile.iter().enumerate() {
        let properties = PROPERTIES.iter().map(|key| ((*key).to_owned(), json!(value))).collect();
        let links = [Link { properties, ..link("IMPACTS_OBJECT", "invoice") }, link("IMPACTS_OBJECT", value)];
        script += &script_of(&node(place as u128, value), &links).unwrap();
    }
    for statement in script.split(';').map(str::trim).filter(|statement| !statement.is_empty()) {
        ask(&client, statement.trim_start_matches(|c| c != 'C' && c != 'M')).await;
    }
    assert_eq!(ask(&client, "MATCH (o:BusinessObject) RETURN count(o)").await, [[json!(2)]]);
    let related = ask(&client, "MATCH (:Requirement)-[x:IMPACTS_OBJECT]->() RETURN x.rationale, x.quote").await;
    assert_eq!(related.len(), hostile.len());
    assert!(related.iter().all(|row| hostile.contains(&row[0].as_str().unwrap()) && row[0] == row[1]));
}
