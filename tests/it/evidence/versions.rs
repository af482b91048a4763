//! Documents that change: a job over a new version starts from the results of the previous one.

use plumbline_system_tests::{PgPool, Uuid, World, documents, jobs::NewJob};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A job over a document, that names an earlier one.
async fn following(world: &World, previous: &str, document: &str, later: bool) -> Uuid {
    sqlx::query_scalar(
        "INSERT INTO jobs (prompt, document_content, context, config, run_at)
         VALUES ('Extract the requirements', $1, $2, '{\"on_complete\": {\"enqueue\": null}}',
                 now() + make_interval(days => $3))
         RETURNING id",
    )
    .bind(document.as_bytes())
    .bind(json!({"document_name": "policy.md", "previous_job_id": previous}))
    .bind(i32::from(later))
    .fetch_one(&world.pool)
    .await
    .expect("a job can be inserted")
}

/// Candidate id, tags and first quote of each active requirement.
async fn requirements(world: &World, job: Uuid) -> Vec<(String, Value, String)> {
    sqlx::query_as(
        "SELECT candidate_id, tags, citations #>> '{0,quote}' FROM requirement_cache
         WHERE job_id = $1 AND status <> 'withdrawn' ORDER BY step, id",
    )
    .bind(job)
    .fetch_all(&world.pool)
    .await
    .expect("the rows can be read")
}

async fn count(world: &World, job: Uuid, what: &'static str) -> i64 {
    let count: i64 = sqlx::query_scalar(what).bind(job).fetch_one(&world.pool).await.expect("the rows can be read");
    count
}

const REQUESTS: &str = "SELECT count(*) FROM llm_requests WHERE job_id = $1";
const CARRIED: &str = "SELECT count(*) FROM passages WHERE job_id = $1 AND answered_by = 'carried'";
/// Citations of carried requirements that are no verified citations of the job, in the passage that they name.
const UNFOUNDED: &str = "SELECT count(*) FROM requirement_cache r CROSS JOIN jsonb_array_elements(r.citations) c
    WHERE r.job_id = $1 AND r.tags = '[\"carried\"]' AND NOT EXISTS (
        SELECT FROM citations k JOIN passages p ON p.job_id = k.job_id AND p.passage = k.passage
        WHERE k.job_id = r.job_id AND k.verified AND k.source = c ->> 'source' AND k.quote = c ->> 'quote'
          AND k.passage::text = c ->> 'passage' AND p.answered_by = 'carried')";

