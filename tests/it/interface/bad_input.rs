//! Rows that cannot run. Each becomes `failed` with one clear sentence, costs no model call, and affects no other job.

use plumbline_system_tests::{PgPool, Uuid, World, documents, jobs::NewJob};
use serde_json::json;

/// A bad job, and the words its sentence must have.
type Case<'a> = (NewJob<'a>, &'a [&'a str]);

#[sqlx::test(migrations = false)]
async fn each_bad_row_fails_with_one_clear_sentence(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(3);
    let text = "These are only words in a file with the wrong name. They must be refused.";
    world.import("words.pdf", text);
    world.import("encrypted.pdf", documents::fixture("encrypted.pdf"));
    world.import("empty.md", "");
    world.import("policy.md", &policy.markdown);
    std::fs::write(world.workspace().join("outside.md"), &policy.markdown).expect("the workspace can be written");
    let prompt = "Extract the requirements";
    let cases: Vec<Case<'_>> = vec![
        (NewJob::with_path("nowhere.pdf"), &["nowhere.pdf", "not found", "import"]),
        (NewJob::with_path("words.pdf"), &["words.pdf", "PDF"]),
        (NewJob::with_path("encrypted.pdf"), &["encrypted.pdf", "password"]),
        (NewJob { prompt: "  \n ", ..NewJob::default() }, &["prompt", "empty"]),
        (NewJob { prompt, config: Some(json!({"limts": {}})), ..NewJob::default() }, &["limts", "limits"]),
        (
            NewJob { prompt, config: Some(json!({"limits": {"max_iterations": "many"}})), ..NewJob::default() },
            &["max_iterations"],
        ),
        (NewJob::with_path("../outside.md"), &["../outside.md", "import"]),
        (NewJob::with_path("/etc/passwd"), &["/etc/passwd", "import"]),
        (NewJob::with_path("empty.md"), &["empty.md", "empty"]),
        (NewJob::with_content("empty.pdf", b""), &["empty.pdf", "empty"]),
        (NewJob::with_content("a/b.md", b"The archive must be locked."), &["a/b.md", "name"]),
    ];
    let mut bad = Vec::new();
    for (job, words) in &cases {
        bad.push((job.insert(&world.pool).await, *words));
    }
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    bad.push((insert_json(&world, "context", r#"{"limit": 1e400}"#).await, &["`context`", "number", "string"]));
    bad.push((insert_json(&world, "config", &format!(r#"{{"limits": {deep}}}"#)).await, &["`config`", "127 levels"]));
    let worker = world.worker();
    for (job, words) in &bad {
        assert_refused(&world, *job, words).await;
    }
    assert_eq!(world.model.requests(), 0, "a bad row must not cost a model call");

    let good = world.insert(&NewJob::with_path("policy.md")).await;
    world.becomes(good, "completed").await;
    let workers: i64 = sqlx::query_scalar("SELECT count(DISTINCT worker_id) FROM attempts")
        .fetch_one(&world.pool)
        .await
        .expect("attempts can be read");
    assert_eq!(workers, 1, "the worker that met the bad rows completed the good one");
    worker.stop().await;
    world.finish().await;
}

/// A job with JSON that only the database can hold.
async fn insert_json(world: &World, column: &str, text: &str) -> Uuid {
    let insert = format!("INSERT INTO jobs (prompt, {column}) VALUES ('Extract', '{text}') RETURNING id");
    sqlx::query_scalar(sqlx::AssertSqlSafe(insert)).fetch_one(&world.pool).await.expect("a job can be inserted")
}

async fn assert_refused(world: &World, job: Uuid, words: &[&str]) {
    let row = world.becomes(job, "failed").await;
    let sentence = row.error.unwrap_or_default();
    println!("{sentence}");
    for word in words {
        assert!(sentence.contains(word), "`{word}` is not in: {sentence}");
    }
    assert!(!sentence.contains('\n') && (20..=400).contains(&sentence.len()), "not one clear sentence: {sentence}");
    let details = row.details.unwrap_or_default();
    assert!(details["kind"].is_string(), "{details}");
    let attempt: (String, Option<String>) = sqlx::query_as("SELECT outcome, error FROM attempts WHERE job_id = $1")
        .bind(job)
        .fetch_one(&world.pool)
        .await
        .expect("attempts can be read");
    assert_eq!(attempt, ("ended".to_owned(), Some(sentence)));
}
