//! The set of instruments, for both `/metrics` and the collector, built from [`crate::metrics`].

use super::{
    names, pipeline,
    usage::{Build, Usage},
};
use crate::metrics::{self, Item, Kind};
use opentelemetry::{
    KeyValue,
    metrics::{Counter, Gauge, Histogram, Meter, MeterProvider, UpDownCounter},
};
use plumbline_engine::{Change, FailureClass, RequestRecord};
use plumbline_store::ClaimedJob;
use std::{
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// All instruments.
pub struct Instruments {
    pub(crate) jobs: Gauge<i64>,
    pub(crate) oldest: Gauge<f64>,
    pub(crate) runnable: Gauge<i64>,
    pub(crate) oldest_wait: Gauge<i64>,
    pub(crate) waiting_calls: Gauge<i64>,
    pub(crate) live_workers: Gauge<i64>,
    claims: Counter<u64>,
    pickup: Histogram<f64>,
    held: UpDownCounter<i64>,
    step: Histogram<f64>,
    commit: Histogram<f64>,
    retried: Counter<u64>,
    lease_lag: Gauge<f64>,
    loop_delay: Histogram<f64>,
    rescued: Counter<u64>,
    refused: Counter<u64>,
    passages: Counter<u64>,
    limit_waits: Gauge<i64>,
    tools: Histogram<f64>,
    tool: Histogram<f64>,
    mirror: Histogram<f64>,
    mirror_behind: Gauge<i64>,
    spans_ended: Counter<u64>,
    spans_sent: Counter<u64>,
    tokens: Counter<u64>,
    cost: Counter<f64>,
    cache_share: Gauge<f64>,
    model: Histogram<f64>,
    usage: Usage,
    prompt_tokens: AtomicU64,
    cached_tokens: AtomicU64,
}

static INSTRUMENTS: LazyLock<Instruments> = LazyLock::new(|| {
    let pipeline = pipeline();
    let generation = pipeline.settings.generation;
    Instruments::of(&Builder { meter: pipeline.metrics.meter("plumbline"), generation })
});

/// The process's instruments.
pub fn instruments() -> &'static Instruments {
    &INSTRUMENTS
}

/// Creates instruments from items of the list.
struct Builder {
    meter: Meter,
    generation: names::Generation,
}

macro_rules! build {
    ($self:ident, $item:ident, $make:ident) => {
        $self
            .meter
            .$make(names::theirs($item.name, $self.generation))
            .with_unit($item.unit)
            .with_description($item.what)
    };
}

impl Builder {
    fn gauge(&self, item: &'static Item) -> Gauge<i64> {
        build!(self, item, i64_gauge).build()
    }

    fn share(&self, item: &'static Item) -> Gauge<f64> {
        build!(self, item, f64_gauge).build()
    }

    fn up_down(&self, item: &'static Item) -> UpDownCounter<i64> {
        build!(self, item, i64_up_down_counter).build()
    }

    fn amount(&self, item: &'static Item) -> Counter<f64> {
        build!(self, item, f64_counter).build()
    }

    fn seconds(&self, item: &'static Item) -> Histogram<f64> {
        build!(self, item, f64_histogram).with_boundaries(bounds(item)).build()
    }
}

impl Build for Builder {
    fn counter(&self, item: &'static Item) -> Counter<u64> {
        build!(self, item, u64_counter).build()
    }

    fn tokens(&self, item: &'static Item) -> Histogram<u64> {
        build!(self, item, u64_histogram).with_boundaries(bounds(item)).build()
    }
}

fn bounds(item: &Item) -> Vec<f64> {
    if let Kind::Histogram(bounds) = item.kind { bounds.to_vec() } else { Vec::new() }
}

impl Instruments {
    fn of(build: &Builder) -> Self {
        Self {
            jobs: build.gauge(&metrics::JOBS),
            oldest: build.share(&metrics::OLDEST),
            runnable: build.gauge(&metrics::RUNNABLE),
            oldest_wait: build.gauge(&metrics::OLDEST_WAIT),
            waiting_calls: build.gauge(&metrics::WAITING_CALLS),
            live_workers: build.gauge(&metrics::LIVE_WORKERS),
            claims: build.counter(&metrics::CLAIMED),
            pickup: build.seconds(&metrics::PICKUP),
            held: build.up_down(&metrics::HELD),
            step: build.seconds(&metrics::STEP),
            commit: build.seconds(&metrics::COMMIT),
            retried: build.counter(&metrics::RETRIED),
            lease_lag: build.share(&metrics::LEASE_LAG),
            loop_delay: build.seconds(&metrics::LOOP_DELAY),
            rescued: build.counter(&metrics::RESCUED),
            refused: build.counter(&metrics::REFUSED),
            passages: build.counter(&metrics::PASSAGES),
            limit_waits: build.gauge(&metrics::LIMIT_WAITS),
            tools: build.seconds(&metrics::TOOLS),
            tool: build.seconds(&metrics::TOOL),
            mirror: build.seconds(&metrics::MIRROR),
            mirror_behind: build.gauge(&metrics::MIRROR_BEHIND),
            spans_ended: build.counter(&metrics::SPANS_ENDED),
            spans_sent: build.counter(&metrics::SPANS_SENT),
            tokens: build.counter(&metrics::TOKENS_USED),
            cost: build.amount(&metrics::COST),
            cache_share: build.share(&metrics::CACHE_SHARE),
            model: build.seconds(&metrics::MODEL),
            usage: Usage::of(build, build.generation),
            prompt_tokens: AtomicU64::new(0),
            cached_tokens: AtomicU64::new(0),
        }
    }
}