#[sqlx::test(migrations = false)]
async fn a_second_version_keeps_what_is_the_same_and_names_what_is_gone(pool: PgPool) {
    let world = World::new(pool).await;
    let before = String::from_utf8(documents::sample("md")).expect("it is text");
    let first = world.insert(&NewJob::with_content("policy.md", before.as_bytes())).await;
    world.work_until_idle().await;
    assert_eq!(world.job(first).await.status, "completed");
    let found = requirements(&world, first).await;

    // Five sentences near the end become others.
    let once = |quote: &str| before.matches(quote).count() == 1 && quote.ends_with('.');
    let five: Vec<_> = found.iter().rev().filter(|(_, _, quote)| once(quote)).take(5).cloned().collect();
    assert_eq!(five.len(), 5);
    let changed = |quote: &str| format!("{} from now on.", quote.trim_end_matches('.'));
    let after = five.iter().fold(before.clone(), |text, (_, _, quote)| text.replace(quote, &changed(quote)));
    let second = following(&world, &first.to_string(), &after, false).await;
    world.work_until_idle().await;
    let job = world.job(second).await;
    let result = job.result.clone().unwrap_or_default();
    assert_eq!((job.status.as_str(), &result["coverage"]), ("completed", &json!(1.0)), "{job:?}");

    let versions = &result["versions"];
    let number = |kind: &str| versions[kind].as_i64().unwrap_or(-1);
    let carried = count(&world, second, CARRIED).await;
    assert_eq!((number("new"), number("gone")), (0, 0), "{versions}");
    assert!((1..=5).contains(&number("changed")) && number("same") > number("changed"), "{versions}");
    assert_eq!(carried, number("same"), "whatever is the same was answered for: {versions}");

    let now = requirements(&world, second).await;
    let tagged: BTreeSet<&String> =
        now.iter().filter(|(_, tags, _)| *tags == json!(["carried"])).map(|(id, ..)| id).collect();
    let known: BTreeSet<&String> = found.iter().map(|(id, ..)| id).collect();
    assert!(tagged.len() > 20 && tagged.is_subset(&known), "they keep their ids: {tagged:?}");
    assert_eq!(count(&world, second, UNFOUNDED).await, 0, "each rests on quotes of this job");
    for (id, _, quote) in &five {
        let is_found = now.iter().any(|(_, tags, new)| *tags != json!(["carried"]) && new.contains(&changed(quote)));
        assert!(is_found, "{quote}: {now:?}");
        assert!(!now.iter().any(|(other, ..)| other == id), "{quote} is gone");
    }
    let changes: String = sqlx::query_scalar("SELECT convert_from(workspace_file($1, 'output/changes.json'), 'UTF8')")
        .bind(second)
        .fetch_one(&world.pool)
        .await
        .expect("the rows can be read");
    let changes: Value = serde_json::from_str(&changes).expect("it is JSON");
    let gone: BTreeSet<&str> =
        changes["gone"].as_array().into_iter().flatten().filter_map(|one| one["candidate_id"].as_str()).collect();
    assert_eq!(gone, five.iter().map(|(id, ..)| id.as_str()).collect(), "{changes:#}");
    assert_eq!(&changes["versions"], versions);

    let replayed = world.run(&["replay", &second.to_string()]).await;
    assert_eq!(replayed.code, Some(0), "{replayed:?}");
    let step = count(&world, second, "SELECT min(answered_step) FROM passages WHERE job_id = $1").await;
    let before_it = count(&world, second, "SELECT max(cut_step) FROM passages WHERE job_id = $1").await;
    assert_eq!(step, before_it + 1, "carried over in the step behind the last document's");
    for (at, expected) in [(before_it, 0), (step, carried)] {
        let forked = world.run(&["fork", &second.to_string(), "--at", &at.to_string()]).await;
        let fork: Uuid = forked.stdout.trim().parse().unwrap_or_else(|_| panic!("{forked:?}"));
        assert_eq!(count(&world, fork, CARRIED).await, expected, "at step {at}");
        world.call("SELECT cancel_job($1)", fork).await.expect("it can be cancelled");
    }

    // A third version that waits: the job that it names is kept.
    following(&world, &second.to_string(), &after, true).await;
    let pruned = world.run(&["prune", "--older-than", "0s", "--also-pending"]).await;
    assert_eq!(pruned.code, Some(0), "{pruned:?}");
    let left: Vec<Uuid> = sqlx::query_scalar("SELECT id FROM jobs WHERE status = 'completed'")
        .fetch_all(&world.pool)
        .await
        .expect("the rows can be read");
    assert_eq!(left, [second]);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_job_that_cannot_be_built_on_is_refused_before_the_first_request(pool: PgPool) {
    let world = World::new(pool).await;
    let waiting = world.insert(&NewJob { in_seconds: 86_400.0, ..NewJob::default() }).await.to_string();
    let nobody = Uuid::now_v7().to_string();
    for (named, sentence) in [
        ("the last one", "context.previous_job_id is \"the last one\", which is no job's id"),
        (waiting.to_uppercase().as_str(), "which is no job's id as jobs.id shows it"),
        (waiting.replace('-', "").as_str(), "which is no job's id as jobs.id shows it"),
        (nobody.as_str(), "which does not exist"),
        (waiting.as_str(), "which is pending; name a completed one"),
    ] {
        let id = following(&world, named, "Invoices must be kept.", false).await;
        world.work_until_idle().await;
        let job = world.job(id).await;
        assert_eq!(job.status, "failed", "{job:?}");
        assert!(job.error.as_deref().unwrap_or_default().contains(sentence), "{named}: {job:?}");
        assert_eq!(count(&world, id, REQUESTS).await, 0);
    }
    world.finish().await;
}
