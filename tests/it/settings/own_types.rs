//! An operator's own job types, with the real binary: each has its model, its prices and its address, and the
//! environment fills missing values.

use plumbline_system_tests::{
    Ended, PgPool, Uuid, World, eventually,
    jobs::NewJob,
    model::Model,
    scripted::{Reply, Scripted, reads},
};
use serde_json::{Value, json};
use sqlx::Row;
use std::path::PathBuf;

const POLICY: (&str, &[u8]) = ("policy.md", b"# Records\n\nInvoices must be kept for ten years.\n");

/// The folder of the operator's job types, with these over the creator.
pub(crate) fn job_types(world: &World, types: &[(&str, Value)]) -> PathBuf {
    let dir = world.folder().join("types");
    for (name, keys) in types {
        let folder = dir.join(name);
        std::fs::create_dir_all(&folder).expect("the world's folder can be written");
        let mut config = json!({"$extends": "creator"});
        config.as_object_mut().expect("it is an object").extend(keys.as_object().expect("keys").clone());
        let text = serde_json::to_string_pretty(&config).expect("it is JSON");
        std::fs::write(folder.join("config.json"), text).expect("the world's folder can be written");
    }
    dir
}

pub(crate) async fn run(world: &World, dir: &PathBuf, arguments: &[&str]) -> Ended {
    let mut command = world.command(arguments);
    command.env("PLUMBLINE_CONFIG_DIR", dir);
    world.start(command).ended().await
}

pub(crate) fn job<'a>(job_type: &'a str, config: Option<Value>) -> NewJob<'a> {
    NewJob { job_type, config, ..NewJob::with_content(POLICY.0, POLICY.1) }
}

/// Files that are the evidence for so many todos.
pub(crate) fn working_files(count: usize) -> impl Iterator<Item = (&'static str, Value)> {
    let content = "What this part says, in the words of the document.";
    (1..=count).map(move |part| ("write_file", json!({"path": format!("work/part_{part}.md"), "content": content})))
}