/// Initializes the counters used by alerts to 0, because an absent counter is not 0.
pub fn show() {
    let set = instruments();
    for counter in [&set.retried, &set.rescued, &set.refused, &set.spans_ended, &set.spans_sent] {
        counter.add(0, &[]);
    }
    for state in ["unread", "read", "answered"] {
        set.passages.add(0, &[KeyValue::new("state", state)]);
    }
    set.held.add(0, &[]);
    set.mirror_behind.record(0, &[]);
    set.limit_waits.record(0, &[]);
}

/// A job was claimed.
pub fn claimed(job: &ClaimedJob) {
    instruments().claims.add(1, &[KeyValue::new("job.type", job.job_type.clone())]);
    // A later claim is not a pickup: the job waited for a worker's end, not for a worker.
    if job.lease_epoch == 1 {
        instruments().pickup.record(job.waited_secs.max(0.0), &[]);
    }
}

/// Changes the number of jobs that this worker runs.
pub fn held(jobs: i64) {
    instruments().held.add(jobs, &[]);
}

/// Jobs of dead workers were taken back.
pub fn rescued(jobs: usize) {
    instruments().rescued.add(jobs as u64, &[]);
}

/// The fence refused a commit.
pub fn refused() {
    instruments().refused.add(1, &[]);
}

/// The number of requests that wait for a limit.
pub fn waits_for_limit(requests: usize) {
    instruments().limit_waits.record(i64::try_from(requests).unwrap_or(i64::MAX), &[]);
}

/// A committed step changed the state of passages.
pub fn passages(changes: &[Change], step: i64) {
    let passages = changes.iter().filter_map(|change| match change {
        Change::PassagesPut(passages) => Some(passages),
        _ => None,
    });
    for passage in passages.flatten() {
        let is_new = passage.cut_step == step && passage.read_step.is_none();
        let came_to = [
            (is_new, "unread"),
            (passage.read_step == Some(step), "read"),
            (passage.answered_step == Some(step), "answered"),
        ];
        for (_, state) in came_to.into_iter().filter(|(has, _)| *has) {
            instruments().passages.add(1, &[KeyValue::new("state", state)]);
        }
    }
}

/// A step took this long.
pub fn stepped(took: Duration) {
    instruments().step.record(took.as_secs_f64(), &[]);
}

/// A commit took this long.
pub fn committed(took: Duration) {
    instruments().commit.record(took.as_secs_f64(), &[]);
}

/// A commit is retried.
pub fn retried() {
    instruments().retried.add(1, &[]);
}

/// The tools of a turn took this long.
pub fn tools_ran(took: Duration) {
    instruments().tools.record(took.as_secs_f64(), &[]);
}

/// A tool call took this long. `name` is one of the tools' names.
pub fn tool_ran(name: &'static str, failed: bool, took: Duration) {
    let outcome = if failed { "refused" } else { "done" };
    let labels = [KeyValue::new("tool", name), KeyValue::new("outcome", outcome)];
    instruments().tool.record(took.as_secs_f64(), &labels);
}

/// A commit was shown in the folder after this time.
pub fn mirrored(took: Duration) {
    instruments().mirror.record(took.as_secs_f64(), &[]);
}

/// The number of incomplete folders.
pub fn mirror_behind(jobs: usize) {
    instruments().mirror_behind.record(i64::try_from(jobs).unwrap_or(i64::MAX), &[]);
}

/// The age of the last heartbeat that reached the database.
pub fn heartbeat_age(age: Duration) {
    instruments().lease_lag.record(age.as_secs_f64(), &[]);
}

/// The event loop ran a task this late.
pub fn loop_delayed(delay: Duration) {
    instruments().loop_delay.record(delay.as_secs_f64(), &[]);
}

/// A span is passed to the exporter.
pub fn span_ended() {
    instruments().spans_ended.add(1, &[]);
}

/// The collector took spans.
pub fn spans_sent(spans: usize) {
    instruments().spans_sent.add(spans as u64, &[]);
}

/// A request to the model ended, with the class of its failure if it failed.
pub fn asked(record: &RequestRecord, provider: &'static str, cost_microusd: i64, failure: Option<FailureClass>) {
    let set = instruments();
    let model = KeyValue::new("model", record.model.clone());
    let (cached, reasoning) = (record.cached_tokens.min(record.prompt_tokens), record.reasoning_tokens);
    for (bucket, tokens) in [
        ("fresh", record.prompt_tokens - cached),
        ("cached", cached),
        ("output", record.completion_tokens.saturating_sub(reasoning)),
        ("reasoning", reasoning),
    ] {
        set.tokens.add(u64::from(tokens), &[KeyValue::new("bucket", bucket), model.clone()]);
    }
    set.cost.add(cost_microusd.max(0) as f64 / 1e6, &[model]);
    let prompt = u64::from(record.prompt_tokens);
    let prompt = set.prompt_tokens.fetch_add(prompt, Ordering::Relaxed) + prompt;
    let served = set.cached_tokens.fetch_add(u64::from(cached), Ordering::Relaxed) + u64::from(cached);
    if prompt > 0 {
        set.cache_share.record(served as f64 / prompt as f64, &[]);
    }
    let mut attributes = vec![
        KeyValue::new("gen_ai.operation.name", "chat"),
        KeyValue::new("gen_ai.provider.name", provider),
        KeyValue::new("gen_ai.request.model", record.model.clone()),
    ];
    set.usage.record(record, &attributes);
    attributes.extend(failure.map(|class| KeyValue::new("error.type", class.as_str())));
    set.model.record(record.duration_ms.max(0) as f64 / 1000.0, &attributes);
}
