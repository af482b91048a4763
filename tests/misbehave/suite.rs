//! The jobs of a run: inserted, waited for, and judged.

use plumbline_rehearsal::misbehave::{Always, Kind, Misbehaving, Rate};
use plumbline_system_tests::{Program, Uuid, World, documents, eventually, jobs::NewJob};
use serde_json::{Value, json};
use sqlx::Row;

/// Maximum model calls of a job. A healthy one needs an eighth.
const MAX_ITERATIONS: u32 = 400;

/// The same if every turn is spoilt, to bound the run's duration.
const MAX_SPOILT_ITERATIONS: u32 = 80;

/// Jobs of one kind at one rate, and their outcomes.
pub(crate) struct Cell {
    pub(crate) kind: &'static Kind,
    pub(crate) rate: Rate,
    pub(crate) count: usize,
    pub(crate) ends: Vec<End>,
}

/// How one job ended.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) job: Uuid,
    pub(crate) status: String,
    /// The job's reason; empty if it completed.
    pub(crate) reason: String,
    /// The texts of its requirements, sorted.
    pub(crate) texts: Vec<String>,
    /// Whether its result names something as undelivered.
    pub(crate) undelivered: bool,
    pub(crate) turns: i64,
    pub(crate) tokens: i64,
}

impl Cell {
    pub(crate) fn new(kind: &'static Kind, rate: Rate, count: usize) -> Self {
        Self { kind, rate, count, ends: Vec::new() }
    }

    /// How many jobs ended like the healthy one.
    pub(crate) fn right(&self, healthy: &End) -> usize {
        self.ends.iter().filter(|end| end.is_right(healthy)).count()
    }

    /// Whether the promise for the kind at this rate was kept: below "always", at least 95 % of the jobs end like the
    /// healthy one; at "always" every job does, or stops with a reason.
    pub(crate) fn holds(&self, healthy: &End) -> bool {
        let right = self.right(healthy);
        match (self.rate == Rate::ALWAYS, self.kind.always) {
            (true, Always::Done) => right == self.count,
            (true, Always::Stopped) => right + self.stopped() == self.count,
            (false, _) => right * 100 >= self.count * 95,
        }
    }

    /// How many jobs stopped with a reason.
    pub(crate) fn stopped(&self) -> usize {
        self.ends
            .iter()
            .filter(|end| matches!(end.status.as_str(), "failed" | "paused") && !end.reason.is_empty())
            .count()
    }
}

impl End {
    pub(crate) fn is_right(&self, healthy: &Self) -> bool {
        self.status == "completed" && !self.undelivered && self.texts == healthy.texts
    }
}

/// A worker, a misbehaving model, and the healthy run to compare with.
pub(crate) struct Suite {
    world: World,
    model: Misbehaving,
    worker: Program,
    pub(crate) healthy: End,
    seeds: u64,
}

impl Suite {
    pub(crate) async fn start(world: World) -> Self {
        let policy = documents::policy(3);
        world.import("policy.md", &policy.markdown);
        let model = Misbehaving::start().await.expect("loopback has a free port");
        world.let_rows_set(&["llm.base_url", "llm.model", "llm.timeout_s"], &[&model.address()]);
        let mut command = world.command(&["worker", "--concurrency", "50"]);
        command.env("PLUMBLINE_POLL_MS", "50").env("PLUMBLINE_LEASE_SECS", "60").env("RUST_LOG", "warn");
        let worker = world.start(command);
        let none = End {
            job: Uuid::nil(),
            status: String::new(),
            reason: String::new(),
            texts: Vec::new(),
            undelivered: false,
            turns: 0,
            tokens: 0,
        };
        let mut suite = Self { world, model, worker, healthy: none, seeds: 0 };
        let healthy = plumbline_rehearsal::misbehave::find("healthy").expect("it is always there");
        let cells = suite.run(vec![Cell::new(healthy, Rate::ALWAYS, 1)]).await;
        suite.healthy = cells[0].ends[0].clone();
        let mut sentences = policy.sentences;
        sentences.sort();
        let reason = &suite.healthy.reason;
        assert_eq!((suite.healthy.status.as_str(), &suite.healthy.texts), ("completed", &sentences), "{reason}");
        suite
    }

