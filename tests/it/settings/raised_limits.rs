//! A job paused by a limit continues with a higher one, by one command, up to the operator's ceiling.

use plumbline_system_tests::{Command, PgPool, Uuid, World, documents, jobs::NewJob};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

/// A world whose creators have a budget that is soon used up, and these ceilings.
async fn world(pool: PgPool, ceiling: &Value) -> World {
    let world = World::new(pool).await;
    configure(&world, ceiling);
    world
}

fn configure(world: &World, ceiling: &Value) {
    let shipped = include_str!("../../../configs/creator/config.json");
    let mut config: Value = serde_json::from_str(shipped).expect("the shipped configuration is JSON");
    config["llm"]["prices"] = json!({"input": 3.0, "cached_input": 0.3, "output": 9.0});
    config["limits"]["cost_budget_usd"] = json!(0.02);
    config["limits_ceiling"] = ceiling.clone();
    let folder = world.folder().join("files/creator");
    std::fs::create_dir_all(&folder).expect("the world's folder can be written");
    std::fs::write(folder.join("config.json"), config.to_string()).expect("the world's folder can be written");
}

fn worker(world: &World) -> Command {
    let mut command = world.command(&["worker"]);
    command.env("PLUMBLINE_CONFIG_DIR", world.folder().join("files"));
    command
}

async fn paused_job(world: &World) -> Uuid {
    let policy = documents::policy(2);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    let paused = world.becomes(job, "paused").await;
    let reason = paused.reason.expect("a pause has a reason");
    assert!(reason.starts_with("cost budget of 0.02 USD reached; raise it with "), "{reason}");
    assert!(reason.contains(&format!("`plumbline resume {job} --cost-budget USD`")), "{reason}");
    assert!(reason.contains(&format!("resume_job('{job}', limits => '{{\"cost_budget_usd\": …}}')")), "{reason}");
    job
}

async fn resumed_with(world: &World, job: Uuid, limits: &str) -> Result<String, String> {
    let statement = format!("SELECT resume_job('{job}', limits => '{limits}')");
    let done = sqlx::query_scalar(AssertSqlSafe(statement)).fetch_one(&world.pool).await;
    done.map_err(|error| error.as_database_error().map_or_else(|| error.to_string(), |said| said.message().to_owned()))
}

/// The output of `plumbline status` for a job.
async fn shown(world: &World, id: &str) -> String {
    let shown = world.run(&["status", id]).await;
    let of_api = world.run(&["status", id, "--json"]).await.stdout;
    let of_api: Value = serde_json::from_str(&of_api).expect("one object");
    let budget = of_api["cost_budget_usd"].as_f64().expect("a budget");
    assert!(shown.stdout.contains(&format!(" of {budget} USD, ")), "{}", shown.stdout);
    shown.stdout
}

