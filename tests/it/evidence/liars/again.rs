//! Jobs that continue those of liars: forks, retries, and jobs over next versions of the document.

use super::{Liars, PASSAGES, Stage, document, lies::LIARS, prompt};
use plumbline_system_tests::{PgPool, Uuid};
use serde_json::json;

/// The steps at which a job is forked: the one after the lie, and the last one before completion is requested.
const FORKED_AT: &str = "SELECT s.step FROM (
        (SELECT step + 1 AS step FROM llm_requests WHERE job_id = $1 ORDER BY step OFFSET 2 LIMIT 1)
        UNION (SELECT max(step) - 1 FROM llm_requests WHERE job_id = $1)
    ) AS s JOIN jobs j ON j.id = $1 WHERE s.step < j.step";

async fn forks(stage: &Stage, jobs: &[(String, Uuid)]) -> Vec<(String, Uuid)> {
    let mut forks = Vec::new();
    for (name, id) in jobs {
        let steps: Vec<i64> = sqlx::query_scalar(FORKED_AT)
            .bind(id)
            .fetch_all(&stage.world.pool)
            .await
            .expect("the requests can be read");
        for step in steps {
            let forked = stage.run(&["fork", &id.to_string(), "--at", &step.to_string()]).await;
            let fork = forked.stdout.trim().parse().unwrap_or_else(|_| panic!("{name} at {step}: {forked:?}"));
            forks.push((format!("{name}, forked at {step}"), fork));
        }
    }
    forks
}

/// Retries failed jobs.
async fn retries(stage: &Stage, jobs: &[(String, Uuid)]) -> Vec<(String, Uuid)> {
    let mut retried = Vec::new();
    for (name, id) in jobs {
        if stage.world.job(*id).await.status == "failed" {
            stage.world.call("SELECT retry_job($1)", *id).await.expect("what has failed can be retried");
            retried.push((format!("{name}, retried"), *id));
        }
    }
    retried
}

/// A job over the same document with an additional sentence, after each completed one.
async fn next_versions(stage: &Stage, jobs: &[(String, Uuid)]) -> Vec<(String, Uuid)> {
    let mut next = Vec::new();
    for (name, id) in jobs {
        if stage.world.job(*id).await.status != "completed" {
            continue;
        }
        let job = sqlx::query_scalar(
            "INSERT INTO jobs (job_type, prompt, document_content, context) VALUES ('lies', $1, $2, $3) RETURNING id",
        )
        .bind(prompt(name))
        .bind(format!("{}\nIt is the second version of the rules.\n", document()).as_bytes())
        .bind(json!({"document_name": "rules.md", "previous_job_id": id}))
        .fetch_one(&stage.world.pool)
        .await
        .expect("a job can be inserted");
        next.push((name.clone(), job));
    }
    next
}

/// What older versions wrote: quotes answered passages, requirements had neither numbers nor tags.
async fn age(pool: &PgPool) {
    let answered = "UPDATE passages
         SET decided_step = NULL, answered_by = CASE answered_by WHEN 'recorded' THEN 'citation' ELSE answered_by END
         WHERE state = 'answered'";
    for change in [answered, "UPDATE requirement_cache SET number = NULL, tags = '[]'"] {
        sqlx::query(change).execute(pool).await.expect("the rows can be changed");
    }
}

#[sqlx::test(migrations = false)]
async fn requirements_without_tags_are_compared_in_forks_and_retries(pool: PgPool) {
    let liars = Liars::new(&LIARS);
    let stage = Stage::new(pool, &liars, json!({})).await;
    let jobs = stage.insert(&liars, None).await;
    stage.ends(&jobs).await;
    age(&stage.world.pool).await;

    let forks = forks(&stage, &jobs).await;
    liars.go_on_behind(3);
    stage.ends(&forks).await;

    let retried = retries(&stage, &jobs).await;
    liars.go_on_behind(3);
    let ends = stage.ends(&retried).await;
    let end = r#"turned round, retried: failed "not_supported""#;
    assert!(ends.iter().any(|said| said.starts_with(end)), "{ends:#?}");
    stage.world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn forks_retries_and_next_versions_carry_no_lie_on(pool: PgPool) {
    let liars = Liars::new(&LIARS);
    let stage = Stage::new(pool, &liars, json!({})).await;
    let jobs = stage.insert(&liars, None).await;
    stage.ends(&jobs).await;

    let forks = forks(&stage, &jobs).await;
    liars.go_on_behind(3);
    stage.ends(&forks).await;

    let next = next_versions(&stage, &jobs).await;
    assert!(next.len() > 5, "some liars complete, with a headline that asks for a look");
    let carried: i64 = sqlx::query_scalar("SELECT count(*) FROM jobs WHERE context ? 'previous_job_id'")
        .fetch_one(&stage.world.pool)
        .await
        .expect("the jobs can be read");
    assert_eq!(usize::try_from(carried), Ok(next.len()));
    // They read it, lie no more, and request completion.
    liars.go_on_behind(0);
    stage.ends(&next).await;
    let unread: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM passages p JOIN jobs j ON j.id = p.job_id
         WHERE j.context ? 'previous_job_id' AND p.answered_by = 'carried' AND p.decided_step IS NULL",
    )
    .fetch_one(&stage.world.pool)
    .await
    .expect("the passages can be read");
    assert_eq!((unread, PASSAGES), (0, 4));

    let retried = retries(&stage, &jobs).await;
    liars.go_on_behind(3);
    stage.ends(&retried).await;
    stage.world.finish().await;
}
