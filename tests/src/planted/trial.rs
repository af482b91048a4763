//! Jobs over a planted document, with healthy and misbehaving models and with workers that are killed: the outcome of
//! each obligation and each passage.

use super::{Gold, NAME, Options, Planted};
use crate::{
    Program, World,
    jobs::{self, NewJob},
    seed::Seed,
};
use plumbline_rehearsal::misbehave::{Kind, Misbehaving, Rate};
use rustix::process::Signal;
use serde_json::{Value, json};
use sqlx::{FromRow, PgPool, types::Json};
use std::time::Duration;
use uuid::Uuid;

/// How often a kind spoils a turn.
pub(super) const SPOILT_PERCENT: u8 = 30;

/// Number of workers, and concurrent jobs of each.
const WORKERS: usize = 3;
const SLOTS: &str = "12";

/// Maximum milliseconds between two kills.
const MOST_PAUSE: u64 = 2_000;

/// Maximum model calls of a job: a healthy one over 200 pages needs a fifth.
pub(super) const MAX_ITERATIONS: u32 = 5_000;

/// The parameters of a trial.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The document.
    pub options: Options,
    /// Jobs over it, of the kinds in turn.
    pub jobs: u32,
    /// Kinds of model; `healthy` is one.
    pub kinds: Vec<&'static Kind>,
    /// How many workers are killed during the run.
    pub kills: u32,
}

/// Its outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Obligations planted.
    pub planted: usize,
    /// Of these, how many were found by the worst job that answered for every passage.
    pub found: usize,
    /// Jobs that answered for every passage.
    pub whole: usize,
    /// Jobs that completed with less and reported it, or stopped with a reason.
    pub honest: usize,
    /// Passages of completed jobs that are neither answered nor reported as undelivered, and jobs that stopped without
    /// a reason.
    pub unnamed: usize,
    /// Jobs that report themselves complete without having found everything.
    pub false_completions: usize,
}

impl Outcome {
    /// Whether all promises were kept.
    pub fn holds(&self) -> bool {
        self.found == self.planted && self.unnamed == 0 && self.false_completions == 0
    }

    /// The last line of `make planted`.
    pub fn line(&self) -> String {
        let Self { planted, found, unnamed, false_completions, .. } = self;
        format!("planted: found {found} of {planted}, unnamed unread {unnamed}, false completions {false_completions}")
    }

    fn take(&mut self, ended: &Ended, gold: &[Gold]) {
        let found = gold.iter().filter(|gold| ended.found(gold)).count();
        self.unnamed += ended.unaccounted();
        match (ended.status.as_str(), ended.claims_all()) {
            ("completed", true) => {
                self.whole += 1;
                self.found = self.found.min(found);
                self.false_completions += usize::from(found < gold.len() || !ended.open.is_empty());
            }
            _ => self.honest += 1,
        }
    }
}

/// How a job ended.
#[derive(Debug, FromRow)]
struct Ended {
    status: String,
    reason: String,
    result: Option<Json<Value>>,
    /// Passages that are not answered.
    open: Vec<i32>,
    /// Verified quotes and their pages.
    quotes: Json<Vec<(String, Option<u32>)>>,
}

impl Ended {
    async fn read(pool: &PgPool, job: Uuid) -> Self {
        sqlx::query_as(
            "SELECT status, coalesce(error_message, status_reason, '') AS reason, result,
                    (SELECT coalesce(array_agg(passage), '{}') FROM passages p
                     WHERE p.job_id = j.id AND p.state <> 'answered') AS open,
                    (SELECT coalesce(jsonb_agg(jsonb_build_array(c.value ->> 'quote', c.value -> 'page')), '[]')
                     FROM requirement_cache r CROSS JOIN jsonb_array_elements(r.citations) c
                     WHERE r.job_id = j.id AND r.status <> 'withdrawn' AND (c.value ->> 'verified')::boolean) AS quotes
             FROM jobs j WHERE id = $1",
        )
        .bind(job)
        .fetch_one(pool)
        .await
        .expect("a job that ended can be read")
    }

    fn found(&self, gold: &Gold) -> bool {
        self.quotes.iter().any(|(quote, page)| quote.contains(&gold.id) && *page == Some(gold.page))
    }

    /// Whether the result says that nothing is left.
    fn claims_all(&self) -> bool {
        let result = self.result.as_ref().map_or(&Value::Null, |result| &result.0);
        let nothing_left = result["undelivered"].as_array().is_none_or(Vec::is_empty);
        result["coverage"] == json!(1.0) || nothing_left
    }

