//! The API.

use crate::client::{events, get, worker};
use plumbline_system_tests::{PgPool, Uuid, World, documents, jobs::NewJob};
use serde_json::json;
use std::collections::BTreeSet;

#[sqlx::test(migrations = "../migrations")]
async fn pages_of_jobs_show_each_job_once(pool: PgPool) {
    let world = World::new(pool).await;
    // Many at the same instant: the id decides then.
    sqlx::query(
        "INSERT INTO jobs (prompt, job_type, status, created_at)
         SELECT 'Job ' || g, CASE WHEN g % 3 = 0 THEN 'other' ELSE 'creator' END, 'paused', now() - (g / 10) * interval '1 hour'
         FROM generate_series(1, 57) AS g",
    )
    .execute(&world.pool)
    .await
    .expect("jobs can be inserted");
    let (program, address) = worker(&world).await;
    for (filter, expected) in [
        ("", 57),
        ("&status=paused", 57),
        ("&type=other", 19),
        ("&status=paused&type=creator", 38),
        ("&status=failed", 0),
    ] {
        let (mut seen, mut order, mut after, mut pages) = (BTreeSet::new(), Vec::new(), String::new(), 0);
        loop {
            let page = get(address, &format!("/api/jobs?limit=10{filter}{after}")).await.json();
            for job in page["jobs"].as_array().expect("jobs are a list") {
                assert!(seen.insert(job["id"].as_str().expect("a job has an id").to_owned()), "{filter}: {job} twice");
                order.push(job["created_at"].as_str().expect("a job has a time").to_owned());
            }
            pages += 1;
            let Some(next) = page["next"].as_str() else { break };
            after = format!("&after={next}");
        }
        assert_eq!((seen.len(), pages), (expected, expected / 10 + 1), "{filter}");
        assert!(order.is_sorted_by(|a, b| a >= b), "{filter}: newest first");
    }
    let first = get(address, "/api/jobs?limit=1").await.json();
    let id = first["jobs"][0]["id"].as_str().expect("a job has an id").to_owned();
    let by_id = get(address, &format!("/api/jobs?limit=200&after={id}")).await.json();
    assert_eq!(by_id["jobs"].as_array().map(Vec::len), Some(56));
    program.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_job_s_settings_are_shown_without_their_secrets(pool: PgPool) {
    let world = World::new(pool).await;
    let config = json!({
        "limits": {"max_iterations": 7},
        "dsn": "host=db user=me password=canary",
        "display_name": "http://me:canary@one and http://me:canary@two",
        "connections": {"mcp": {"headers": {"X-Auth": "canary"}}},
    });
    let id: Uuid =
        sqlx::query_scalar("INSERT INTO jobs (prompt, status, config) VALUES ('p', 'paused', $1) RETURNING id")
            .bind(config)
            .fetch_one(&world.pool)
            .await
            .expect("a job can be inserted");
    let (program, address) = worker(&world).await;
    let shown = get(address, &format!("/api/jobs/{id}")).await.json();
    let expected = json!({
        "limits": {"max_iterations": 7},
        "dsn": "[hidden]",
        "display_name": "http://[hidden]@one and http://[hidden]@two",
        "connections": {"mcp": "[hidden]"},
    });
    assert_eq!(shown["config"], expected);
    program.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn wrong_questions_get_a_sentence(pool: PgPool) {
    let world = World::new(pool).await;
    let (program, address) = worker(&world).await;
    for (path, status, sentence) in [
        ("/api/jobs?status=done", 400, "there is no status `done`; there are running"),
        ("/api/jobs?limit=0", 400, "`limit` must be a number from 1 to 200"),
        ("/api/jobs?limit=many", 400, "`limit` must be a number"),
        ("/api/jobs?after=somewhere", 400, "`after` must be"),
        ("/api/jobs?job_type=creator", 400, "there is no parameter `job_type`; there are status, type, limit, after"),
        ("/api/jobs?type=%00", 400, "a parameter of this address contains a NUL"),
        ("/api/jobs?status=failed&status=completed", 400, "the parameter `status` is given twice; give it once"),
        ("/api/jobs/%ff", 400, "a part of this address cannot be read"),
        ("/api/jobs/%ff/events", 400, "a part of this address cannot be read"),
        ("/api/jobs/7", 404, "`7` is not a job's id"),
        ("/api/jobs/00000000-0000-4000-8000-000000000000", 404, "there is no job 00000000"),
        ("/api/jobs/00000000-0000-4000-8000-000000000000/events", 404, "there is no job"),
    ] {
        let answer = get(address, path).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        let error = answer.json()["error"].as_str().expect("an error is a sentence").to_owned();
        assert!(error.contains(sentence), "{path}: {error}");
    }
    program.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_job_is_shown_completely_and_followed_to_its_end(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(3);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    let (program, address) = worker(&world).await;
    let told = events(address, &format!("/api/jobs/{job}/events")).await;
    assert!(told.contains("event: job") && told.contains("\"todos_total\":"), "{told}");
    assert!(told.contains("event: end") && told.contains("data: completed"), "{told}");

    let answer = get(address, &format!("/api/jobs/{job}")).await.json();
    let row = world.job(job).await;
    assert_eq!(answer["status"], "completed");
    assert_eq!(answer["step"], row.step);
    assert_eq!(answer["result"], row.result.expect("a completed job has a result"));
    let requests: i64 = answer["usage"]
        .as_array()
        .expect("usage is a list")
        .iter()
        .map(|bar| bar["last_turn"].as_i64().unwrap_or(0) - bar["first_turn"].as_i64().unwrap_or(0) + 1)
        .sum();
    assert_eq!(requests, row.requests);
    assert!(answer["phases"].as_array().is_some_and(|phases| phases.len() >= 3), "{answer}");
    assert_eq!(answer["attempts"][0]["outcome"], "ended");
    assert_eq!(answer["requirements"][0]["requirements"], policy.sentences.len());
    assert_eq!(answer["requirements"][0]["verified"], policy.sentences.len());
    program.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn secrets_of_a_configuration_are_not_shown(pool: PgPool) {
    let world = World::new(pool).await;
    let job: Uuid = sqlx::query_scalar(
        r#"INSERT INTO jobs (prompt, status, config) VALUES ('p', 'paused',
           '{"llm": {"base_url": "https://me:hunter2@host/v1", "api_key_env": "KEY"}, "connections": {"neo4j": {"password": "hunter2"}}}')
           RETURNING id"#,
    )
    .fetch_one(&world.pool)
    .await
    .expect("a job can be inserted");
    let (program, address) = worker(&world).await;
    for path in [format!("/api/jobs/{job}"), format!("/jobs/{job}")] {
        let answer = get(address, &path).await;
        assert_eq!(answer.status, 200);
        assert!(!answer.body.contains("hunter2"), "{}", answer.body);
    }
    assert!(get(address, &format!("/api/jobs/{job}")).await.body.contains("\"api_key_env\":\"KEY\""));
    program.stop().await;
    world.finish().await;
}
