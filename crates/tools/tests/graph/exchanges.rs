//! The bytes on the wire, and how responses are decoded.

use crate::kit::Server;
use plumbline_llm::ApiKey;
use plumbline_tools::graph::{Access, GraphClient, GraphConfig, GraphError, Statement};
use serde_json::{Value, json};
use std::time::Duration;

const ONE_ROW: &str = r#"{"data": {"fields": ["name"], "values": [["Invoice"]]}, "bookmarks": ["b"]}"#;

fn names() -> Statement {
    Statement::new("MATCH (n) WHERE n.boid = $id RETURN n.name AS name", json!({"id": "BO-1"}))
}

#[tokio::test]
async fn a_statement_is_one_post_with_its_parameters_and_credentials() {
    let server = Server::recorded(&[(202, ONE_ROW)]).await;
    let config = GraphConfig {
        user: Some("neo4j".into()),
        password: ApiKey::new("secret"),
        database: Some("records".into()),
        ..GraphConfig::new(server.uri.clone())
    };
    let rows = GraphClient::new(config).unwrap().run(&names(), Access::Read).await.unwrap();
    assert_eq!((rows.fields.as_slice(), rows.first()), (&["name".to_owned()][..], Some(&json!("Invoice"))));
    let seen = server.seen().remove(0);
    assert_eq!(seen.line, "POST /db/records/query/v2");
    assert_eq!(seen.headers["authorization"], "Basic bmVvNGo6c2VjcmV0");
    assert_eq!(seen.body["statement"], "MATCH (n) WHERE n.boid = $id RETURN n.name AS name");
    assert_eq!((&seen.body["parameters"], &seen.body["accessMode"]), (&json!({"id": "BO-1"}), &json!("READ")));
}

#[tokio::test]
async fn a_transaction_stays_at_its_address_and_at_its_member_of_the_cluster() {
    let opened = r#"{"transaction": {"id": "7f", "expires": "2026-11-21T09:00:30Z"}}"#;
    let server = Server::recorded(&[(202, opened), (202, ONE_ROW), (202, "{}"), (202, opened), (200, "")]).await;
    let client = server.client();
    let (transaction, _) = client.begin(&names()).await.unwrap();
    transaction.run(&names()).await.unwrap();
    transaction.commit().await.unwrap();
    client.begin(&names()).await.unwrap().0.rollback().await;
    let seen = server.seen();
    let lines: Vec<&str> = seen.iter().map(|seen| seen.line.as_str()).collect();
    assert_eq!(
        lines,
        [
            "POST /db/neo4j/query/v2/tx",
            "POST /db/neo4j/query/v2/tx/7f",
            "POST /db/neo4j/query/v2/tx/7f/commit",
            "POST /db/neo4j/query/v2/tx",
            "DELETE /db/neo4j/query/v2/tx/7f"
        ]
    );
    assert!(!seen[0].headers.contains_key("neo4j-cluster-affinity"));
    assert!([1, 2, 4].into_iter().all(|at| seen[at].headers["neo4j-cluster-affinity"] == "member-2"));
}

/// The error for an answer.
async fn error(status: u16, body: &str) -> GraphError {
    let server = Server::recorded(&[(status, body)]).await;
    server.client().run(&names(), Access::Read).await.unwrap_err()
}

fn coded(code: &str) -> String {
    json!({"errors": [{"code": code, "message": "what\n  happened"}]}).to_string()
}

#[tokio::test]
async fn errors_are_distinguished_by_the_servers_code_in_any_status() {
    for (status, code, permanent) in [
        (400, "Neo.ClientError.Schema.ConstraintValidationFailed", true),
        (202, "Neo.ClientError.Statement.SyntaxError", true),
        (400, "Neo.ClientError.Statement.AccessMode", true),
        (500, "Neo.TransientError.Transaction.DeadlockDetected", false),
        (404, "Neo.ClientError.Transaction.TransactionNotFound", false),
        // A transaction that exceeded the server's own timeout.
        (404, "Neo.ClientError.Request.Invalid", false),
        (400, "Neo.ClientError.Cluster.NotALeader", false),
        (500, "Neo.DatabaseError.General.UnknownError", false),
        (404, "Neo.ClientError.Database.DatabaseNotFound", false),
        (400, "Neo.ClientError.Schema.IndexAlreadyExists", false),
        (401, "Neo.ClientError.Security.Unauthorized", false),
    ] {
        let error = error(status, &coded(code)).await;
        assert_eq!(error.is_permanent(), permanent, "{error}");
        assert!(error.to_string().contains("what happened"), "{error}");
    }
    assert!(matches!(error(401, "").await, GraphError::Unauthorized { .. }));
}