#[sqlx::test(migrations = false)]
async fn two_job_types_have_two_models_prices_and_addresses_on_one_worker(pool: PgPool) {
    let world = World::new(pool).await;
    let (cheap, dear) = (Model::start().await, Model::start().await);
    let priced = |model: &str, server: &Model, price: f64| {
        let prices = json!({"input": price, "cached_input": price, "output": price});
        json!({"llm": {"model": model, "base_url": server.base_url(), "prices": prices}, "limits": {"max_iterations": 60}})
    };
    let dir = job_types(
        &world,
        &[
            ("cheap", priced("small-model", &cheap, 1.0)),
            ("dear", priced("large-model", &dear, 10.0)),
            ("open", json!({})),
        ],
    );
    let mut jobs = Vec::new();
    for job_type in ["cheap", "dear", "open"] {
        jobs.push(world.insert(&job(job_type, None)).await);
    }
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env("PLUMBLINE_CONFIG_DIR", &dir).env("PLUMBLINE_MAX_ITERATIONS", "1000");
    let ended = world.start(command).ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let seen = "SELECT j.job_type, j.status, j.total_requests, j.cost_usd::float8 AS cost,
                       j.total_tokens_used::float8 AS tokens, array_agg(DISTINCT r.model) AS models,
                       (s.resolved #>> '{config,limits,max_iterations}')::int AS iterations
                FROM jobs j JOIN llm_requests r ON r.job_id = j.id JOIN job_settings s ON s.job_id = j.id
                GROUP BY j.id, s.resolved ORDER BY j.job_type";
    let rows = sqlx::query(seen).fetch_all(&world.pool).await.expect("the jobs can be read");
    let expected = [
        ("cheap", "small-model", 1.0, 60, cheap.requests()),
        ("dear", "large-model", 10.0, 60, dear.requests()),
        ("open", plumbline_rehearsal::MODEL, 0.0, 1000, world.model.requests()),
    ];
    assert_eq!(rows.len(), expected.len());
    for (row, (job_type, model, price, iterations, requests)) in rows.iter().zip(expected) {
        assert_eq!(row.get::<String, _>("job_type"), job_type);
        assert_eq!(row.get::<String, _>("status"), "completed", "{job_type}");
        assert_eq!(row.get::<Vec<String>, _>("models"), [model], "{job_type}");
        assert_eq!(row.get::<i32, _>("iterations"), iterations, "{job_type}");
        assert_eq!(row.get::<i64, _>("total_requests") as u64, requests, "{job_type}: all its requests, and no others");
        let (cost, tokens) = (row.get::<f64, _>("cost"), row.get::<f64, _>("tokens"));
        assert!((cost - tokens * price / 1e6).abs() < 1e-4 && tokens > 0.0, "{job_type}: {cost} USD, {tokens} tokens");
    }
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn where_each_value_comes_from_is_shown(pool: PgPool) {
    let world = World::new(pool).await;
    let dir = job_types(&world, &[("local", json!({"llm": {"model": "small-model"}}))]);
    let shown = run(&world, &dir, &["config", "show", "local", "--origin"]).await;
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let origins: Value = serde_json::from_str(&shown.stdout).expect("the origins are JSON");
    assert_eq!(origins["llm.model"]["value"], "small-model");
    let place = |key: &str| origins[key]["origin"].as_str().unwrap_or_default().to_owned();
    assert!(place("llm.model").ends_with("local/config.json:4"), "{}", place("llm.model"));
    assert_eq!(place("llm.base_url"), "the environment (OPENAI_BASE_URL)");
    assert!(place("limits.max_iterations").starts_with("built in (defaults.json:"));

    let doctor = run(&world, &dir, &["doctor"]).await;
    let line = doctor.stdout.lines().find(|line| line.contains("environment: PLUMBLINE_MODEL")).unwrap_or_default();
    assert!(line.contains("PLUMBLINE_MODEL sets `llm.model` for no job type; local has its own"), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("OPENAI_BASE_URL sets `llm.base_url` for local"), "{}", doctor.stdout);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn an_unusable_budget_is_reported_before_the_first_request(pool: PgPool) {
    let world = World::new(pool).await;
    let budget = json!({"cost_budget_usd": 5.0});
    let dir = job_types(
        &world,
        &[
            ("unpriced", json!({"limits": budget})),
            ("free", json!({"limits": budget, "llm": {"prices": "free"}})),
            ("open", json!({})),
        ],
    );
    let check = run(&world, &dir, &["config", "check"]).await;
    assert_eq!(check.code, Some(0), "{}", check.stderr);
    let warning = check.stdout.lines().find(|line| line.starts_with("warning: ")).unwrap_or_default();
    assert!(warning.contains("unpriced/config.json:4: `limits.cost_budget_usd` is 5"), "{}", check.stdout);
    assert_eq!(check.stdout.matches("warning: ").count(), 1, "{}", check.stdout);
    let doctor = run(&world, &dir, &["doctor"]).await;
    assert!(
        doctor.stdout.contains("note  configuration: ") && doctor.stdout.contains("unpriced/config.json:4"),
        "{}",
        doctor.stdout
    );

    let refused =
        [world.insert(&job("unpriced", None)).await, world.insert(&job("open", Some(json!({"limits": budget})))).await];
    let free = world.insert(&job("free", None)).await;
    assert_eq!(run(&world, &dir, &["worker", "--until-idle"]).await.code, Some(0));
    for id in refused {
        let row = world.job(id).await;
        assert_eq!((row.status.as_str(), row.requests, row.step), ("failed", 0, 0), "{row:?}");
        let sentence = row.error.unwrap_or_default();
        assert!(
            sentence.contains("`limits.cost_budget_usd` is 5") && sentence.contains("llm.prices: free"),
            "{sentence}"
        );
        assert_eq!(row.details.unwrap_or_default()["kind"], "configuration");
    }
    assert_eq!(world.job(free).await.status, "completed");
    world.finish().await;
}

/// Changes in the folder apply to new jobs of a running worker; invalid ones are rejected, and the old files stay in
/// use.
#[sqlx::test(migrations = false)]
async fn changed_files_reach_new_jobs_without_a_restart(pool: PgPool) {
    let world = World::new(pool).await;
    let write = |name: &str, text: &str| {
        let folder = world.folder().join("types/ours");
        std::fs::create_dir_all(&folder).expect("the world's folder can be written");
        std::fs::write(folder.join(name), text).expect("the world's folder can be written");
    };
    let configured = |name: &str| json!({"$extends": "creator", "display_name": name}).to_string();
    write("config.json", &configured("First"));
    write("instructions.md", "Extract the requirements as the first version says.");
    let mut command = world.command(&["worker"]);
    command.env("PLUMBLINE_CONFIG_DIR", world.folder().join("types")).env("PLUMBLINE_HTTP_ADDR", "127.0.0.1:0");
    let worker = world.start(command);
    let says = async |words: &str| eventually(words, async || worker.stderr().contains(words).then_some(())).await;
    let stored = async |id: Uuid| -> (String, String) {
        world.until(id, "has begun", |job| job.step > 0).await;
        let stored = "SELECT resolved #>> '{config,display_name}', resolved #>> '{prompts,instructions}'
                      FROM job_settings WHERE job_id = $1";
        sqlx::query_as(stored).bind(id).fetch_one(&world.pool).await.expect("the settings can be read")
    };
    let first = world.insert(&job("ours", None)).await;
    assert_eq!(stored(first).await.0, "First");

    write("config.json", &configured("Second"));
    write("instructions.md", "Extract the requirements as the second version says.");
    says("reloaded configuration files").await;
    let second = world.insert(&job("ours", None)).await;
    let (name, instructions) = stored(second).await;
    assert_eq!((name.as_str(), instructions.contains("the second version")), ("Second", true));

    write("config.json", "{\"$extends\": \"creator\", \"display_nam\": \"Third\"}");
    says("rejected changed configuration files").await;
    says("unknown key `display_nam`").await;
    let third = world.insert(&job("ours", None)).await;
    assert_eq!(stored(third).await.0, "Second", "the old stays");

    write("config.json", &configured("Fourth"));
    let is_fourth = async || {
        let next = world.insert(&job("ours", None)).await;
        stored(next).await.0 == "Fourth"
    };
    eventually("the mended files to be in use", async || is_fourth().await.then_some(())).await;
    worker.stop().await;
    world.finish().await;
}

/// A changed prompt or configuration is tried on a finished job: the replay shows the changed request, and a fork
/// continues with it.
#[sqlx::test(migrations = false)]
async fn a_changed_configuration_is_tried_on_an_old_job(pool: PgPool) {
    let world = World::new(pool).await;
    let instructions = |dir: &PathBuf, text: &str| {
        std::fs::write(dir.join("ours/instructions.md"), text).expect("the world's folder can be written");
    };
    let dir = job_types(&world, &[("ours", json!({"llm": {"temperature": 0.5}}))]);
    instructions(&dir, "# Ours\n\nExtract the requirements.\n\nEach with its page.\n");
    let id = world.insert(&job("ours", None)).await;
    assert_eq!(run(&world, &dir, &["worker", "--until-idle"]).await.code, Some(0));
    world.becomes(id, "completed").await;
    let (name, folder) = (id.to_string(), dir.display().to_string());
    let replay = async || run(&world, &dir, &["replay", &name, "--config", &folder]).await;
    let same = replay().await;
    assert_eq!(same.code, Some(0), "{} {}", same.stdout, same.stderr);
    assert!(same.stdout.contains("no difference"), "{}", same.stdout);

    // The request without the conversation.
    job_types(&world, &[("ours", json!({"llm": {"temperature": 0.75}}))]);
    let warmer = replay().await;
    assert_eq!(warmer.code, Some(1), "{}", warmer.stderr);
    assert!(warmer.stdout.contains("the request differs"), "{}", warmer.stdout);
    for line in ["-  \"temperature\": 0.5", "+  \"temperature\": 0.75"] {
        assert!(warmer.stdout.lines().any(|shown| shown.starts_with(line)), "{}", warmer.stdout);
    }

    job_types(&world, &[("ours", json!({"llm": {"temperature": 0.5}}))]);
    instructions(&dir, "# Ours\n\nExtract the requirements.\n\nEach with its page and quote.\n");
    let other = replay().await;
    assert_eq!(other.code, Some(1), "{}", other.stderr);
    assert!(other.stdout.contains("message 1 (system prompt) differs"), "{}", other.stdout);
    for line in ["-Each with its page.", "+Each with its page and quote."] {
        assert!(other.stdout.lines().any(|shown| shown == line), "{}", other.stdout);
    }

    let at = world.job(id).await.step - 2;
    let forked = |flags: &[&str]| {
        let arguments: Vec<String> =
            ["fork", &name, "--at", &at.to_string()].iter().chain(flags).map(ToString::to_string).collect();
        let (world, dir) = (&world, &dir);
        async move {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let ended = run(world, dir, &arguments).await;
            assert_eq!(ended.code, Some(0), "{}", ended.stderr);
            ended.stdout.trim().parse::<Uuid>().expect("the command prints the id alone")
        }
    };
    let (plain, anew) = (forked(&[]).await, forked(&["--new-config"]).await);
    assert_eq!(run(&world, &dir, &["worker", "--until-idle"]).await.code, Some(0));
    for (fork, words) in [(plain, "Each with its page.\n"), (anew, "Each with its page and quote.\n")] {
        world.becomes(fork, "completed").await;
        let stored = "SELECT resolved #>> '{prompts,instructions}' FROM job_settings WHERE job_id = $1";
        let stored: String =
            sqlx::query_scalar(stored).bind(fork).fetch_one(&world.pool).await.expect("it has settings");
        assert!(stored.contains(words), "{stored}");
    }
    world.finish().await;
}

/// A job of a type that records no requirements has no empty folders for them, and its pages show its files.
#[sqlx::test(migrations = false)]
async fn what_a_job_shows_is_what_it_has(pool: PgPool) {
    let world = World::new(pool).await;
    let write = ("write_file", json!({"path": "output/answer.md", "content": "Invoices must be kept for ten years."}));
    let complete = ("job_complete", json!({"summary": "Done.", "deliverables": ["output/answer.md"], "confidence": 1}));
    let model = Scripted::start(move |_, number| match number {
        1 => reads(),
        2 => Reply::calls(
            &std::iter::once(write.clone())
                .chain(working_files(4))
                .chain(std::iter::repeat_n(("todo_complete", json!({})), 5))
                .collect::<Vec<_>>(),
        ),
        _ => Reply::calls(std::slice::from_ref(&complete)),
    })
    .await;
    let dir = job_types(
        &world,
        &[
            ("answers", json!({"llm": {"base_url": model.base_url()}, "tools": {"domain": [], "deferred": []}})),
            ("records", json!({})),
        ],
    );
    let answers = world.insert(&NewJob { job_type: "answers", prompt: "Say what holds", ..NewJob::default() }).await;
    let creator = world.insert(&job("records", None)).await;
    assert_eq!(run(&world, &dir, &["worker", "--until-idle"]).await.code, Some(0));
    world.becomes(answers, "completed").await;
    let has = |id: Uuid, folder: &str| world.workspace().join(format!("job_{id}")).join(folder).is_dir();
    for folder in ["requirements", "candidates", "chunks"] {
        assert!(!has(answers, folder), "{folder} of a type without its tools");
        assert!(has(creator, folder), "{folder} of the creator");
    }
    assert!(has(answers, "output") && has(answers, "input"));
    let status = run(&world, &dir, &["status", &answers.to_string()]).await;
    assert!(status.stdout.contains("files     output/answer.md"), "{}", status.stdout);
    world.finish().await;
}
