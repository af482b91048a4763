//! The undisturbed job that all others are compared with.

use plumbline_system_tests::Uuid;
use plumbline_system_tests::{
    World, documents,
    jobs::NewJob,
    record::{self, Record},
};
use serde_json::json;
use std::{collections::HashSet, fmt};

/// The result of an undisturbed job.
#[derive(Debug)]
pub(crate) struct Baseline {
    markdown: String,
    record: Record,
    /// Model calls it takes.
    pub(crate) requests: u64,
    /// Model calls that the world's model had answered before the first disturbed job.
    asked_before: u64,
}

impl Baseline {
    /// Runs a small job that covers everything: both kinds of phases, a document parsed in a child process, a
    /// compaction, the completion.
    pub(crate) async fn measure(world: &World, trace: Option<&std::path::Path>) -> Self {
        let markdown = documents::policy(2).markdown;
        let job = insert(world, &markdown).await;
        let mut command = world.command(&["worker", "--until-idle"]);
        if let Some(path) = trace {
            command.env("PLUMBLINE_FAIL_POINT_TRACE", path);
        }
        let ended = world.start(command).ended().await;
        assert_eq!(ended.code, Some(0), "an undisturbed worker failed: {}", ended.stderr);
        // By its rows: on a machine that is slow enough a call may be made again here, too.
        let requests = world.becomes(job, "completed").await.requests as u64;
        let asked_before = world.model.requests();
        Self { record: record::read(&world.pool, job).await, requests, asked_before, markdown }
    }

    /// Inserts a job like it.
    pub(crate) async fn insert(&self, world: &World) -> Uuid {
        insert(world, &self.markdown).await
    }

    /// Asserts that exactly these jobs ran in this world since, with the same result; that each recorded each model
    /// call once; and that a model call was repeated at most once per interrupted run.
    pub(crate) async fn assert_same(&self, world: &World, jobs: &[Uuid]) -> Repeated {
        let mut all_given_up = 0;
        for &job in jobs {
            let row = world.job(job).await;
            assert_eq!(row.status, "completed", "job {job}: {row:?}\n{}", conversation(world, job).await);
            let given_up = given_up(world, job).await;
            let recorded = row.requests - given_up;
            assert_eq!(recorded, self.requests as i64, "job {job}: a call that was recorded was made again");
            all_given_up += given_up as u64;
            record::assert_same(&record::read(&world.pool, job).await, &self.record, &format!("job {job}"));
        }
        assert_eq!(jobs.iter().collect::<HashSet<_>>().len(), jobs.len(), "each job is counted once");
        let cut_off: i64 = sqlx::query_scalar("SELECT count(*) FROM attempts WHERE outcome IN ('crashed', 'lost')")
            .fetch_one(&world.pool)
            .await
            .expect("attempts can be counted");
        let (asked, least) = (world.model.requests() - self.asked_before, self.requests * jobs.len() as u64);
        let (recorded, most) = (least + all_given_up, least + cut_off as u64 + all_given_up);
        assert!(
            (recorded..=most).contains(&asked),
            "{asked} model calls where {least} are needed, {cut_off} attempts were cut off and {all_given_up} calls given up"
        );
        Repeated { calls: asked - least, runs: cut_off as u64 }
    }
}

/// Model calls that were made again, because the run that made them first did not live to commit them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeated {
    pub(crate) calls: u64,
    /// Runs that were cut off.
    pub(crate) runs: u64,
}

impl fmt::Display for Repeated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} runs cut off, {} model calls repeated", self.runs, self.calls)
    }
}

/// Calls that a worker gave up before their answer, as it gave the job back: each is on record and made again.
pub(crate) async fn given_up(world: &World, job: Uuid) -> i64 {
    let counted = "SELECT count(*) FROM llm_requests WHERE job_id = $1 AND failure_class = 'abandoned' AND counted";
    sqlx::query_scalar(counted).bind(job).fetch_one(&world.pool).await.expect("requests can be counted")
}

async fn insert(world: &World, markdown: &str) -> Uuid {
    let config = json!({ "limits": { "context_threshold_tokens": THRESHOLD } });
    let new = NewJob { config: Some(config), ..NewJob::with_content("policy.md", markdown.as_bytes()) };
    world.insert(&new).await
}

/// Small enough that the job is compacted, large enough that it is not at every turn.
const THRESHOLD: u32 = 9_000;

/// The conversation of a job that did not end as it should, a message a line.
async fn conversation(world: &World, job: Uuid) -> String {
    let lines: Vec<String> = sqlx::query_scalar(
        "SELECT concat_ws(' ', seq, step, role, tool_calls::text, left(content, 1500)) FROM messages WHERE job_id = $1 ORDER BY seq",
    )
    .bind(job)
    .fetch_all(&world.pool)
    .await
    .expect("messages can be read");
    lines.join("\n")
}
