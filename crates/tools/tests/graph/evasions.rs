//! Queries with hidden effects, through the tool and at a real server: none may have an effect.
//!
//! `make evasions` tries every text of up to four signs and 20,000 longer ones; the ordinary suite tries a sample, with
//! the seed `PLUMBLINE_TEST_SEED` and, optionally, the size `PLUMBLINE_EVASIONS`.

use crate::kit::{Engine, Server};
use crate::validation_queue::{Rows, turn};
use plumbline_tools::Graph;
use plumbline_tools::graph::{GraphClient, GraphConfig};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::env;
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};
use std::time::Instant;
use tokio::net::TcpListener;

/// Delimiters of strings, names, comments, escapes, lines and statements.
const SIGNS: [&str; 10] = ["/", "*", "'", "\"", "`", "\n", "\r", "\\u", ";", " "];
/// Maximum length of texts tried exhaustively, number of random texts in the full run, and number of texts in the
/// ordinary one.
const EVERY_UP_TO: usize = 4;
const DRAWN: usize = 20_000;
const SAMPLE: usize = 400;

/// Effects that a query must never have: fetch an address, read a file, delete, clear, run procedures, inspect or
/// change the server.
fn harmful(address: &str) -> Vec<String> {
    [
        &format!("LOAD CSV FROM 'http://{address}/' AS l RETURN l"),
        "LOAD CSV FROM 'file:///etc/passwd' AS l RETURN l",
        "MATCH (n) DETACH DELETE n",
        "MATCH (n:Kept) REMOVE n.v",
        "MATCH (n:Kept) REMOVE n:Kept",
        "MATCH (n:Kept) SET n = {}",
        "MATCH (n:Kept) SET n += {v: null}",
        "MATCH (n:Kept) SET n.v = null",
        "MATCH (n:Kept) SET n.v = n.missing",
        "MATCH (n:Kept) SET n['v'] = null",
        "MATCH ()-[r:TO]->() SET r = {}",
        "UNWIND [{}] AS row MATCH (n:Kept) SET n.v = row.v",
        "MERGE (n:Kept {v: 1}) ON MATCH SET n = {}",
        "MERGE (n:Kept {v: 1}) ON MATCH SET n.v = null",
        "MATCH (k:Kept) MERGE (n:Kept {v: 1}) ON MATCH SET k.v = head([])",
        "MATCH (k:Kept) CALL (k) { SET k.v = null } RETURN k",
        "CALL dbms.listConfig() YIELD name RETURN name",
        "CALL apoc.cypher.runMany('MATCH (n) DETACH DELETE n', {})",
        "SHOW USERS",
        "SHOW SETTINGS",
        "CREATE USER eve SET PASSWORD 'x12345678' CHANGE NOT REQUIRED",
        "ALTER USER neo4j SET PASSWORD 'x12345678'",
        "CREATE INDEX kept FOR (n:Kept) ON (n.v)",
        "DROP DATABASE neo4j",
        "FOREACH (n IN [1] | CREATE (:Added))",
        "CALL { MATCH (n) DETACH DELETE n } IN TRANSACTIONS",
    ]
    .map(str::to_owned)
    .into()
}

/// Ways to hide a query: after what ends a comment or a string for a server, in escapes, between quotes and blanks.
fn hidden(query: &str) -> Vec<String> {
    let mut found = vec![query.to_owned(), query.to_lowercase(), format!("\u{feff}{query}"), format!("/**/{query}")];
    for quote in ["'", "\"", "`", "//"] {
        found.push(format!("WITH 1 AS a /*/ {quote} */ {query} //{quote}"));
    }
    for end in ["\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}"] {
        found.push(format!("MATCH (n) RETURN n LIMIT 1 // x{end}WITH 1 AS a {query}"));
    }
    for escape in ["\\u0027", "\\U00000027", "\\uuuu0027"] {
        found.push(format!("WITH 'a{escape} WITH 1 AS a {query} //' AS s RETURN s"));
    }
    found.push(format!("WITH 1 AS `a\\u0060 {query} //`"));
    found.push(format!("RETURN 1 /* \\u002a\\u002f WITH 1 AS a {query} /* */"));
    found.push(format!("WITH 'x\\\\' AS a {query} //' RETURN 1"));
    found.push(format!("WITH `a``b` AS a {query}"));
    for before in ["EXPLAIN", "PROFILE", "CYPHER runtime=slotted", "CYPHER 25", "RETURN 1;", "USE neo4j"] {
        found.push(format!("{before} {query}"));
    }
    found.push(query.replace(' ', "\u{a0}"));
    found.push(query.replacen(' ', "/* */", 1));
    found.push(query.replacen(char::is_alphabetic, "\\u004c", 1));
    found
}