    /// Runs the jobs of all cells at once.
    pub(crate) async fn run(&mut self, mut cells: Vec<Cell>) -> Vec<Cell> {
        let mut jobs = Vec::new();
        for (place, cell) in cells.iter().enumerate() {
            for _ in 0..cell.count {
                jobs.push((place, self.insert(cell.kind, cell.rate).await));
            }
        }
        self.all_ended().await;
        for (place, job) in jobs {
            let end = self.end_of(job).await;
            cells[place].ends.push(end);
        }
        cells
    }

    /// A job of this kind, once it has left the worker with this status.
    pub(crate) async fn stands(&mut self, kind: &'static Kind, status: &str) -> End {
        let job = self.insert(kind, Rate::ALWAYS).await;
        self.world.until(job, status, |row| row.status == status && row.requests > 0).await;
        let end = self.end_of(job).await;
        sqlx::query("SELECT cancel_job($1)").bind(job).execute(&self.world.pool).await.expect("a job can be cancelled");
        end
    }

    async fn insert(&mut self, kind: &Kind, rate: Rate) -> Uuid {
        self.seeds += 1;
        let always = rate == Rate::ALWAYS && kind.name != "healthy";
        let config = json!({
            "llm": {
                "base_url": self.model.base_url(kind.name, rate, self.seeds),
                // A provider's refusal, of a key or of one request too many, is remembered per model and applies to all
                // of its jobs.
                "model": kind.name,
                "timeout_s": if kind.never_ends() { 2 } else { 30 },
            },
            "limits": {
                "max_iterations": if always { MAX_SPOILT_ITERATIONS } else { MAX_ITERATIONS },
                "deadline_s": 86_400,
            },
        });
        self.world.insert(&NewJob { config: Some(config), ..NewJob::with_path("policy.md") }).await
    }

    /// Waits until no job can continue. A parked job is woken at once: other tests are about how long it waits.
    /// `max_iterations` ends every job, so the wait is for the next step of any of them.
    async fn all_ended(&mut self) {
        let mut known = i64::MIN;
        while known != i64::MAX {
            known = eventually("a job to make a step or to end", async || {
                assert!(self.worker.runs(), "the worker stopped:\n{}", self.worker.stderr());
                match self.world.wake_open_jobs().await {
                    None => Some(i64::MAX),
                    Some(open) => Some(self.steps().await - open).filter(|now| *now > known),
                }
            })
            .await;
        }
    }

    /// Steps of all jobs.
    async fn steps(&self) -> i64 {
        let steps = "SELECT coalesce(sum(step), 0)::bigint FROM jobs";
        sqlx::query_scalar(steps).fetch_one(&self.world.pool).await.expect("jobs can be read")
    }

    async fn end_of(&self, job: Uuid) -> End {
        let row = sqlx::query(
            "SELECT status, coalesce(error_message, status_reason, '') AS reason, result, total_requests,
                    total_tokens_used,
                    (SELECT coalesce(array_agg(text ORDER BY text), '{}') FROM requirement_cache WHERE job_id = $1) AS texts
             FROM jobs WHERE id = $1",
        )
        .bind(job)
        .fetch_one(&self.world.pool)
        .await
        .expect("a job can be read");
        let result: Option<Value> = row.get("result");
        let undelivered = result.as_ref().and_then(|result| result["undelivered"].as_array());
        let mut texts: Vec<String> = row.get("texts");
        texts.sort();
        End {
            job,
            status: row.get("status"),
            reason: row.get("reason"),
            texts,
            undelivered: undelivered.is_some_and(|undelivered| !undelivered.is_empty()),
            turns: row.get("total_requests"),
            tokens: row.get("total_tokens_used"),
        }
    }

    /// The end of a job's conversation, so that a person can see what went wrong.
    pub(crate) async fn story(&self, job: Uuid) -> String {
        let lines: Vec<String> = sqlx::query_scalar(
            "SELECT format('%s %s %s: %s %s', phase_number, seq, kind, left(content, 300), left(tool_calls::text, 500))
             FROM messages WHERE job_id = $1 ORDER BY seq DESC LIMIT 24",
        )
        .bind(job)
        .fetch_all(&self.world.pool)
        .await
        .expect("messages can be read");
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    /// The end of the run: the worker still works, and the rows are consistent.
    pub(crate) async fn finish(mut self) {
        assert!(self.worker.runs(), "the worker stopped:\n{}", self.worker.stderr());
        // The mirror of the last steps may still be pending.
        self.world.finish().await;
        self.worker.kill().await;
    }
}
