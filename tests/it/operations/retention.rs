//! Prune deletes rows and folders on any machine, but not the usage.

use plumbline_system_tests::{PgPool, Uuid, World, eventually, jobs::NewJob};
use std::fs;

async fn usage(world: &World) -> Vec<String> {
    sqlx::query_scalar(
        "SELECT concat_ws(' ', day, job_type, model, requests, tokens, cost_usd) FROM usage_daily ORDER BY 1",
    )
    .fetch_all(&world.pool)
    .await
    .expect("the view can be read")
}

/// A prune on another machine cannot reach folders: their worker removes them.
#[sqlx::test(migrations = false)]
async fn folders_go_with_their_jobs_whoever_prunes_where(pool: PgPool) {
    let world = World::new(pool).await;
    let import = world.workspace().join("import");
    world.import("mine.md", "The archive must be locked.");
    let far = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    let near = world.insert(&NewJob { prompt: "Say it", path: Some("mine.md"), ..NewJob::default() }).await;
    let stuck = world.insert(&NewJob { prompt: "Say it", ..NewJob::default() }).await;
    let wrong = Some(serde_json::json!({"limts": {}}));
    let never = world.insert(&NewJob { prompt: "Say it", config: wrong, ..NewJob::default() }).await;
    world.work_until_idle().await;
    world.becomes(never, "failed").await;
    let folder = |job: Uuid| world.workspace().join(format!("job_{job}"));
    for job in [far, near, stuck] {
        world.becomes(job, "completed").await;
        eventually("the job's folder", async || folder(job).join("workspace.md").exists().then_some(())).await;
    }
    let used = usage(&world).await;
    assert!(used.len() == 1 && used[0].contains(" creator "), "{used:?}");
    let age = async |job: Uuid| {
        sqlx::query("UPDATE jobs SET completed_at = now() - interval '40 days' WHERE id = $1")
            .bind(job)
            .execute(&world.pool)
            .await
            .expect("a job can be aged");
    };

    let elsewhere = async || {
        let mut command = world.command(&["prune", "--older-than", "30d", "--also-pending"]);
        command.env("PLUMBLINE_WORKSPACE_DIR", world.folder().join("another-machine"));
        world.start(command).ended().await
    };
    age(never).await;
    let pruned = elsewhere().await;
    assert_eq!(
        (pruned.stdout.as_str(), pruned.stderr.as_str()),
        ("deleted 1 job and 0 folders\n", ""),
        "it never had one"
    );

    age(far).await;
    let pruned = elsewhere().await;
    assert_eq!((pruned.code, pruned.stdout.as_str()), (Some(0), "deleted 1 job and 0 folders\n"), "{}", pruned.stderr);
    assert!(pruned.stderr.contains("warning: 1 deleted job had no folder"), "{}", pruned.stderr);
    assert!(folder(far).exists());
    let worker = world.worker();
    eventually("the worker to remove what is left", async || (!folder(far).exists()).then_some(())).await;
    assert!(folder(near).exists() && import.join("mine.md").exists(), "nothing else goes");

    age(near).await;
    let pruned = world.run(&["prune", "--older-than", "30d", "--also-pending", "--json"]).await;
    assert_eq!((pruned.code, pruned.stderr.as_str()), (Some(0), ""));
    let said: serde_json::Value = serde_json::from_str(&pruned.stdout).expect("JSON");
    assert_eq!(said, serde_json::json!({"deleted_jobs": 1, "deleted_folders": 1, "left_behind": 0, "kept": []}));
    assert!(!folder(near).exists() && import.join("mine.md").exists(), "what people put there is theirs");
    worker.stop().await;

    // A folder that cannot be removed is counted, and no reason to stop.
    fs::remove_dir_all(folder(stuck)).expect("the folder is ours");
    fs::write(folder(stuck), "in the way").expect("a file");
    age(stuck).await;
    let pruned = world.run(&["prune", "--older-than", "30d", "--also-pending"]).await;
    assert_eq!(pruned.code, Some(0));
    assert!(pruned.stderr.contains("warning: 1 folder could not be removed from here"), "{}", pruned.stderr);
    assert_eq!(usage(&world).await, used, "what was used stays");
    fs::remove_file(folder(stuck)).expect("the file is ours");
    world.finish().await;
}

/// Blue/green upgrades and change data capture publish all tables; deleting still works.
#[sqlx::test(migrations = false)]
async fn jobs_of_a_published_database_are_pruned(pool: PgPool) {
    let world = World::new(pool).await;
    sqlx::query("CREATE PUBLICATION everything FOR ALL TABLES").execute(&world.pool).await.expect("a publication");
    let policy = plumbline_system_tests::documents::policy(1);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.call("SELECT pause_job($1)", job).await.expect("it waits");
    world.call("SELECT resume_job($1)", job).await.expect("it is paused");
    world.work_until_idle().await;
    world.becomes(job, "completed").await;
    let pruned = world.run(&["prune", "--older-than", "0s", "--also-pending"]).await;
    assert_eq!(pruned.code, Some(0), "{}", pruned.stderr);
    let left: i64 = sqlx::query_scalar("SELECT count(*) FROM jobs").fetch_one(&world.pool).await.expect("a count");
    assert_eq!(left, 0, "{}", pruned.stdout);
    world.finish().await;
}