/// The queries that the texts are prepended to and inserted into.
fn targets(address: &str) -> [String; 5] {
    [
        format!("LOAD CSV FROM \"http://{address}/\" AS l RETURN l"),
        "CALL dbms.listConfig() YIELD name RETURN name".to_owned(),
        "SHOW USERS".to_owned(),
        "MATCH (n:Kept) DETACH DELETE n".to_owned(),
        "CREATE USER eve SET PASSWORD \"x12345678\" CHANGE NOT REQUIRED".to_owned(),
    ]
}

fn around(text: &str, query: &str) -> [String; 4] {
    [
        format!("{text}{query}"),
        format!("WITH 1 AS a {text} {query}"),
        format!("WITH 1 AS a {text} {query} {}", text.chars().rev().collect::<String>()),
        query.replacen(' ', &format!(" {text} "), 1),
    ]
}

/// Queries from the documentation and similar ones, which must keep working.
const PLAIN: &[&str] = &[
    "MATCH (o:BusinessObject) WHERE o.name CONTAINS $part RETURN o.boid, o.name LIMIT 20",
    "MATCH (r:Requirement)-[:REFINES]->(o) WHERE o.rid = $part RETURN r.rid AS rid, r.source AS source",
    "MATCH (n) RETURN n LIMIT 5",
    "MATCH (n) RETURN labels(n) AS label, count(*) AS nodes ORDER BY nodes DESC, label",
    "MATCH (a:Kept)-[r]->(b) RETURN type(r), properties(b)",
    "MATCH (a:Kept) OPTIONAL MATCH (a)-->(b) RETURN a.v, collect(b.name)[0..3]",
    "MATCH p = shortestPath((a:Kept)-[*..4]->(b:Other)) RETURN length(p), [x IN nodes(p) | x.name]",
    "MATCH (a:Kept) WHERE EXISTS { (a)-[:TO]->() } AND NOT a.v IN [2, 3] RETURN a",
    "MATCH (a:Kept) WHERE NOT (a)-[:MISSING]->() RETURN count { (a)-[:TO]->() } AS n",
    "CALL db.labels() YIELD label RETURN label ORDER BY label",
    "CALL db.relationshipTypes()",
    "CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey",
    "CALL db.schema.visualization()",
    "CALL { MATCH (n:Kept) RETURN n UNION MATCH (n:Other) RETURN n } RETURN count(n)",
    "UNWIND range(1, 3) AS i RETURN reduce(s = 0, y IN [1, i] | s + y) AS total ORDER BY total SKIP 1 LIMIT 5",
    "WITH date('2024-01-01') AS d RETURN date.truncate('year', d), duration.between(d, date())",
    "MATCH (n) WHERE n.name = 'DELETE; /* it */ // \\u00a7 5' RETURN n",
    "MATCH (n) WHERE toLower(n.name) STARTS WITH 'o' RETURN DISTINCT n.name AS name",
    "MATCH (a:Kept) MATCH (b:Other) WHERE a.v = 1 RETURN CASE WHEN b.name = 'x' THEN 1 ELSE 2 END",
    "MATCH (a:Kept) ((x)-[:TO]->(y)){1,3} (b) RETURN b.name",
];

