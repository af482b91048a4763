//! Replays of recorded jobs: without a difference if unchanged, and with the difference found if something was changed.
//!
//! `tests/recordings/` holds recordings of whole jobs. After an intended change of requests or effects, run this module
//! with `UPDATE=1` and review the changes in the files.

use plumbline_rehearsal::misbehave::{FATAL, Misbehaving, Rate, kinds};
use plumbline_system_tests::{
    Answer, Ended, PgPool, Program, Uuid, World, documents, eventually,
    jobs::NewJob,
    program,
    scripted::{Reply, Scripted},
    wait::{CEILING, LOOK},
};
use serde_json::{Value, json};
use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant, SystemTime},
};

#[sqlx::test(migrations = false)]
async fn a_finished_job_is_replayed_from_its_rows_and_from_a_file(pool: PgPool) {
    let world = World::new(pool).await;
    let job = world.insert(&NewJob::with_content("policy.pdf", &documents::sample("pdf"))).await;
    world.work_until_idle().await;
    let requests = world.becomes(job, "completed").await.requests;
    let ended = world.run(&["replay", &job.to_string()]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(ended.stdout.ends_with(&format!(", {requests} requests, no difference\n")), "{}", ended.stdout);

    let exported = world.run(&["trace", &job.to_string(), "--export", "job.json"]).await;
    assert_eq!((exported.code, exported.stderr.as_str()), (Some(0), ""));
    assert_eq!(replay_file(&world, "job.json").await.stdout, ended.stdout, "a file needs no database");
    let json = world.run(&["replay", "job.json", "--json"]).await.stdout;
    let json: Value = serde_json::from_str(&json).expect("one object");
    assert_eq!((&json["requests"], &json["difference"]), (&json!(requests), &Value::Null));
    world.finish().await;
}

/// Replays a file in a world without a database.
async fn replay_file(world: &World, name: &str) -> Ended {
    let mut command = program::command(&["replay", name]);
    command.current_dir(world.folder());
    world.start(command).ended().await
}

/// Pauses, feedback, failures of the provider, a kill: any event between two steps.
#[sqlx::test(migrations = false)]
async fn what_happened_between_steps_is_replayed_as_well(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.model.hold_from(6);
    let worker = world.worker();
    world.model.arrived(6).await;
    assert_eq!(world.call("SELECT send_feedback($1, 'Mind the annex.')", job).await.expect("a status"), "running");
    put_into_input(&world, job, "note.md").await;
    world.model.answers_before(8, Answer::Fail(503, Some(0)));
    world.model.arrived(8).await;
    world.model.answers_before(12, Answer::Work);
    world.model.arrived(12).await;
    worker.kill().await;
    world.age_workers().await;
    // A scan of the folder finishes between two turns: the turns wait until one has.
    world.model.answers(Answer::Slowly(Duration::from_secs(1)));
    let worker = world.worker();
    taken_in(&world, job, "input/note.md").await;
    world.model.answers(Answer::Work);
    world.becomes(job, "completed").await;
    worker.stop().await;
    assert_replays(&world, job).await;
    let trace = world.run(&["trace", &job.to_string()]).await.stdout;
    for word in ["feedback", "input/note.md", "failed: "] {
        assert!(trace.contains(word), "the job should have met `{word}`:\n{trace}");
    }
    world.finish().await;
}

/// A refusal that passed, and one that ended the job: neither the status nor the times in `error.md` are in the rows.
#[sqlx::test(migrations = false)]
async fn refusals_are_replayed(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.model.hold_from(3);
    let worker = world.worker();
    world.model.arrived(3).await;
    world.model.answers_before(4, Answer::Fail(404, Some(0)));
    world.model.arrived(4).await;
    world.model.answers_before(5, Answer::Work);
    world.model.arrived(5).await;
    world.model.answers(Answer::Fail(400, None));
    world.becomes(job, "failed").await;
    worker.stop().await;
    assert_replays(&world, job).await;
    world.finish().await;
}

/// What a job finds in the import folder is not in its rows, and neither is what it did not find.
#[sqlx::test(migrations = false)]
async fn a_refused_input_is_replayed(pool: PgPool) {
    let world = World::new(pool).await;
    world.import("other.md", "Records must be kept.");
    let job = world.insert(&NewJob::with_path("policy.md")).await;
    let worker = world.worker();
    world.becomes(job, "failed").await;
    assert_replays(&world, job).await;
    world.import("policy.md", &documents::policy(2).markdown);
    let again = world.run(&["retry", &job.to_string(), "--feedback", "It is there now."]).await;
    assert_eq!((again.code, again.stderr.as_str()), (Some(0), ""));
    world.becomes(job, "completed").await;
    worker.stop().await;
    assert_replays(&world, job).await;
    world.finish().await;
}

/// Puts a file into a running job's `input/`, as if it had been there for a while: one that has just changed may be half
/// copied.
async fn put_into_input(world: &World, job: Uuid, name: &str) {
    let input = world.workspace().join(format!("job_{job}/input"));
    eventually("the folder to be shown", async || input.is_dir().then_some(())).await;
    fs::write(input.join(name), "A late note.").expect("a person may write there");
    let long_since = SystemTime::now() - Duration::from_secs(60);
    let file = fs::File::options().write(true).open(input.join(name));
    file.and_then(|file| file.set_modified(long_since)).expect("a time is set");
}

/// Waits until the job has this file.
async fn taken_in(world: &World, job: Uuid, path: &str) {
    let known = "SELECT EXISTS (SELECT FROM workspace_files WHERE job_id = $1 AND path = $2)";
    eventually("the file to be taken in", async || {
        let known: Result<bool, _> = sqlx::query_scalar(known).bind(job).bind(path).fetch_one(&world.pool).await;
        known.expect("rows can be read").then_some(())
    })
    .await;
}

/// The rows have our own count in place of one that is too small.
#[sqlx::test(migrations = false)]
async fn answers_of_a_server_that_counts_too_little_are_replayed(pool: PgPool) {
    let world = World::new(pool).await;
    let model = Scripted::start(|_, _| Reply::calls(&[("list_files", json!({"path": "input"}))]).counting(10)).await;
    let config = Some(json!({"limits": {"max_iterations": 3}}));
    let job = world.insert(&NewJob { prompt: "List the input", config, ..NewJob::default() }).await;
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env("OPENAI_BASE_URL", model.base_url());
    world.start(command).ended().await;
    world.becomes(job, "paused").await;
    assert_replays(&world, job).await;
    world.finish().await;
}

async fn assert_replays(world: &World, job: Uuid) {
    let ended = world.run(&["replay", &job.to_string()]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
    assert!(ended.stdout.contains("no difference"), "{}", ended.stdout);
}

/// A change of any part of a recording is found, at its step.
#[sqlx::test(migrations = false)]
async fn a_planted_change_is_found(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.work_until_idle().await;
    assert_eq!(world.run(&["trace", &job.to_string(), "--export", "job.json"]).await.code, Some(0));
    let recording = fs::read_to_string(world.folder().join("job.json")).expect("the recording");
    let recording: Value = serde_json::from_str(&recording).expect("it is JSON");
    for (what, plant) in PLANTS {
        let mut changed = recording.clone();
        let step = changed["job"]["steps"].as_array_mut().expect("steps").iter_mut().find_map(|step| {
            let number = step["step"].as_i64().expect("a number");
            plant(step).then_some(number)
        });
        let step = step.or_else(|| plant(&mut changed["requests"]).then_some(3));
        let step = step.unwrap_or_else(|| panic!("no step has {what}"));
        fs::write(world.folder().join("changed.json"), changed.to_string()).expect("a file can be written");
        let ended = replay_file(&world, "changed.json").await;
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""), "{what}: {}", ended.stdout);
        let found: Option<i64> =
            ended.stdout.strip_prefix("step ").and_then(|rest| rest.split(':').next()?.parse().ok());
        assert!(found.is_some_and(|found| found == step), "{what} was planted in step {step}: {}", ended.stdout);
        assert!(ended.stdout.contains(what) && ended.stdout.lines().count() == 1, "{what}: {}", ended.stdout);
    }
    let mut status = recording.clone();
    status["job"]["status"] = json!("review");
    fs::write(world.folder().join("changed.json"), status.to_string()).expect("a file can be written");
    let ended = replay_file(&world, "changed.json").await;
    assert!(ended.code == Some(1) && ended.stdout.contains("ending"), "{}", ended.stdout);
    world.finish().await;
}

