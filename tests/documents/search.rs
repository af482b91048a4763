//! The index of a job's texts, from the tool's arguments to the rows: built on a search, kept up to date, by words and
//! by meaning. The tests are the same with and without pgvector.

use crate::{
    embeddings::{Embeddings, OUTAGE},
    script::{Call, Script},
};
use plumbline_system_tests::{PgPool, Uuid, World, jobs::NewJob};
use serde_json::{Value, json};

const BILLS: &str = "# Bills\n\nBills are kept for ten years.\n";
const BACKUPS: &str = "# Backups\n\nA copy is made each night; every restore is tried.\n\nGuests may look on.\n";

fn write(path: &str, content: &str) -> Vec<Call> {
    vec![("write_file", json!({"path": path, "content": content}))]
}

fn search(arguments: Value) -> Vec<Call> {
    vec![("search_files", arguments)]
}

fn record(text: &str) -> Vec<Call> {
    let quote = json!({"source": "policy.md", "quote": "Nothing of it matters here."});
    vec![("add_requirement", json!({"text": text, "citations": [quote]}))]
}

fn similar(text: &str) -> Vec<Call> {
    vec![("query_similar_requirements", json!({"text": text}))]
}

/// Runs a script to the job's end; returns the job and its tool results, one string per turn.
async fn run(world: &World, turns: Vec<Vec<Call>>, connections: Value) -> (Uuid, Vec<String>) {
    world.import("policy.md", "# Policy\n\nNothing of it matters here.\n");
    let script = Script::start(turns).await;
    let model = script.base_url();
    let addresses: Vec<&str> = std::iter::once(&*model).chain(connections["embeddings"]["base_url"].as_str()).collect();
    world.let_rows_set(&["llm.base_url", "connections"], &addresses);
    world.let_passages_be();
    let config = json!({"llm": {"base_url": model}, "connections": connections});
    let job = world.insert(&NewJob { config: Some(config), ..NewJob::with_path("policy.md") }).await;
    world.work_until_idle().await;
    let ended = world.job(job).await;
    assert_eq!((ended.status.as_str(), ended.error.as_deref()), ("completed", None), "{:?}", script.said());
    (job, script.said().into_iter().map(|turn| turn.join("\n")).collect())
}

async fn column(pool: &PgPool, sql: &'static str, job: Uuid) -> Vec<String> {
    sqlx::query_scalar(sql).bind(job).fetch_all(pool).await.expect("the index can be read")
}

const PASSAGES: &str = "SELECT text FROM file_segments WHERE job_id = $1 ORDER BY text";
const EMBEDDED: &str = "SELECT p.text FROM segment_embeddings e JOIN file_segments p USING (job_id, sha256, part)
                        WHERE e.job_id = $1 AND e.model = 'a-few-words' ORDER BY p.text";