/// Additions that must keep working if allowed. The test undoes each one outside of the tool.
const ADDING: &[&str] = &[
    "CREATE (:Added {mid: 'MSG-1', name: $part})",
    "MERGE (n:Added {mid: 'MSG-2'}) ON CREATE SET n.name = 'a' ON MATCH SET n.name = 'b', n:Again",
    "MATCH (a:Kept), (b:Other) MERGE (a)-[r:ADDED]->(b) SET r.since = date() RETURN type(r)",
    "UNWIND [{mid: 'MSG-3'}] AS row MERGE (n:Added {mid: row.mid}) SET n.name = coalesce(row.name, ''), n.n = 1",
    "MATCH (n:Added {mid: 'MSG-1'}) SET n.n = 1, n:Once RETURN n",
];

/// A listener that must not receive a connection.
async fn listener() -> (String, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = Arc::new(AtomicU32::new(0));
    let counts = asked.clone();
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counts.fetch_add(1, Ordering::Relaxed);
        }
    });
    (address, asked)
}

/// All state that a query could have changed.
async fn state(server: &Server) -> Vec<Vec<Value>> {
    vec![
        server.ask("MATCH (n) RETURN labels(n), properties(n) ORDER BY labels(n), toString(n.v)").await,
        server.ask("MATCH ()-[r]->() RETURN type(r), properties(r)").await,
        server.ask("SHOW INDEXES YIELD name RETURN name ORDER BY name").await,
        server.ask("SHOW USERS").await,
        server.ask("SHOW SETTINGS YIELD name, value RETURN name, value ORDER BY name").await,
    ]
}

async fn seed(server: &Server) {
    server.ask("CREATE (:Kept {v: 1, name: 'one'})-[:TO {v: 1}]->(:Other {name: 'x'})").await;
}

/// A model with a graph that it may add to, in a job that has the tool.
struct Seat(GraphClient);

impl Seat {
    fn at(server: &Server) -> Self {
        let config = GraphConfig { allow_write: true, ..GraphConfig::new(server.uri.clone()) };
        Self(GraphClient::new(config).unwrap())
    }

    /// Sends queries with and without permission to add, each as a call of one turn; returns how many were refused.
    async fn send(&self, queries: &[String]) -> usize {
        let call = |query: &String, allow_write| ("execute_cypher_query", arguments(query, allow_write));
        let calls: Vec<_> = queries.iter().flat_map(|query| [call(query, true), call(query, false)]).collect();
        turn(&Rows::default(), Graph::On(&self.0), &calls).await.iter().filter(|done| done.is_error).count()
    }

    async fn ask(&self, query: &str, allow_write: bool) -> Result<String, String> {
        let call = ("execute_cypher_query", arguments(query, allow_write));
        let done = turn(&Rows::default(), Graph::On(&self.0), &[call]).await.remove(0);
        if done.is_error { Err(done.content) } else { Ok(done.content) }
    }
}

fn arguments(query: &str, allow_write: bool) -> Value {
    json!({"query": query, "allow_write": allow_write, "params": {"part": "o"}})
}

#[tokio::test]
async fn no_evasion_has_an_effect() {
    let Some(engine) = Engine::start().await else { return };
    let server = Server::over(&engine).await;
    seed(&server).await;
    let (address, asked) = listener().await;
    let before = state(&server).await;
    let seat = Seat::at(&server);
    for query in harmful(&address) {
        seat.send(&hidden(&query)).await;
        assert_eq!(asked.load(Ordering::Relaxed), 0, "an address was asked by a form of {query}");
    }
    assert_eq!(state(&server).await, before, "everything is as it was");
    let ran = server.seen().into_iter().filter_map(|seen| Some(seen.body["statement"].as_str()?.to_owned()));
    let ran: BTreeSet<String> = ran.filter(|text| !text.starts_with("EXPLAIN ")).collect();
    assert!(ran.iter().all(|text| !text.contains("DELETE") && !text.contains("LOAD")), "{ran:#?}");
}