/// Words of the report, and the change: true if the step has such an item, which is then changed.
type Plant = (&'static str, fn(&mut Value) -> bool);

const PLANTS: [Plant; 9] = [
    ("(tool result)", |step| change_message(step, "tool_result")),
    ("(opening)", |step| change_message(step, "opening")),
    ("(tool result)", |step| {
        // Another answer of the model leads to another result of the tool that is really run.
        let mut calls = list(step, "messages").flat_map(|message| list(message, "tool_calls"));
        let call = calls.find(|call| call["name"] == "read_file");
        call.map(|call| call["arguments"] = json!("{\"path\":\"nowhere.md\"}")).is_some()
    }),
    ("file output/", |step| {
        let files = step.get_mut("files").and_then(Value::as_object_mut).into_iter().flatten();
        let mut output = files.filter(|(path, _)| path.starts_with("output/"));
        output.next().map(|(_, content)| *content = json!({"text": "changed"})).is_some()
    }),
    ("effects", |step| {
        let closed = list(step, "effects").find(|effect| effect["kind"] == "todo completed");
        closed.map(|effect| effect["what"] = json!("1.1 Something else")).is_some()
    }),
    ("requirements", |step| put(step, "/requirements/0/priority", json!("odd"))),
    ("the checkpoint's `guards`", |step| put(step, "/state/guards/silent_turns", json!(7))),
    ("purpose", |step| put(step, "/requests/0/purpose", json!("summary"))),
    // Not in a step: the requests by step. The first is made in the third step, after the job's documents.
    ("the request (its tool definitions)", |requests| {
        put(requests, "/3/body", json!("0")) && put(requests, "/3/tools", json!("0"))
    }),
];

fn put(step: &mut Value, pointer: &str, value: Value) -> bool {
    step.pointer_mut(pointer).map(|place| *place = value).is_some()
}

fn list<'a>(value: &'a mut Value, key: &str) -> impl Iterator<Item = &'a mut Value> {
    value.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten()
}