#[tokio::test]
async fn an_empty_answer_is_reported_as_one() {
    for (status, body) in [(404, "<html>not here</html>"), (200, "<html>a login page</html>"), (500, "{}"), (302, "")] {
        let error = error(status, body).await;
        assert!(matches!(error, GraphError::Malformed { .. }), "{status}: {error}");
        assert!(error.to_string().contains("5.26"), "{error}");
    }
}

/// A proxy that loses its server may close the connection after the head, or answer 200 with nothing: neither a commit
/// nor a row may be believed then.
#[tokio::test]
async fn an_answer_that_ends_in_its_middle_is_an_outage_and_no_success() {
    for body in ["", r#"{"data": {"fields": ["name"], "values": [["Inv"#] {
        let error = error(200, body).await;
        assert!(matches!(error, GraphError::Unreachable { .. }), "{body}: {error}");
    }
    let opened = r#"{"transaction": {"id": "7f"}}"#;
    let server = Server::recorded(&[(202, opened), (200, "")]).await;
    let client = server.client();
    let (transaction, _) = client.begin(&names()).await.unwrap();
    let error = transaction.commit().await.unwrap_err();
    assert!(matches!(error, GraphError::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn a_graph_that_is_away_or_silent_is_an_error_in_time_and_names_no_secret() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}", listener.local_addr().unwrap());
    let config = GraphConfig {
        user: Some("neo4j".into()),
        password: ApiKey::new("secret"),
        timeout: Duration::from_millis(200),
        ..GraphConfig::new(uri)
    };
    let client = GraphClient::new(config.clone()).unwrap();
    // The kernel accepts the connection, and no answer ever comes.
    let silent = client.run(&names(), Access::Read).await.unwrap_err();
    assert!(matches!(silent, GraphError::TimedOut { .. }), "{silent}");
    drop(listener);
    let patient = GraphConfig { timeout: Duration::from_secs(60), ..config.clone() };
    let away = GraphClient::new(patient).unwrap().run(&names(), Access::Read).await.unwrap_err();
    assert!(matches!(away, GraphError::Unreachable { .. }), "{away}");
    for text in [silent.to_string(), away.to_string(), format!("{client:?}{config:?}")] {
        assert!(!text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn constraints_are_created_once() {
    let none = r#"{"data": {"fields": [], "values": []}}"#;
    let server = Server::recorded(&[(202, none); 5]).await;
    let client = server.client();
    client.constrain().await.unwrap();
    client.constrain().await.unwrap();
    let seen = server.seen();
    assert_eq!(seen.len(), 5);
    let busy =
        r#"{"errors": [{"code": "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists", "message": "there"}]}"#;
    let meanwhile = Server::recorded(&[(400, busy); 5]).await;
    meanwhile.client().constrain().await.expect("another client was faster");
    let in_the_way =
        r#"{"errors": [{"code": "Neo.ClientError.Schema.ConstraintValidationFailed", "message": "two R-0001"}]}"#;
    let error = Server::recorded(&[(400, in_the_way)]).await.client().constrain().await.unwrap_err();
    assert!(matches!(&error, GraphError::Unusable { .. }) && error.to_string().contains("two R-0001"), "{error}");
    let statement = |value: &Value| value["statement"].as_str().unwrap().to_owned();
    assert!(seen.iter().all(|seen| statement(&seen.body).contains("IF NOT EXISTS")));
}

/// Two bytes on the wire may become a hundred in memory: such an answer is refused before it is parsed.
#[tokio::test]
async fn an_answer_of_too_many_values_is_refused() {
    let many = format!(r#"{{"data": {{"fields": ["x"], "values": [[[{}0]]]}}}}"#, "{\"a\":0},".repeat(150_000));
    let rows = format!(r#"{{"data": {{"fields": ["x"], "values": [{}[0]]}}}}"#, "[0],".repeat(150_000));
    for body in [many, rows] {
        let server = Server::recorded(&[(202, body.as_str())]).await;
        let error = server.client().run(&Statement::new("RETURN 1", json!({})), Access::Read).await.unwrap_err();
        assert!(matches!(error, GraphError::TooLarge { .. }), "{error}");
    }
}