#[tokio::test]
async fn plain_queries_run_and_additions_where_they_are_allowed() {
    let Some(engine) = Engine::start().await else { return };
    let server = Server::over(&engine).await;
    seed(&server).await;
    let seat = Seat::at(&server);
    for query in PLAIN {
        for allow_write in [true, false] {
            let done = seat.ask(query, allow_write).await;
            assert!(done.is_ok(), "{query}: {done:?}");
        }
    }
    for query in ADDING {
        let refused = seat.ask(query, false).await.expect_err("an addition without leave");
        assert!(refused.contains("writes") && refused.contains("read only"), "{query}: {refused}");
        let done = seat.ask(query, true).await;
        assert!(done.is_ok(), "{query}: {done:?}");
    }
    let added = server.ask("MATCH (n:Added) RETURN n.mid, n.name, n.n, labels(n) ORDER BY n.mid").await;
    let expected = [
        json!(["MSG-1", "o", 1, ["Added", "Once"]]),
        json!(["MSG-2", "a", null, ["Added"]]),
        json!(["MSG-3", "", 1, ["Added"]]),
    ];
    assert_eq!(added, expected);
}

#[tokio::test]
async fn no_text_before_or_within_a_query_has_an_effect() {
    let Some(engine) = Engine::start().await else { return };
    let server = Server::over(&engine).await;
    seed(&server).await;
    let (address, asked) = listener().await;
    let before = state(&server).await;
    let asked_for = env::var("PLUMBLINE_EVASIONS").unwrap_or_default();
    let sample = (asked_for != "full").then(|| asked_for.parse().unwrap_or(SAMPLE));
    let begun = Instant::now();
    let seat = Seat::at(&server);
    let (mut tried, mut refused) = (0, 0);
    for text in texts(sample) {
        let queries: Vec<String> = targets(&address).iter().flat_map(|target| around(&text, target)).collect();
        tried += 2 * queries.len();
        refused += seat.send(&queries).await;
        assert_eq!(tried, refused, "one ran: {queries:#?}");
        assert_eq!(asked.load(Ordering::Relaxed), 0, "an address was asked by one of {queries:#?}");
    }
    assert_eq!(state(&server).await, before, "everything is as it was");
    for query in PLAIN {
        assert!(seat.ask(query, false).await.is_ok(), "{query}");
    }
    let minutes = begun.elapsed().as_secs_f64() / 60.0;
    println!(
        "\nevasions: {tried} tried, {refused} refused, 0 had an effect, {} plain queries passed ({minutes:.1} minutes)",
        PLAIN.len()
    );
}

/// Every text up to [`EVERY_UP_TO`] and [`DRAWN`] longer ones, or a `sample` of both.
fn texts(sample: Option<usize>) -> Vec<String> {
    let mut dice = Dice::new();
    let mut every = vec![String::new()];
    let mut last = every.clone();
    for _ in 0..EVERY_UP_TO {
        last = last.iter().flat_map(|text| SIGNS.map(|sign| format!("{text}{sign}"))).collect();
        every.extend_from_slice(&last);
    }
    let drawn = |dice: &mut Dice| {
        let length = 5 + dice.below(4);
        (0..length).map(|_| SIGNS[dice.below(SIGNS.len())]).collect::<String>()
    };
    match sample {
        None => every.extend((0..DRAWN).map(|_| drawn(&mut dice))),
        Some(sample) => {
            // The known evasions are always included.
            let known = ["/*/ ' */", "/*/ \" */", "/*/ ` */", "//\r", "\\u0027"].map(str::to_owned);
            let sampled: Vec<String> = (0..sample).map(|_| every[dice.below(every.len())].clone()).collect();
            every = known.into_iter().chain(sampled).chain((0..sample / 4).map(|_| drawn(&mut dice))).collect();
        }
    }
    every
}

/// Reproducible random numbers by seed (SplitMix64).
struct Dice(u64);

impl Dice {
    fn new() -> Self {
        let seed = env::var("PLUMBLINE_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(40);
        println!("seed {seed} (PLUMBLINE_TEST_SEED={seed} repeats this run)");
        Self(seed)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }
}
