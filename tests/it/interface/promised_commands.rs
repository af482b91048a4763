//! The documented interface of the commands: forms of their arguments, exit codes, output streams, and the format of
//! their JSON.

use plumbline_system_tests::{Ended, PgPool, Uuid, World, documents, jobs::NewJob};
use serde_json::{Value, json};
use std::fs;

async fn printed(world: &World, arguments: &[&str]) -> String {
    let ended = world.run(arguments).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    ended.stdout
}

/// One sentence on standard error with these words, and this exit code.
fn assert_refused(ended: &Ended, code: i32, words: &[&str]) {
    assert_eq!((ended.code, ended.stderr.lines().count()), (Some(code), 1), "{ended:?}");
    for word in words {
        assert!(ended.stderr.contains(word), "`{word}` is not in: {}", ended.stderr);
    }
}

async fn with(world: &World, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
    let mut command = world.command(arguments);
    command.envs(variables.iter().copied());
    world.start(command).ended().await
}

#[sqlx::test(migrations = false)]
async fn enqueue_takes_any_prompt_and_the_usual_forms_of_a_time(pool: PgPool) {
    let world = World::new(pool).await;
    let list = "- read the policy\n- list what it asks for";
    let id: Uuid = printed(&world, &["enqueue", "--prompt", list]).await.trim().parse().expect("an id");
    let kept: String = sqlx::query_scalar("SELECT prompt FROM jobs WHERE id = $1")
        .bind(id)
        .fetch_one(&world.pool)
        .await
        .expect("a job");
    assert_eq!(kept, list);

    for (time, moment) in [
        ("2040-01-31T08:00:00.5+01:00", "2040-01-31 07:00:00.5"),
        ("2040-01-31 08:00:00+01", "2040-01-31 07:00:00"),
        ("2040-01-31T08:00Z", "2040-01-31 08:00:00"),
        ("2040-01-31 08:00", "2040-01-31 08:00:00"),
        ("2040-01-31", "2040-01-31 00:00:00"),
    ] {
        let id: Uuid =
            printed(&world, &["enqueue", "--prompt", "Later", "--run-at", time]).await.trim().parse().expect("an id");
        let kept: String = sqlx::query_scalar("SELECT (run_at AT TIME ZONE 'UTC')::text FROM jobs WHERE id = $1")
            .bind(id)
            .fetch_one(&world.pool)
            .await
            .expect("a job");
        assert_eq!(kept, moment, "{time}");
    }
    let wrong = world.run(&["enqueue", "--prompt", "Later", "--run-at", "tomorrow"]).await;
    assert_refused(&wrong, 2, &["`tomorrow` is not a time", "2027-01-31T08:00"]);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn feedback_goes_with_every_command_after_which_the_agent_reads_on(pool: PgPool) {
    let world = World::new(pool).await;
    let job = world.insert(&NewJob { prompt: "Say what records are", in_seconds: 86_400.0, ..NewJob::default() }).await;
    let id = job.to_string();
    for (command, status) in [("pause", "paused"), ("resume", "pending"), ("cancel", "cancelled"), ("retry", "pending")]
    {
        let words = format!("- words with {command}");
        let said = printed(&world, &[command, &id, "--feedback", &words]).await;
        assert_eq!(said, format!("job {id} is {status}\n"), "{command}");
    }
    assert_refused(&world.run(&["approve", &id, "--feedback", "Well done"]).await, 2, &["resume", "--feedback"]);
    assert_refused(&world.run(&["pause", &id, "--feedback", " "]).await, 1, &["needs a text"]);
    assert_eq!(world.job(job).await.status, "pending", "without the message there is no command either");
    assert_eq!(printed(&world, &["feedback", &id, "- words alone"]).await, format!("job {id} is pending\n"));
    world.work_until_idle().await;
    world.becomes(job, "completed").await;
    let heard: Vec<String> =
        sqlx::query_scalar("SELECT text FROM feedback WHERE job_id = $1 AND taken_step IS NOT NULL ORDER BY id")
            .bind(job)
            .fetch_all(&world.pool)
            .await
            .expect("feedback can be read");
    let sent = ["with pause", "with resume", "with cancel", "with retry", "alone"].map(|how| format!("- words {how}"));
    assert_eq!(heard, sent, "each was taken in, in the order in which they were sent");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn status_has_all_jobs_and_one_shape_for_a_job(pool: PgPool) {
    let world = World::new(pool).await;
    sqlx::query("INSERT INTO jobs (prompt, run_at) SELECT 'Job ' || n, 'infinity' FROM generate_series(1, 250) n")
        .execute(&world.pool)
        .await
        .expect("jobs can be inserted");
    let listed: Value = serde_json::from_str(&printed(&world, &["status", "--json"]).await).expect("JSON");
    let listed = listed.as_array().expect("a list of jobs");
    assert_eq!(listed.len(), 250);
    assert_eq!(printed(&world, &["status"]).await.lines().count(), 251, "a line a job, under one with their names");

    let id = listed[0]["id"].as_str().expect("an id");
    let one: Value = serde_json::from_str(&printed(&world, &["status", id, "--json"]).await).expect("JSON");
    for (name, value) in listed[0].as_object().expect("a job") {
        // A list counts requirements, which are separate rows.
        assert!(name == "requirements" || one[name] == *value, "{name} is {value} in the list, {} alone", one[name]);
    }
    assert_eq!(one["todos"], json!([]));
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_wrong_environment_is_wrong_usage_and_an_empty_one_is_none(pool: PgPool) {
    let world = World::new(pool).await;
    for (variable, value) in [
        ("PLUMBLINE_CONCURRENCY", "0"),
        ("PLUMBLINE_CONCURRENCY", "many"),
        ("PLUMBLINE_LEASE_SECS", "1"),
        ("PLUMBLINE_HEARTBEAT_SECS", "18446744073709551615"),
        ("PLUMBLINE_DRAIN_SECS", "-1"),
        ("PLUMBLINE_POLL_MS", "0"),
        ("PLUMBLINE_MAX_ITERATIONS", "0"),
        ("PLUMBLINE_HTTP_ADDR", "8080"),
        ("PLUMBLINE_CONNECTIONS", "[]"),
        ("PLUMBLINE_SECRETS", "DATABASE_URL"),
    ] {
        let ended = with(&world, &["worker", "--until-idle"], &[(variable, value)]).await;
        assert_refused(&ended, 2, &[variable]);
    }
    let empty = [
        "PLUMBLINE_CONCURRENCY",
        "PLUMBLINE_LEASE_SECS",
        "PLUMBLINE_HEARTBEAT_SECS",
        "PLUMBLINE_DRAIN_SECS",
        "PLUMBLINE_POLL_MS",
        "PLUMBLINE_MAX_ITERATIONS",
        "PLUMBLINE_HTTP_ADDR",
        "PLUMBLINE_CONNECTIONS",
        "PLUMBLINE_SECRETS",
        "PLUMBLINE_CONFIG_DIR",
        "PLUMBLINE_PROMPTS_DIR",
        "PLUMBLINE_WORKSPACE_DIR",
    ]
    .map(|name| (name, ""));
    assert_eq!(with(&world, &["worker", "--until-idle"], &empty).await.code, Some(0));
    let flag = with(&world, &["worker", "--until-idle", "--concurrency", "3"], &[("PLUMBLINE_CONCURRENCY", "x")]).await;
    assert_eq!(flag.code, Some(0), "a flag wins over the environment: {}", flag.stderr);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn config_check_reports_on_stdout_and_ends_with_a_sentence(pool: PgPool) {
    let world = World::new(pool).await;
    let folder = world.folder().join("configs/letters");
    fs::create_dir_all(&folder).expect("a folder can be made");
    fs::write(folder.join("instructions.md"), "Sort letters.").expect("a file can be written");
    fs::write(folder.join("config.json"), "{\n  \"$extends\": \"creator\",\n  \"limts\": {}\n}\n").expect("a file");
    let wrong = world.run(&["config", "check", "configs"]).await;
    assert_refused(&wrong, 1, &["error", "stdout"]);
    assert!(wrong.stdout.contains("config.json:3: unknown key `limts`; did you mean `limits`?"), "{}", wrong.stdout);
    let wrong = world.run(&["config", "check", "configs", "--json"]).await;
    let report: Value = serde_json::from_str(&wrong.stdout).expect("JSON");
    assert_eq!((wrong.code, report["problems"].as_array().map(Vec::len)), (Some(1), Some(1)), "{report}");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn the_tables_are_in_public_whatever_the_settings_of_a_session_are(pool: PgPool) {
    let world = World::with_empty_database(pool).await;
    sqlx::query("CREATE SCHEMA app").execute(&world.pool).await.expect("a schema can be made");
    let policy = documents::policy(1);
    let settings = "-c%20search_path%3Dapp%2Cpublic%20-c%20standard_conforming_strings%3Doff";
    let url = format!("{}?options={settings}", world.url().split('?').next().unwrap_or_default());
    let here = [("DATABASE_URL", url.as_str())];
    for _ in 0..2 {
        let migrated = with(&world, &["migrate"], &here).await;
        assert_eq!((migrated.code, migrated.stderr.as_str()), (Some(0), ""));
    }
    let elsewhere: i64 = sqlx::query_scalar("SELECT count(*) FROM pg_tables WHERE schemaname = 'app'")
        .fetch_one(&world.pool)
        .await
        .expect("the catalogue can be read");
    assert_eq!(elsewhere, 0);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    assert_eq!(with(&world, &["worker", "--until-idle"], &here).await.code, Some(0));
    world.becomes(job, "completed").await;
    world.finish().await;
}
