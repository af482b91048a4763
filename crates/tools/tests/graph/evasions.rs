//! Queries that hide what they do, through the tool and at a server: none may have an effect.

use crate::kit::{Engine, Server};
use crate::validation_queue::{Rows, turn};
use plumbline_tools::Graph;
use plumbline_tools::graph::{GraphClient, GraphConfig};
use serde_json::json;
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};
use tokio::net::TcpListener;

/// What a query must never do: fetch an address, delete, run procedures or code, look at the server.
fn harmful(address: &str) -> Vec<String> {
    vec![
        format!("LOAD CSV FROM 'http://{address}/' AS l RETURN l"),
        "LOAD CSV FROM 'file:///etc/passwd' AS l RETURN l".to_owned(),
        "MATCH (n) DETACH DELETE n".to_owned(),
        "MATCH (n:Kept) REMOVE n.v".to_owned(),
        "CALL dbms.listConfig() YIELD name RETURN name".to_owned(),
        "CALL apoc.cypher.runMany('MATCH (n) DETACH DELETE n', {})".to_owned(),
        "SHOW USERS".to_owned(),
        "DROP DATABASE neo4j".to_owned(),
        "FOREACH (n IN [1] | CREATE (:Added))".to_owned(),
        "CALL { MATCH (n) DETACH DELETE n } IN TRANSACTIONS".to_owned(),
    ]
}

/// The ways to hide it: behind what ends a comment or a string for a server, in escapes, between quotes and blanks.
fn hidden(query: &str) -> Vec<String> {
    let mut found = vec![query.to_owned(), query.to_lowercase(), format!("\u{feff}{query}"), format!("/**/{query}")];
    for end in ["\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}"] {
        found.push(format!("MATCH (n) RETURN n LIMIT 1 // x{end}WITH 1 AS a {query}"));
    }
    for escape in ["\\u0027", "\\U00000027", "\\uuuu0027"] {
        found.push(format!("WITH 'a{escape} WITH 1 AS a {query} //' AS s RETURN s"));
    }
    found.push(format!("RETURN 1 /* \\u002a\\u002f WITH 1 AS a {query} /* */"));
    found.push(format!("WITH 'x\\\\' AS a {query} //' RETURN 1"));
    found.push(format!("WITH `a``b` AS a {query}"));
    found.push(format!("EXPLAIN {query}"));
    found.push(format!("CYPHER runtime=slotted {query}"));
    found.push(format!("RETURN 1; {query}"));
    found.push(query.replace(' ', "\u{a0}"));
    found.push(query.replacen(' ', "/* */", 1));
    found.push(query.replacen(char::is_alphabetic, "\\u004c", 1));
    found
}

#[tokio::test]
async fn no_evasion_has_an_effect() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let fetched = Arc::new(AtomicU32::new(0));
    let counts = fetched.clone();
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counts.fetch_add(1, Ordering::Relaxed);
        }
    });
    let queries: Vec<String> = harmful(&address).iter().flat_map(|query| hidden(query)).collect();
    assert!(queries.len() >= 100, "{} queries", queries.len());
    // At a listener: nothing is even sent, and without leave no addition either.
    let recorded = Server::recorded(&[]).await;
    send_all(&recorded, &hidden("MATCH (n:Kept) SET n.v = 2"), false).await;
    send_all(&recorded, &queries, true).await;
    let sent: Vec<String> = recorded.seen().iter().map(|seen| seen.body.to_string()).collect();
    assert!(sent.is_empty(), "{} of {} were sent: {sent:#?}", sent.len(), queries.len());
    // At a real server, with leave to add to the graph.
    let Some(engine) = Engine::start().await else { return };
    let server = Server::over(&engine).await;
    server.ask("CREATE (:Kept {v: 1})").await;
    send_all(&server, &queries, true).await;
    let left = server.ask("MATCH (n) RETURN labels(n), n.v").await;
    assert_eq!(left, [json!([["Kept"], 1])], "the graph is as it was");
    assert_eq!(fetched.load(Ordering::Relaxed), 0, "no address was fetched");
}

async fn send_all(server: &Server, queries: &[String], allow_write: bool) {
    let client = GraphClient::new(GraphConfig { allow_write, ..GraphConfig::new(server.uri.clone()) }).unwrap();
    let rows = Rows::default();
    for query in queries {
        turn(
            &rows,
            Graph::On(&client),
            &[("execute_cypher_query", json!({"query": query, "allow_write": allow_write}))],
        )
        .await;
    }
}