#[sqlx::test(migrations = false)]
async fn a_budget_is_raised_by_a_command_past_the_bound_and_up_to_the_ceiling(pool: PgPool) {
    let world = world(pool, &json!({"cost_budget_usd": 40, "repeated_calls": {"replan": 20}})).await;
    let worker = world.start(worker(&world));
    let job = paused_job(&world).await;
    let id = job.to_string();

    assert!(shown(&world, &id).await.contains(" of 0.02 USD, "), "status says what of the budget is used");
    let refused = world.run(&["resume", &id, "--cost-budget", "40.5"]).await;
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("`cost_budget_usd` of 40.5 is above the 40 of `limits_ceiling`"),
        "{}",
        refused.stderr
    );
    // Resumed without changes, or with too little, it would pause again at once.
    let alone = world.run(&["resume", &id, "--feedback", "Go on."]).await;
    let how = format!("raise it with `plumbline resume {id} --cost-budget USD`");
    assert!(alone.code == Some(1) && alone.stderr.contains(&how), "{alone:?}");
    assert!(alone.stderr.contains("; as it is, it would pause again at once"), "{alone:?}");
    let other = world.run(&["resume", &id, "--max-iterations", "5000"]).await;
    assert!(other.code == Some(1) && other.stderr.contains(&how), "{other:?}");
    let little = world.run(&["resume", &id, "--cost-budget", "0.001"]).await;
    assert!(little.code == Some(1) && little.stderr.contains("raise cost_budget_usd further"), "{little:?}");
    let no_number = world.run(&["resume", &id, "--cost-budget", "NaN"]).await;
    assert_eq!(no_number.code, Some(2), "{}", no_number.stderr);
    for (limits, sentence) in [
        (r#"{"cost_budget": 1}"#, "there is no limit `cost_budget`; did you mean `cost_budget_usd`?"),
        (r#"{"cost_budget_usd": null}"#, "no `cost_budget_usd` at all is above the 40"),
        (r#"{"cost_budget_usd": "1"}"#, "`cost_budget_usd` must be a number"),
        (r#"{"max_iterations": 0}"#, "`max_iterations` must be at least 1"),
        (r#"{"max_iterations": null}"#, "`max_iterations` must be a whole number"),
        (r#"{"repeated_calls": {"replan": 21}}"#, "`repeated_calls.replan` of 21 is above the 20"),
        (r#"{"on_tool_failure": "explode"}"#, "`on_tool_failure` must be `continue` or `stop`"),
        (r#"{"closed_todos": 1}"#, "`closed_todos` must be `keep` or `drop`"),
        ("[]", "limits must be an object of limits"),
    ] {
        let said = resumed_with(&world, job, limits).await.expect_err(limits);
        assert!(said.contains(&format!("job {job} is paused: ")) && said.contains(sentence), "{limits}: {said}");
    }
    assert_eq!(world.job(job).await.status, "paused", "what is refused changes nothing");

    let raised = world.run(&["resume", &id, "--cost-budget", "40", "--feedback", "Go on."]).await;
    assert_eq!(raised.code, Some(0), "{}", raised.stderr);
    world.becomes(job, "completed").await;
    assert!(shown(&world, &id).await.contains(" of 40 USD, "), "the raised one");
    let watched = world.run(&["watch", &id]).await.stdout;
    assert!(watched.lines().any(|line| line.ends_with(" of 40 USD)")), "{watched}");
    let commands: Vec<(String, Value)> = sqlx::query_as(
        "SELECT command, arguments FROM job_commands WHERE job_id = $1 AND by = session_user ORDER BY at",
    )
    .bind(job)
    .fetch_all(&world.pool)
    .await
    .expect("the commands can be read");
    let arguments = json!({"feedback": "Go on.", "limits": {"cost_budget_usd": 40.0}});
    assert_eq!(commands, [("resume_job".to_owned(), arguments)]);

    // For that job alone: a fork of it has the budget of its type again.
    let fork =
        "SELECT fork_job($1, (SELECT max(step) FROM checkpoints WHERE job_id = $1 AND phase = 'tactical'))::text";
    let fork = world.call(fork, job).await.expect("a job can be forked");
    let limits: Option<Value> = sqlx::query_scalar("SELECT raised_limits FROM jobs WHERE id = $1::uuid")
        .bind(fork)
        .fetch_one(&world.pool)
        .await
        .expect("the fork can be read");
    assert_eq!(limits, None);
    worker.stop().await;
    world.finish().await;
}

/// Limits that the database cannot check, because no worker reported the ceiling, are checked by the worker when the
/// job continues.
#[sqlx::test(migrations = false)]
async fn a_limit_above_a_ceiling_that_came_later_waits_for_a_lower_one(pool: PgPool) {
    let world = world(pool, &json!({})).await;
    let first = world.start(worker(&world));
    let job = paused_job(&world).await;
    first.stop().await;
    configure(&world, &json!({"cost_budget_usd": 30}));
    assert_eq!(resumed_with(&world, job, r#"{"cost_budget_usd": 31}"#).await.as_deref(), Ok("pending"));
    let second = world.start(worker(&world));
    let paused = world.becomes(job, "paused").await;
    let reason = paused.reason.clone().expect("a pause has a reason");
    assert!(reason.contains("`limits.cost_budget_usd` (31) is above the 30 of `limits_ceiling`"), "{reason}");
    assert!(paused.error.is_none(), "{paused:?}");
    assert_eq!(resumed_with(&world, job, r#"{"cost_budget_usd": 30}"#).await.as_deref(), Ok("pending"));
    world.becomes(job, "completed").await;
    second.stop().await;
    world.finish().await;
}

/// Limits that contradict each other are said, and cost no work.
#[sqlx::test(migrations = false)]
async fn limits_that_do_not_go_together_wait_for_others(pool: PgPool) {
    let world = world(pool, &json!({})).await;
    let worker = world.start(worker(&world));
    let job = paused_job(&world).await;
    let limits = r#"{"cost_budget_usd": null, "repeated_calls": {"nudge": 50}}"#;
    assert_eq!(resumed_with(&world, job, limits).await.as_deref(), Ok("pending"));
    let told = |row: &plumbline_system_tests::jobs::Job| {
        row.status == "paused" && row.reason.as_deref().is_some_and(|reason| reason.contains("must rise from nudge"))
    };
    world.until(job, "is paused for its limits", told).await;
    // Refused limits are replaced as a whole.
    let limits = r#"{"cost_budget_usd": null, "repeated_calls": {"nudge": 2}}"#;
    assert_eq!(resumed_with(&world, job, limits).await.as_deref(), Ok("pending"));
    world.becomes(job, "completed").await;
    worker.stop().await;
    world.finish().await;
}

/// The database's list of limits is the configuration's.
#[sqlx::test(migrations = false)]
async fn the_limits_that_the_database_knows_are_those_of_the_schema(pool: PgPool) {
    let world = World::new(pool).await;
    let mut known: Vec<(String, f64, f64, bool, bool)> = sqlx::query_as(
        "SELECT key, at_least::float8, at_most::float8, whole, optional FROM limit_rules() ORDER BY key COLLATE \"C\"",
    )
    .fetch_all(&world.pool)
    .await
    .expect("the limits can be read");
    let schema: Value = serde_json::from_str(include_str!("../../../configs/schema.json")).expect("the schema is JSON");
    let defaults: Value = serde_json::from_str(include_str!("../../../configs/defaults.json")).expect("it is JSON");
    let mut of_schema = Vec::new();
    limits(&schema["properties"]["limits"], &defaults["limits"], "", &mut of_schema);
    of_schema.sort_by(|one, other| one.0.cmp(&other.0));
    known.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(known, of_schema);
    world.finish().await;
}

fn limits(schema: &Value, defaults: &Value, path: &str, found: &mut Vec<(String, f64, f64, bool, bool)>) {
    for (key, limit) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}{key}");
        if limit["properties"].is_object() {
            limits(limit, &defaults[key], &format!("{path}."), found);
            continue;
        }
        // A choice among words is not in the list of numbers.
        if limit["enum"].is_array() {
            let known = ["on_tool_failure", "closed_todos"];
            assert!(known.contains(&path.as_str()), "wrong_limit knows the choices by name: {path}");
            continue;
        }
        let whole = limit["type"].as_array().is_some_and(|types| types.contains(&json!("integer")));
        let most = limit["maximum"].as_f64().unwrap_or(f64::from(u32::MAX));
        found.push((path, limit["minimum"].as_f64().unwrap_or(0.0), most, whole, defaults[key].is_null()));
    }
}
