//! A whole job in each of the protocols that models are asked in, streamed and plain, and over streams that are cut.

use plumbline_rehearsal::{Options, Rehearsal};
use plumbline_system_tests::{PgPool, Uuid, World, documents, jobs::NewJob, proxy::Proxy, record};
use serde_json::json;
use std::collections::BTreeSet;

const PROTOCOLS: [&str; 3] = ["chat", "responses", "messages"];

async fn rehearsal() -> Rehearsal {
    let address = "127.0.0.1:0".parse().expect("an address");
    Rehearsal::start(address, Options::default()).await.expect("loopback has a free port")
}

/// A job with its own type, whose model uses this protocol.
async fn job(world: &World, name: &str, llm: serde_json::Value) -> Uuid {
    let folder = world.folder().join("types").join(name);
    std::fs::create_dir_all(&folder).expect("the world's folder can be written");
    let config = json!({"$extends": "creator", "llm": llm}).to_string();
    std::fs::write(folder.join("config.json"), config).expect("the world's folder can be written");
    world.insert(&NewJob { job_type: name, ..NewJob::with_path("policy.md") }).await
}

async fn work(world: &World) {
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env("PLUMBLINE_CONFIG_DIR", world.folder().join("types"));
    let ended = world.start(command).ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

async fn texts(world: &World, job: Uuid) -> BTreeSet<String> {
    let found = record::requirements(&world.pool, job).await;
    found.iter().map(|requirement| requirement.text.clone()).collect()
}

async fn count(world: &World, job: Uuid, what: &'static str) -> i64 {
    sqlx::query_scalar(what).bind(job).fetch_one(&world.pool).await.expect("rows can be counted")
}

const FAILED: &str = "SELECT count(*) FROM llm_requests WHERE job_id = $1 AND error IS NOT NULL";

#[sqlx::test(migrations = false)]
async fn a_job_is_done_in_every_protocol(pool: PgPool) {
    let world = World::new(pool).await;
    let model = rehearsal().await;
    let policy = documents::policy(3);
    world.import("policy.md", &policy.markdown);
    let mut jobs = Vec::new();
    for (api, stream) in PROTOCOLS.into_iter().flat_map(|api| ["on", "off"].map(|stream| (api, stream))) {
        let llm = json!({"api": api, "stream": stream, "base_url": model.base_url(), "model": "rehearsal"});
        let name = format!("{api}_{stream}");
        jobs.push((api, job(&world, &name, llm).await, name));
    }
    work(&world).await;
    let expected: BTreeSet<String> = policy.sentences.iter().cloned().collect();
    for (api, job, name) in jobs {
        let row = world.job(job).await;
        assert_eq!((row.status.as_str(), row.error), ("completed", None), "{name}");
        assert_eq!(texts(&world, job).await, expected, "{name}");
        // Each protocol has its own word for an answer that calls.
        let words = "SELECT DISTINCT finish_reason FROM llm_requests WHERE job_id = $1 AND error IS NULL";
        let words: Vec<String> = sqlx::query_scalar(words).bind(job).fetch_all(&world.pool).await.expect("requests");
        let word = match api {
            "chat" => "tool_calls",
            "responses" => "completed",
            _ => "tool_use",
        };
        assert!(words.iter().any(|said| said == word), "{name}: {words:?}");
        assert_eq!(count(&world, job, FAILED).await, 0, "{name}");
    }
    world.finish().await;
}

/// Each job's connection breaks once, in the middle of an answer.
#[sqlx::test(migrations = false)]
async fn of_a_stream_that_breaks_nothing_is_kept(pool: PgPool) {
    let world = World::new(pool).await;
    let model = rehearsal().await;
    let policy = documents::policy(3);
    world.import("policy.md", &policy.markdown);
    let (mut jobs, mut lines) = (Vec::new(), Vec::new());
    for (api, bytes) in PROTOCOLS.into_iter().flat_map(|api| [700, 4_000, 9_000].map(|bytes| (api, bytes))) {
        let line = Proxy::start(model.address().port()).await;
        line.cut_after(bytes);
        let base_url = format!("http://127.0.0.1:{}/v1", line.port);
        let llm = json!({"api": api, "base_url": base_url, "model": "rehearsal"});
        let name = format!("{api}_{bytes}");
        jobs.push((job(&world, &name, llm).await, name));
        lines.push(line);
    }
    work(&world).await;
    let expected: BTreeSet<String> = policy.sentences.iter().cloned().collect();
    for (job, name) in jobs {
        let row = world.job(job).await;
        assert_eq!((row.status.as_str(), row.error), ("completed", None), "{name}");
        assert_eq!(texts(&world, job).await, expected, "{name}");
        assert_eq!(count(&world, job, FAILED).await, 1, "{name}");
        let answers = "SELECT count(*) FROM messages WHERE job_id = $1 AND kind = 'reply'";
        let answered = "SELECT count(*) FROM llm_requests WHERE job_id = $1 AND error IS NULL AND purpose <> 'summary'";
        assert_eq!(count(&world, job, answers).await, count(&world, job, answered).await, "{name}");
    }
    world.finish().await;
}
