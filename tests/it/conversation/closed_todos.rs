//! Clearing after closed todos: fewer tokens are sent, and a kill, a fork and a replay send the same.

use plumbline_system_tests::{Answer, PgPool, Uuid, World, documents, jobs::NewJob};
use serde_json::{Value, json};

/// The requests of a job in their order: the step before which each was sent, and the tokens of its prompt.
async fn prompts(world: &World, job: Uuid) -> Vec<(i64, i64)> {
    let sent = "SELECT step, prompt_tokens::bigint FROM llm_requests WHERE job_id = $1 ORDER BY step";
    sqlx::query_as(sent).bind(job).fetch_all(&world.pool).await.expect("requests can be read")
}

async fn insert(world: &World, policy: &str, limits: Value) -> Uuid {
    let config = Some(json!({ "limits": limits }));
    world.insert(&NewJob { config, ..NewJob::with_content("policy.md", policy.as_bytes()) }).await
}

async fn assert_replays(world: &World, job: Uuid) {
    let ended = world.run(&["replay", &job.to_string()]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
}

#[sqlx::test(migrations = false)]
async fn a_job_that_drops_done_work_sends_less_and_continues_unchanged(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(8).markdown;
    let kept = insert(&world, &policy, json!({})).await;
    world.work_until_idle().await;
    world.becomes(kept, "completed").await;
    let before = world.model.requests();
    let dropped = insert(&world, &policy, json!({"closed_todos": "drop"})).await;
    world.model.hold_from(before + 10);
    let worker = world.worker();
    world.model.arrived(before + 10).await;
    worker.kill().await;
    world.age_workers().await;
    world.model.answers(Answer::Work);
    world.work_until_idle().await;
    world.becomes(dropped, "completed").await;
    let (with_all, with_less) = (prompts(&world, kept).await, prompts(&world, dropped).await);
    assert_eq!(with_all.len(), with_less.len(), "the same turns are made");
    assert!(with_all.iter().zip(&with_less).all(|(all, less)| less.1 <= all.1), "{with_all:?}, {with_less:?}");
    let saved = with_all.iter().zip(&with_less).map(|(all, less)| all.1 - less.1).sum::<i64>();
    assert!(saved > 2_000, "{saved} tokens are spared: {with_all:?}, {with_less:?}");
    assert_replays(&world, dropped).await;

    // A fork continues with the conversation as of its step.
    let spared = with_all.iter().zip(&with_less).rfind(|(all, less)| less.1 < all.1);
    let (at, tokens) = *spared.expect("some is spared").1;
    let fork = world.run(&["fork", &dropped.to_string(), "--at", &(at - 1).to_string()]).await.stdout;
    let fork = fork.trim().parse().expect("the fork's id");
    world.work_until_idle().await;
    world.becomes(fork, "completed").await;
    assert_eq!(prompts(&world, fork).await.first(), Some(&(at, tokens)));
    world.finish().await;
}