#[sqlx::test(migrations = false)]
async fn texts_are_found_by_meaning_as_long_as_they_are_there(pool: PgPool) {
    let world = World::new(pool).await;
    let embeddings = Embeddings::start().await;
    let how_long = json!({"query": "How long must an invoice be retained?", "path": "notes"});
    let turns = vec![
        [write("notes/a.md", BILLS), write("notes/b.md", BACKUPS)].concat(),
        search(how_long.clone()),
        search(how_long.clone()),
        search(json!({"query": "restore", "path": "notes", "mode": "semantic"})),
        vec![("delete_file", json!({"path": "notes/a.md"}))],
        search(how_long),
        search(json!({"query": format!("restore in an {OUTAGE}"), "path": "notes"})),
    ];
    let (job, said) = run(&world, turns, json!({"embeddings": embeddings.connection()})).await;
    let first = |said: &str| said.lines().next().unwrap_or_default().to_owned();
    assert_eq!(first(&said[1]), "notes/a.md:1: # Bills Bills are kept for ten years.", "no word of it is in the query");
    assert_eq!(said[2], said[1], "nothing has changed in between");
    assert!(first(&said[3]).starts_with("notes/b.md:1: # Backups A copy"), "{}", said[3]);
    assert!(!said[5].contains("Bills"), "a deleted file is not found: {}", said[5]);
    let fallen_back = "(the embeddings endpoint failed: HTTP status 500, so this is a text search)";
    assert_eq!(first(&said[6]), fallen_back);
    assert!(said[6].contains("notes/b.md:1: # Backups"), "words find it all the same: {}", said[6]);
    let left = ["# Backups\nA copy is made each night; every restore is tried.", "Guests may look on."];
    assert_eq!(column(&world.pool, PASSAGES, job).await, left);
    assert_eq!(column(&world.pool, EMBEDDED, job).await, left);
    let embedded = embeddings.texts();
    let times = |text: &str| embedded.iter().filter(|known| known.contains(text)).count();
    assert_eq!((times("bills are kept"), times("guests may")), (1, 1), "a passage is embedded once: {embedded:?}");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn without_embeddings_the_search_uses_words_and_says_so(pool: PgPool) {
    let world = World::new(pool).await;
    let turns = vec![
        [write("notes/a.md", BILLS), write("notes/b.md", BACKUPS)].concat(),
        search(json!({"query": "copies restored nightly", "path": "notes", "mode": "hybrid"})),
        search(json!({"query": "kept ten guests", "path": "notes"})),
        record("Bills must be kept for ten years in the archive."),
        similar("Bills must be kept for nine years in the archive."),
        similar("Retain each invoice for a decade."),
    ];
    let (job, said) = run(&world, turns, json!({})).await;
    assert!(said[1].starts_with("(no embeddings are configured, so this is a text search)\n"), "{}", said[1]);
    assert!(said[1].contains("notes/b.md:1: # Backups A copy is made each night"), "stems agree: {}", said[1]);
    let ranked: Vec<&str> = said[2].lines().skip(1).collect();
    let expected = ["notes/a.md:1: # Bills Bills are kept for ten years.", "notes/b.md:5: Guests may look on."];
    assert_eq!(ranked, expected, "two of the words come before one of them");
    assert!(said[4].starts_with("0.8") && said[4].contains("must be kept for ten years"), "{}", said[4]);
    let nearest = said[5].starts_with("none of 1 recorded requirements reaches 0.7; nearest:\n0.");
    assert!(nearest && said[5].contains("Bills must be kept"), "{}", said[5]);
    assert_eq!(column(&world.pool, EMBEDDED, job).await, Vec::<String>::new());
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn requirements_are_found_by_words_and_by_meaning(pool: PgPool) {
    let world = World::new(pool).await;
    let embeddings = Embeddings::start().await;
    let turns = vec![
        [record("Bills must be kept for ten years."), record("A guest must wear a badge in all rooms.")].concat(),
        similar("Retain each invoice for a decade."),
        similar("Bills must be kept for ten years!"),
        similar(&format!("Bills must be kept for ten years, {OUTAGE}.")),
    ];
    let (job, said) = run(&world, turns, json!({"embeddings": embeddings.connection()})).await;
    let lines: Vec<&str> = said[1].lines().collect();
    assert!(lines.len() == 1 && lines[0].contains(" by meaning: req_") && lines[0].contains("Bills must"), "{lines:?}");
    let lines: Vec<&str> = said[2].lines().collect();
    assert!(lines.len() == 1 && lines[0].starts_with("1.00, the same words, 1.00 by meaning: "), "{lines:?}");
    let lines: Vec<&str> = said[3].lines().collect();
    let alone = "(the embeddings endpoint failed: HTTP status 500, so words alone are compared)";
    assert!(lines.len() == 2 && lines[0] == alone && lines[1].contains("Bills must"), "{lines:?}");
    let kept = "SELECT r.text FROM requirement_embeddings e JOIN requirement_cache r
                ON r.job_id = e.job_id AND r.id = e.requirement_id WHERE e.job_id = $1 ORDER BY r.text";
    let both = ["A guest must wear a badge in all rooms.", "Bills must be kept for ten years."];
    assert_eq!(column(&world.pool, kept, job).await, both);
    world.finish().await;
}
