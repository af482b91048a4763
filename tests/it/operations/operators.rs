//! Operators' queries: which jobs, age, cost, errors; and retrying all of them.

use plumbline_system_tests::{PgPool, Uuid, World, jobs::NewJob};
use serde_json::{Value, json};

async fn failed(world: &World) -> Uuid {
    let config = Some(json!({"limts": {}}));
    let job = world.insert(&NewJob { prompt: "Say what records are", config, ..NewJob::default() }).await;
    world.work_until_idle().await;
    world.becomes(job, "failed").await;
    job
}

async fn listed(world: &World, arguments: &[&str]) -> Vec<String> {
    let ended = world.run(&[&["status", "--json"], arguments].concat()).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    let jobs: Vec<Value> = serde_json::from_str(&ended.stdout).expect("JSON");
    jobs.iter().map(|job| job["id"].as_str().unwrap_or_default().to_owned()).collect()
}

#[sqlx::test(migrations = false)]
async fn status_is_asked_by_type_status_and_time(pool: PgPool) {
    let world = World::new(pool).await;
    let bad = failed(&world).await;
    let prompt = "Say what records are";
    let later = world.insert(&NewJob { prompt, in_seconds: 86_400.0, ..NewJob::default() }).await;
    let other =
        world.insert(&NewJob { prompt, job_type: "validator", in_seconds: 86_400.0, ..NewJob::default() }).await;
    sqlx::query("UPDATE jobs SET created_at = now() - interval '3 days' WHERE id = $1")
        .bind(bad)
        .execute(&world.pool)
        .await
        .expect("a job can be aged");
    let ids = |jobs: &[Uuid]| jobs.iter().map(Uuid::to_string).collect::<Vec<_>>();
    assert_eq!(listed(&world, &["--status", "failed"]).await, ids(&[bad]));
    assert_eq!(listed(&world, &["--type", "validator"]).await, ids(&[other]));
    assert_eq!(listed(&world, &["--type", "creator", "--status", "pending"]).await, ids(&[later]));
    assert_eq!(listed(&world, &["--since", "1d"]).await.len(), 2);
    assert_eq!(listed(&world, &["--since", "2020-01-01"]).await.len(), 3);
    let table = world.run(&["status", "--status", "failed"]).await.stdout;
    let header = table.lines().next().unwrap_or_default();
    assert!(["age", "cost", "error"].iter().all(|name| header.contains(name)), "{header}");
    let error: String = world.job(bad).await.error.unwrap_or_default().chars().take(12).collect();
    assert!(table.contains(" 3d ") && table.contains("0.00") && table.contains(&error), "{error}: {table}");
    let none = world.run(&["status", "--type", "nothing"]).await;
    assert_eq!((none.code, none.stdout.lines().count()), (Some(0), 1), "{}", none.stdout);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn what_failed_since_yesterday_is_retried_at_once(pool: PgPool) {
    let world = World::new(pool).await;
    let (old, one, two) = (failed(&world).await, failed(&world).await, failed(&world).await);
    sqlx::query("UPDATE jobs SET completed_at = now() - interval '3 days' WHERE id = $1")
        .bind(old)
        .execute(&world.pool)
        .await
        .expect("a job can be aged");
    let retried = world.run(&["retry", "--failed-since", "24h", "--feedback", "Mind the annex"]).await;
    assert_eq!((retried.code, retried.stderr.as_str()), (Some(0), ""));
    assert_eq!(retried.stdout, format!("job {one} is pending\njob {two} is pending\n"));
    assert_eq!(world.job(old).await.status, "failed");
    let again = world.run(&["retry", "--failed-since", "24h"]).await;
    assert!(again.code == Some(0) && again.stdout.starts_with("no job has failed since"), "{again:?}");
    for wrong in [
        ["retry"].as_slice(),
        &["retry", &one.to_string(), "--failed-since", "24h"],
        &["retry", "--failed-since", "soon"],
    ] {
        assert_eq!(world.run(wrong).await.code, Some(2), "{wrong:?}");
    }
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_job_is_named_by_the_beginning_of_its_id(pool: PgPool) {
    let world = World::new(pool).await;
    for id in ["aaaaaaaa-1111-4000-8000-000000000001", "aaaaaaaa-2222-4000-8000-000000000001"] {
        sqlx::query("INSERT INTO jobs (id, prompt, run_at) VALUES ($1::uuid, 'Say it', now() + interval '1 day')")
            .bind(id)
            .execute(&world.pool)
            .await
            .expect("a job can be inserted");
    }
    let shown = world.run(&["status", "aaaaaaaa-1"]).await;
    assert!(shown.code == Some(0) && shown.stdout.contains("aaaaaaaa-1111-4000"), "{shown:?}");
    for (command, said) in [("pause", "paused"), ("resume", "pending"), ("cancel", "cancelled"), ("retry", "pending")] {
        let ended = world.run(&[command, "aaaaaaaa-2"]).await;
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{command}");
        assert_eq!(ended.stdout, format!("job aaaaaaaa-2222-4000-8000-000000000001 is {said}\n"));
    }
    let traced = world.run(&["trace", "aaaaaaaa1111"]).await;
    assert_eq!(traced.code, Some(0), "{}", traced.stderr);
    for (given, words) in
        [("aaaaaaaa", "several jobs begin with aaaaaaaa"), ("bbbb", "no job whose id begins with bbbb")]
    {
        for command in ["status", "cancel", "watch", "trace", "approve"] {
            let refused = world.run(&[command, given]).await;
            assert!(refused.code == Some(1) && refused.stderr.contains(words), "{command}: {refused:?}");
            assert_eq!(refused.stderr.lines().count(), 1);
        }
    }
    world.finish().await;
}
