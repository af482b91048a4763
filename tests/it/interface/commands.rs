//! The commands from a user's view: output, exit codes, and one sentence on failure.

use plumbline_system_tests::{
    Answer, Ended, PgPool, Program, Uuid, World, documents, eventually,
    jobs::NewJob,
    mirror::{self},
    program,
};
use serde_json::{Value, json};

/// Asserts a failure with this exit code, reported in one line of standard error that has these words.
fn assert_fails(ended: &Ended, code: i32, words: &[&str]) {
    assert_eq!(ended.code, Some(code), "{ended:?}");
    assert_eq!(ended.stderr.trim_end().lines().count(), 1, "not one line: {}", ended.stderr);
    for word in words {
        assert!(ended.stderr.contains(word), "`{word}` is not in: {}", ended.stderr);
    }
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
}

/// The output of a command that must succeed and say nothing on standard error.
async fn output(world: &World, arguments: &[&str]) -> String {
    let ended = world.run(arguments).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    ended.stdout
}

#[sqlx::test(migrations = false)]
async fn enqueue_prints_the_id_alone_and_keeps_what_it_was_given(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(1);
    for name in ["one.md", "two.md"] {
        std::fs::write(world.folder().join(name), &policy.markdown).expect("a document can be written");
    }
    let printed = output(
        &world,
        &[
            "enqueue",
            "--prompt",
            "Extract the requirements",
            "--document",
            "one.md",
            "--context",
            r#"{"customer": "Halvorsen"}"#,
            "--priority",
            "-7",
            "--run-at",
            "2020-01-31T08:00:00Z",
        ],
    )
    .await;
    let id: Uuid = printed.strip_suffix('\n').and_then(|line| line.parse().ok()).expect("the id, and nothing else");
    let kept: Value = sqlx::query_scalar(
        "SELECT jsonb_build_object('type', job_type, 'priority', priority, 'context', context,
                'year', extract(year FROM run_at), 'document', convert_from(document_content, 'UTF8'))
         FROM jobs WHERE id = $1",
    )
    .bind(id)
    .fetch_one(&world.pool)
    .await
    .expect("the job is there");
    let context = json!({"customer": "Halvorsen", "document_name": "one.md"});
    let expected =
        json!({"type": "creator", "priority": -7, "context": context, "year": 2020, "document": policy.markdown});
    assert_eq!(kept, expected);

    let arguments = ["enqueue", "--prompt", "Extract the requirements", "--document", "one.md", "--document", "two.md"];
    let several: Uuid = output(&world, &arguments).await.trim().parse().expect("an id");
    world.work_until_idle().await;
    world.becomes(id, "completed").await;
    world.becomes(several, "completed").await;
    let files = mirror::rows(&world.pool, several).await;
    assert!(files.contains_key("input/one.md") && files.contains_key("input/two.md"), "{files:?}");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn status_in_a_pipe_has_the_complete_reason_of_each_job(pool: PgPool) {
    let world = World::new(pool).await;
    let job_type = "creator\n another line";
    let job = world.insert(&NewJob { job_type, prompt: "Say what records are", ..NewJob::default() }).await;
    let reason = "the model's server refused the key of 2 requests:\tset OPENAI_API_KEY, and start the worker anew";
    sqlx::query("UPDATE jobs SET status_reason = $1 WHERE id = $2")
        .bind(reason)
        .bind(job)
        .execute(&world.pool)
        .await
        .expect("a reason can be set");
    let list = output(&world, &["status"]).await;
    assert!(list.contains(&reason.replace('\t', " ")) && list.lines().count() == 2, "{list}");
    let one = output(&world, &["status", &job.to_string()]).await;
    assert!(one.starts_with(&format!("job       {job} (creator another line)\n")), "{one}");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn status_export_and_watch_show_a_finished_job(pool: PgPool) {
    let world = World::new(pool).await;
    assert!(output(&world, &["status"]).await.contains("no jobs yet"));
    let policy = documents::policy(2);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    let id = job.to_string();
    world.work_until_idle().await;

    let list = output(&world, &["status"]).await;
    assert!(list.contains(&id) && list.contains("completed") && list.contains("3/3"), "{list}");
    let one = output(&world, &["status", &id]).await;
    assert!(one.contains("completed") && one.contains("[x] 1. ") && one.contains("3 of 3"), "{one}");
    let counts = one.lines().find(|line| line.starts_with("counts ")).unwrap_or_else(|| panic!("no counts: {one}"));
    for words in [" requirement", "verified", "coverage 1 (of ", " cited"] {
        assert!(counts.contains(words), "{words}: {counts}");
    }
    let all: Value = serde_json::from_str(&output(&world, &["status", "--json"]).await).expect("JSON");
    assert_eq!(
        (&all[0]["id"], &all[0]["status"], &all[0]["requirements"]),
        (&json!(id), &json!("completed"), &json!(4))
    );
    let detail: Value = serde_json::from_str(&output(&world, &["status", &id, "--json"]).await).expect("JSON");
    assert_eq!(detail["id"], json!(id));
    let todos = detail["todos"].as_array().expect("todos are a list");
    assert!(todos.len() > 10 && todos.iter().all(|todo| todo["status"] == "completed"), "{detail}");

    let watched = output(&world, &["watch", &id]).await;
    assert!(watched.starts_with("completed") && !watched.contains('\u{1b}'), "{watched}");

    let printed = output(&world, &["export", &id, "exported"]).await;
    let rows = mirror::rows(&world.pool, job).await;
    assert!(printed.starts_with(&format!("{} files", rows.len())), "{printed}");
    assert_eq!(mirror::folder(&world.folder().join("exported")), rows);
    assert_fails(&world.run(&["export", &id, "exported"]).await, 1, &["exported", "empty"]);
    let mut output_alone = rows.clone();
    output_alone.retain(|path, _| path.starts_with("output/"));
    output(&world, &["export", &id, "part", "--only", "output/"]).await;
    assert_eq!(mirror::folder(&world.folder().join("part")), output_alone);
    let listed = output(&world, &["files", &id]).await;
    let paths: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(paths, rows.keys().collect::<Vec<_>>());
    let listed = output(&world, &["files", &id, "output/"]).await;
    assert_eq!(listed.lines().count(), output_alone.len());
    for path in output_alone.keys() {
        let shown = world.run(&["cat", &id, path]).await;
        let content = std::fs::read_to_string(world.folder().join("exported").join(path)).expect("it was exported");
        assert_eq!((shown.code, &shown.stdout), (Some(0), &content), "{path}");
    }
    assert_fails(
        &world.run(&["cat", &id, "output/none.md"]).await,
        1,
        &["has no file output/none.md", "plumbline files"],
    );
    assert_fails(&world.run(&["files", &id, "none/"]).await, 1, &["no file whose path begins with none/"]);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn watch_follows_a_job_in_plain_lines_to_its_end(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    let watch = world.start(world.command(&["watch", &job.to_string()]));
    eventually("the waiting job to be shown", async || watch.stdout().starts_with("pending").then_some(())).await;
    world.model.hold_from(7);
    let worker = world.worker();
    eventually("the running job to be shown", async || watch.stdout().contains("running [tactical").then_some(()))
        .await;
    world.model.answers(Answer::Work);
    let ended = watch.ended().await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let mut last = ended.stdout.lines().rev();
    assert!(last.next().is_some_and(|line| line.contains("requirements for")), "the headline: {}", ended.stdout);
    assert!(last.next().is_some_and(|line| line.starts_with("completed")), "{}", ended.stdout);
    assert!(!ended.stdout.contains(['\u{1b}', '\r']), "control characters in a pipe: {}", ended.stdout);
    worker.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn watch_ends_with_the_job_or_with_what_a_person_is_to_do(pool: PgPool) {
    let world = World::new(pool).await;
    let prompt = "Say what records are";
    let review = Some(json!({"autonomy": "review"}));
    let wrong = Some(json!({"limts": {}}));
    let failed = world.insert(&NewJob { prompt, config: wrong, ..NewJob::default() }).await;
    let cancelled = world.insert(&NewJob { prompt, ..NewJob::default() }).await;
    let reviewed = world.insert(&NewJob { prompt, config: review, ..NewJob::default() }).await;
    let limited = Some(json!({"limits": {"max_iterations": 3}}));
    let limited = world.insert(&NewJob { prompt, config: limited, ..NewJob::default() }).await;
    let paused = world.insert(&NewJob { prompt, ..NewJob::default() }).await;
    assert_eq!(world.run(&["cancel", &cancelled.to_string()]).await.code, Some(0));
    assert_eq!(world.run(&["pause", &paused.to_string()]).await.code, Some(0));
    world.work_until_idle().await;
    for (job, code, to_type) in [
        (failed, 1, String::new()),
        (cancelled, 2, String::new()),
        (
            reviewed,
            3,
            format!("`plumbline approve {reviewed}` completes it, `plumbline feedback {reviewed} TEXT` sends it back"),
        ),
        (paused, 4, format!("An operator may continue it with `plumbline resume {paused}`")),
        (limited, 4, format!("`plumbline resume {limited} --max-iterations N` or resume_job('{limited}', limits => ")),
    ] {
        let ended = world.run(&["watch", &job.to_string()]).await;
        assert_eq!(ended.code, Some(code), "{ended:?}");
        assert!(ended.stdout.lines().last().is_some_and(|line| line.contains(&to_type)), "{to_type}: {ended:?}");
        let json = world.run(&["watch", &job.to_string(), "--json"]).await;
        assert_eq!((json.code, json.stdout.lines().count()), (Some(code), 1), "{json:?}");
    }
    // Nothing but the row of the call says that it waits.
    let call = "INSERT INTO approvals (job_id, step, call_id, tool, tool_sha256, arguments, arguments_sha256, shown, expires_at)
                VALUES ($1, 1, 'call_1', 'http_pay', sha256('tool'), '{}', sha256('{}'), '{}', now() + interval '9 days')";
    sqlx::query(call).bind(reviewed).execute(&world.pool).await.expect("a call that waits");
    let calls = world.run(&["watch", &reviewed.to_string()]).await;
    assert_eq!(calls.code, Some(3), "{calls:?}");
    assert!(calls.stdout.contains(&format!("`plumbline approvals {reviewed}` lists the calls")), "{calls:?}");
    assert!(!calls.stdout.contains("`plumbline approve "), "it would be refused: {calls:?}");
    sqlx::query("DELETE FROM approvals").execute(&world.pool).await.expect("no call waits");
    let back = world.run(&["feedback", &reviewed.to_string(), "Say it in one sentence."]).await;
    assert_eq!((back.code, back.stdout.as_str()), (Some(0), format!("job {reviewed} is pending\n").as_str()));
    world.work_until_idle().await;
    assert_eq!(world.becomes(reviewed, "review").await.status, "review");
    assert_eq!(world.run(&["approve", &reviewed.to_string()]).await.code, Some(0));
    assert_eq!(world.run(&["watch", &reviewed.to_string()]).await.code, Some(0));
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_command_that_cannot_be_done_says_why_in_one_line(pool: PgPool) {
    let world = World::new(pool).await;
    let job = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await.to_string();
    let unknown = Uuid::nil().to_string();
    for command in ["status", "watch", "cancel", "pause", "resume", "retry", "approve"] {
        assert_fails(&world.run(&[command, &unknown]).await, 1, &[&unknown, "there is no job"]);
    }
    for command in ["status", "watch", "trace", "files", "coverage", "approvals"] {
        assert_fails(&world.run(&[command, &unknown]).await, 1, &[&unknown, "none that this login sees"]);
    }
    assert_fails(&world.run(&["export", &unknown, "out"]).await, 1, &[&unknown, "there is no job"]);
    for command in ["resume", "retry", "approve"] {
        assert_fails(&world.run(&[command, &job]).await, 1, &[&job, "pending", command]);
    }
    let missing = ["enqueue", "--prompt", "Read it", "--document", "nowhere.pdf"];
    assert_fails(&world.run(&missing).await, 1, &["nowhere.pdf"]);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn wrong_usage_exits_with_2(pool: PgPool) {
    let world = World::new(pool).await;
    for (arguments, words) in [
        (vec!["wrok"], vec!["wrok", "worker"]),
        (vec!["watch"], vec!["JOB", "plumbline watch --help"]),
        (vec!["eval", "gold.jsonl"], vec!["--job", "--recording", "plumbline eval --help"]),
        (vec!["retry"], vec!["JOB", "--failed-since", "plumbline retry --help"]),
        (vec!["candidates"], vec!["FILE", "--sentences"]),
        (vec!["watch", "not-an-id"], vec!["not-an-id", "--help"]),
        (vec!["replay", ""], vec!["JOB|FILE", "it must be a job's id", "--help"]),
        (vec!["enqueue"], vec!["--prompt"]),
        (vec!["enqueue", "--prompt", "Read it", "--type", ""], vec!["--type", "leave --type out"]),
        (vec!["enqueue", "--prompt", "Read it", "--type", " "], vec!["--type", "leave --type out"]),
        (vec!["enqueue", "--prompt", " "], vec!["--prompt", "what is to be done"]),
        (vec!["enqueue", "--prompt", "Read it", "--key", ""], vec!["--key", "leave --key out"]),
        (vec!["worker", "--job-types", ""], vec!["--job-types", "leave --job-types out"]),
        (vec!["worker", "--job-types", "creator,,validator"], vec!["--job-types", "leave --job-types out"]),
        (vec!["worker", "--concurrency", "0"], vec!["--concurrency", "from 1 to 10000"]),
        (vec!["worker", "--concurrency", "many"], vec!["--concurrency", "from 1 to 10000"]),
        (vec!["enqueue", "--prompt", "Read it", "--priority", "1.5"], vec!["--priority", "whole number"]),
        (vec!["worker", "--concurency", "3"], vec!["'--concurency' found; a similar argument exists: '--concurrency'"]),
        (vec!["enqueue", "--prompt", "Read it", "--context", "[1]"], vec!["--context", "object"]),
        (vec!["enqueue", "--prompt", "Read it", "--context", "{"], vec!["--context", "JSON"]),
        (vec!["rehearse", "--listen", "nowhere"], vec!["nowhere", "127.0.0.1:8080"]),
        (vec!["approve-call", "x1"], vec!["x1", "plumbline approvals"]),
    ] {
        assert_fails(&world.run(&arguments).await, 2, &words);
    }
    let mut nameless = world.command(&["status"]);
    nameless.env_remove("DATABASE_URL");
    assert_fails(&world.start(nameless).ended().await, 2, &["DATABASE_URL"]);
    let mut wrong = world.command(&["worker"]);
    wrong.env("PLUMBLINE_LEASE_SECS", "soon");
    assert_fails(&world.start(wrong).ended().await, 2, &["PLUMBLINE_LEASE_SECS", "soon"]);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_negative_number_is_the_value_of_its_option(pool: PgPool) {
    let world = World::new(pool).await;
    let early = output(&world, &["enqueue", "--prompt", "Read it", "--priority", "-5"]).await;
    let job = early.trim();
    let priority: i32 = sqlx::query_scalar("SELECT priority FROM jobs WHERE id = $1")
        .bind(job.parse::<Uuid>().expect("an id"))
        .fetch_one(&world.pool)
        .await
        .expect("the job can be read");
    assert_eq!(priority, -5);
    for (arguments, words) in [
        (vec!["resume", job, "--cost-budget", "-1"], vec!["--cost-budget", "dollars from 0"]),
        (vec!["resume", job, "--token-budget", "-1"], vec!["--token-budget", "whole number from 0"]),
        (vec!["resume", job, "--max-iterations", "-1"], vec!["--max-iterations", "whole number from 0"]),
        (vec!["resume", job, "--deadline", "-1"], vec!["--deadline", "whole number from 0"]),
        (vec!["prune", "--older-than", "-1d"], vec!["--older-than", "30d"]),
        (vec!["status", "--since", "-24h"], vec!["--since", "24h"]),
        (vec!["retry", "--failed-since", "-1d"], vec!["--failed-since", "24h"]),
        (vec!["enqueue", "--prompt", "x", "--run-at", "-1h"], vec!["--run-at", "2027-01-31"]),
        (vec!["enqueue", "--prompt", "x", "--config", "-1"], vec!["--config", "JSON object"]),
        (vec!["rehearse", "--listen", "127.0.0.1:0", "--delay-ms", "-1"], vec!["--delay-ms", "whole number from 0"]),
        (vec!["worker", "--concurrency", "-1"], vec!["--concurrency", "from 1 to 10000"]),
        (vec!["trace", job, "--step", "-1"], vec!["--step", "whole number from 1"]),
        (vec!["fork", job, "--at", "-1"], vec!["--at", "whole number from 1"]),
        (vec!["watch", job, "--require-coverage", "-1"], vec!["--require-coverage", "0 to 1"]),
        (vec!["grant-calls", job, "http_pay", "-1"], vec!["COUNT", "whole number from 1"]),
    ] {
        let ended = world.run(&arguments).await;
        assert_fails(&ended, 2, &words);
        assert!(!ended.stderr.contains("unexpected argument"), "{}", ended.stderr);
    }
    world.finish().await;
}

#[tokio::test]
async fn a_wrong_address_is_blamed_on_the_flag_that_has_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (arguments, flag, variable) in [
        (&["roles", "--database", "nonsense"][..], "use --database", "DATABASE_URL"),
        (&["roles", "--database", "postgres://127.0.0.1:1/x"], "check --database", "DATABASE_URL"),
    ] {
        let mut command = program::command(arguments);
        command.env("DATABASE_URL", "postgres://127.0.0.1:2/other");
        let ended = Program::start(command, folder.path()).ended().await;
        assert_fails(&ended, 1, &[flag]);
        assert!(!ended.stderr.contains(variable), "{}", ended.stderr);
    }
}

#[sqlx::test(migrations = false)]
async fn what_is_named_and_is_not_there_has_a_sentence_on_where_to_look(pool: PgPool) {
    let world = World::new(pool).await;
    let unknown = Uuid::nil().to_string();
    let words = [unknown.as_str(), "the table approvals lists those that wait"];
    assert_fails(&world.run(&["approve-call", &unknown]).await, 1, &words);
    let mut worker = world.command(&["worker", "--until-idle"]);
    worker.env("RUST_LOG", "info,=x=,,sqlx=wrong");
    let ended = world.start(worker).ended().await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("RUST_LOG is not a log filter like `info,sqlx=warn`"), "{}", ended.stderr);
    world.finish().await;
}

#[tokio::test]
async fn help_lists_every_command_and_hides_what_is_internal() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let help = async |arguments: &[&str]| {
        let ended = plumbline_system_tests::Program::start(program::command(arguments), folder.path()).ended().await;
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        ended.stdout
    };
    let overview = help(&["--help"]).await;
    for command in [
        "migrate", "worker", "enqueue", "status", "watch", "cancel", "pause", "resume", "retry", "approve", "feedback",
        "files", "cat", "export", "report", "config", "dev", "rehearse", "doctor",
    ] {
        assert!(
            overview.lines().any(|line| line.trim_start().starts_with(&format!("{command} "))),
            "{command}: {overview}"
        );
        assert!(help(&[command, "--help"]).await.contains("Usage: plumbline"), "{command}");
    }
    assert!(!overview.contains("__"), "{overview}");
    assert!(help(&["--version"]).await.starts_with("plumbline "));
}