fn change_message(step: &mut Value, kind: &str) -> bool {
    let found = list(step, "messages").find(|message| message["kind"] == kind);
    found.map(|message| message["content"] = json!("something else")).is_some()
}

#[sqlx::test(migrations = false)]
async fn what_cannot_be_replayed_says_why(pool: PgPool) {
    let world = World::new(pool).await;
    let prompt = "Say what records are";
    let waiting = world.insert(&NewJob { prompt, ..NewJob::default() }).await.to_string();
    let nobody = Uuid::nil().to_string();
    fs::write(world.folder().join("newer.json"), r#"{"version": 99}"#).expect("a file can be written");
    fs::write(world.folder().join("none.json"), "[]").expect("a file can be written");
    for (name, words) in [
        (waiting.as_str(), "has not taken a step"),
        (nobody.as_str(), "there is no job"),
        ("nowhere.json", "could not be read"),
        ("newer.json", "use a newer plumbline"),
        ("none.json", "not a recording"),
    ] {
        let ended = world.run(&["replay", name]).await;
        assert_eq!(ended.code, Some(1), "{name}: {ended:?}");
        assert!(ended.stderr.contains(words) && ended.stderr.lines().count() == 1, "{name}: {}", ended.stderr);
    }
    let policy = documents::policy(1);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.work_until_idle().await;
    let fork = world.run(&["fork", &job.to_string(), "--at", "9"]).await.stdout;
    let ended = world.run(&["replay", fork.trim()]).await;
    assert!(ended.code == Some(1) && ended.stderr.contains("is a fork from step 9"), "{ended:?}");
    world.finish().await;
}

/// A job against a model that misbehaves in this way, in 30 % of its turns.
async fn misbehaving(world: &World, model: &Misbehaving, kind: &str, seed: u64) -> Uuid {
    let waits = matches!(kind, "stall" | "endless_drip");
    let config = json!({
        "llm": {
            "base_url": model.base_url(kind, Rate::percent(30), seed),
            "timeout_s": if waits { 2 } else { 30 },
        },
        "limits": {"max_iterations": 200, "context_threshold_tokens": 12_000},
    });
    world.insert(&NewJob { config: Some(config), ..NewJob::with_path("policy.md") }).await
}

/// Every misbehaviour of a model leaves rows that can be replayed: truncated answers, unknown tools, outages, refusals,
/// compactions.
#[sqlx::test(migrations = false)]
async fn misbehaviour_is_replayed(pool: PgPool) {
    let world = World::new(pool).await;
    world.import("policy.md", documents::policy(2).markdown);
    let model = Misbehaving::start().await.expect("loopback has a free port");
    world.let_rows_set(&["llm.base_url", "llm.timeout_s"], &[&model.address()]);
    let mut jobs = Vec::new();
    // Every fifth, and all that end a job at once: some of each family. `PLUMBLINE_MISBEHAVE=full` takes all.
    let all = std::env::var("PLUMBLINE_MISBEHAVE").as_deref() == Ok("full");
    let sample = kinds().step_by(if all { 1 } else { 5 });
    for (seed, kind) in (1..).zip(sample.chain(FATAL)) {
        jobs.push((kind.name, misbehaving(&world, &model, kind.name, seed).await));
    }
    let mut command = world.command(&["worker", "--concurrency", "60"]);
    command.env("PLUMBLINE_LEASE_SECS", "60").env("PLUMBLINE_MAX_ITERATIONS", "200");
    let mut worker = world.start(command);
    all_ended(&world, &mut worker).await;
    // One process: each loads the tables of tokens anew.
    let mut words = vec!["replay".to_owned()];
    words.extend(jobs.iter().map(|(_, job)| job.to_string()));
    let ended = world.run(&words.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let is_equal = |job: &Uuid| {
        let line = ended.stdout.lines().find(|line| line.starts_with(&format!("{job}: ")));
        line.is_some_and(|line| line.ends_with(", no difference"))
    };
    let wrong: Vec<_> = jobs.iter().filter(|(_, job)| !is_equal(job)).collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    worker.stop().await;
    world.finish().await;
}

/// Waits until no job can continue; a parked one is woken at once.
async fn all_ended(world: &World, worker: &mut Program) {
    let begun = Instant::now();
    loop {
        let wake = "UPDATE jobs SET run_at = now() WHERE status = 'pending' AND run_at > now()";
        sqlx::query(wake).execute(&world.pool).await.expect("parked jobs can be woken");
        let open = "SELECT count(*) FROM jobs WHERE status IN ('pending', 'running')";
        let open: i64 = sqlx::query_scalar(open).fetch_one(&world.pool).await.expect("jobs can be counted");
        if open == 0 {
            return;
        }
        assert!(worker.runs(), "the worker stopped:\n{}", worker.stderr());
        assert!(begun.elapsed() < CEILING, "{open} jobs run on for ever");
        tokio::time::sleep(LOOK).await;
    }
}

/// Where the recordings are.
fn recordings() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("recordings")
}

/// A recording: a name, and a job's configuration.
fn scenes(model: &Misbehaving) -> Vec<(&'static str, Value)> {
    let spoilt = |kind: &str, percent| json!({"llm": {"base_url": model.base_url(kind, Rate::percent(percent), 3)}});
    let compacted = json!({
        "limits": {"context_threshold_tokens": 6_500, "max_tool_result_tokens": 3_000},
        "phase_settings": {"history_at_boundary": "compact"},
    });
    vec![
        ("creator", json!({})),
        ("compaction", compacted),
        ("rewinds", spoilt("rewinds", 6)),
        ("cut_answers", spoilt("cut_call", 20)),
    ]
}

/// The folder of recordings, each replayed by this version.
#[sqlx::test(migrations = false)]
async fn the_recordings_are_replayed(pool: PgPool) {
    let world = World::new(pool).await;
    if std::env::var_os("UPDATE").is_some() {
        record(&world).await;
    }
    let mut files: Vec<String> = fs::read_dir(recordings())
        .expect("the folder of recordings")
        .map(|entry| entry.expect("an entry").path().display().to_string())
        .filter(|path| path.ends_with(".json"))
        .collect();
    files.sort();
    assert!(files.len() >= 4, "the recordings are missing: {files:?}");
    let mut arguments = vec!["replay"];
    arguments.extend(files.iter().map(String::as_str));
    let ended = world.run(&arguments).await;
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (Some(0), ""),
        "a recording comes out different; if that is meant, run the test again with UPDATE=1:\n{}",
        ended.stdout
    );
    assert_eq!(ended.stdout.lines().count(), files.len(), "{}", ended.stdout);
    world.finish().await;
}

/// Regenerates the recordings.
async fn record(world: &World) {
    world.import("policy.md", documents::policy(1).markdown);
    let model = Misbehaving::start().await.expect("loopback has a free port");
    world.let_rows_set(&["llm.base_url"], &[&model.address()]);
    for (name, config) in scenes(&model) {
        let job = world.insert(&NewJob { config: Some(config), ..NewJob::with_path("policy.md") }).await;
        let mut worker = world.worker();
        all_ended(world, &mut worker).await;
        worker.stop().await;
        let file = recordings().join(format!("{name}.json")).display().to_string();
        let exported = world.run(&["trace", &job.to_string(), "--export", &file]).await;
        assert_eq!((exported.code, exported.stderr.as_str()), (Some(0), ""), "{name}");
    }
}