    fn unaccounted(&self) -> usize {
        if self.status != "completed" {
            return usize::from(self.reason.is_empty());
        }
        let result = self.result.as_ref().map_or(&Value::Null, |result| &result.0);
        let entries = result["undelivered"].as_array().into_iter().flatten();
        let named: Vec<i64> =
            entries.filter_map(|entry| entry["passages"].as_array()).flatten().filter_map(Value::as_i64).collect();
        self.open.iter().filter(|passage| !named.contains(&i64::from(**passage))).count()
    }
}

/// Runs it in a world of its own.
///
/// # Panics
/// When something other than the jobs fails.
pub async fn run(trial: &Trial, planted: &Planted) -> Outcome {
    let world = World::open().await;
    let model = Misbehaving::start().await.expect("loopback has a free port");
    world.let_rows_set(&["llm.base_url", "llm.timeout_s"], &[&model.address()]);
    let mut seed = Seed::from(trial.options.seed);
    let mut jobs = Vec::new();
    for (kind, number) in trial.kinds.iter().cycle().zip(1..=u64::from(trial.jobs)) {
        let base_url = model.base_url(kind.name, Rate::percent(SPOILT_PERCENT), trial.options.seed * 100_000 + number);
        let llm = json!({"base_url": base_url, "timeout_s": answer_timeout_s(kind)});
        let config = json!({"llm": llm, "limits": {"max_iterations": MAX_ITERATIONS}});
        let job = NewJob { config: Some(config), ..NewJob::with_content(NAME, &planted.pdf) };
        jobs.push((kind.name, world.insert(&job).await));
    }
    let mut workers: Vec<(String, Program)> = (0..WORKERS).map(|n| worker(&world, n as u64)).collect();
    let mut kills = trial.kills;
    while let Some(open) = world.wake_open_jobs().await {
        assert!(workers.iter_mut().all(|(_, program)| program.runs()), "a worker stopped with {open} jobs open");
        tokio::time::sleep(Duration::from_millis(seed.below(MOST_PAUSE))).await;
        if kills > 0 && kill_one(&world, &mut workers, WORKERS as u64 + u64::from(kills), &mut seed).await {
            kills -= 1;
        }
    }
    let mut outcome = Outcome { planted: planted.gold.len(), found: planted.gold.len(), ..Outcome::default() };
    for (kind, job) in jobs {
        let ended = Ended::read(&world.pool, job).await;
        let before = outcome;
        outcome.take(&ended, &planted.gold);
        if (outcome.unnamed, outcome.false_completions) != (before.unnamed, before.false_completions) {
            let missed: Vec<&str> =
                planted.gold.iter().filter(|gold| !ended.found(gold)).map(|gold| gold.id.as_str()).collect();
            let Ended { status, reason, open, .. } = &ended;
            println!(
                "job {job} ({kind}): {status} {reason}; passages {open:?} are open, not found: {}",
                missed.join(" ")
            );
        }
    }
    // If no job answered for every passage, none of them found everything.
    outcome.found = if outcome.whole == 0 { 0 } else { outcome.found };
    drop(workers);
    world.close().await;
    outcome
}

/// Time limit of an answer, in seconds: short for kinds whose answers never end.
fn answer_timeout_s(kind: &Kind) -> u32 {
    if kind.never_ends() { 2 } else { 30 }
}

/// A worker, and the name that identifies its row.
pub(super) fn worker(world: &World, number: u64) -> (String, Program) {
    let name = format!("planted-{number}");
    let mut command = world.command(&["worker", "--concurrency", SLOTS]);
    command.env("HOSTNAME", &name).env("RUST_LOG", "warn");
    (name, world.start(command))
}

/// Kills a worker, unless a job has lost its worker so often at one step that one more loss would rightly end it.
async fn kill_one(world: &World, workers: &mut [(String, Program)], number: u64, seed: &mut Seed) -> bool {
    let victim = &mut workers[seed.below(WORKERS as u64) as usize];
    victim.1.signal(Signal::STOP);
    if jobs::poison_is_near(&world.pool).await {
        victim.1.signal(Signal::CONT);
        return false;
    }
    let (name, program) = std::mem::replace(victim, worker(world, number));
    program.kill().await;
    world.age_worker(&name).await;
    true
}
