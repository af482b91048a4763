//! The one set of instruments, for `/metrics` and for the collector alike.
//!
//! Attributes are few and bounded: a job's id or a file's path never is one, or the number of series would grow with
//! the work.

use super::{names, pipeline};
use opentelemetry::{
    KeyValue,
    metrics::{Counter, Gauge, Histogram, Meter, MeterProvider},
};
use plumbline_engine::RequestRecord;
use std::{
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// From 10 ms, doubling, as the GenAI conventions have it for model calls.
const SECONDS: [f64; 14] = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/// For what a database does.
const SHORT_SECONDS: [f64; 12] = [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 4.096];
/// Powers of four.
const TOKENS: [f64; 10] = [1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16_384.0, 65_536.0, 262_144.0];

/// Everything that is measured.
pub(super) struct Instruments {
    pub(super) jobs: Gauge<i64>,
    pub(super) oldest: Gauge<f64>,
    pub(super) runnable: Gauge<i64>,
    pub(super) oldest_wait: Gauge<i64>,
    pub(super) live_workers: Gauge<i64>,
    claims: Counter<u64>,
    step: Histogram<f64>,
    commit: Histogram<f64>,
    lease_lag: Gauge<f64>,
    rescued: Counter<u64>,
    refused: Counter<u64>,
    tokens: Counter<u64>,
    cost: Counter<f64>,
    cache_share: Gauge<f64>,
    model: Histogram<f64>,
    usage: Histogram<u64>,
    tool: Histogram<f64>,
    mirror: Histogram<f64>,
    prompt_tokens: AtomicU64,
    cached_tokens: AtomicU64,
}

static INSTRUMENTS: LazyLock<Instruments> = LazyLock::new(|| {
    let pipeline = pipeline();
    Instruments::of(&pipeline.metrics.meter("plumbline"), pipeline.settings.generation)
});

/// The process's instruments.
pub(super) fn instruments() -> &'static Instruments {
    &INSTRUMENTS
}

impl Instruments {
    fn of(meter: &Meter, generation: names::Generation) -> Self {
        let histogram = |name: &'static str, what: &'static str, bounds: &[f64]| {
            meter.f64_histogram(name).with_unit("s").with_description(what).with_boundaries(bounds.to_vec()).build()
        };
        let genai = |ours: &'static str, what: &'static str| {
            let name = names::theirs(ours, generation);
            meter.f64_histogram(name).with_unit("s").with_description(what).with_boundaries(SECONDS.to_vec()).build()
        };
        let count = |name: &'static str, what: &'static str| meter.u64_counter(name).with_description(what).build();
        let gauge = |name: &'static str, what: &'static str| meter.i64_gauge(name).with_description(what).build();
        let seconds = |name: &'static str, what: &'static str| {
            meter.f64_gauge(name).with_unit("s").with_description(what).build()
        };
        Self {
            jobs: gauge("plumbline.jobs", "Jobs by status"),
            oldest: seconds("plumbline.jobs.oldest_age", "Since when the oldest job of a status exists"),
            runnable: gauge("plumbline.queue.runnable", "Jobs that a claim would take now"),
            oldest_wait: meter
                .i64_gauge("plumbline.queue.oldest_wait")
                .with_unit("s")
                .with_description("How long the longest-waiting runnable job could have run")
                .build(),
            live_workers: gauge("plumbline.workers.live", "Workers with a heartbeat within the last minute"),
            claims: count("plumbline.jobs.claimed", "Claims by this worker"),
            step: histogram("plumbline.step.duration", "One step: effect, decision, commit", &SECONDS),
            commit: histogram("plumbline.commit.duration", "One step's transaction", &SHORT_SECONDS),
            lease_lag: seconds("plumbline.lease.lag", "Age of the last heartbeat that reached the database"),
            rescued: count("plumbline.jobs.rescued", "Jobs taken back from dead workers"),
            refused: count(
                "plumbline.writes.refused",
                "Commits refused by the fence: another claim or a user's command",
            ),
            tokens: meter
                .u64_counter("plumbline.tokens")
                .with_description("Tokens in disjoint buckets: fresh, cached, output")
                .build(),
            cost: meter.f64_counter("plumbline.cost").with_unit("USD").with_description("Spent on models").build(),
            cache_share: meter
                .f64_gauge("plumbline.tokens.cache_share")
                .with_description("Share of prompt tokens served from the provider's cache, since the start")
                .build(),
            model: genai("metric.model_duration", "One request to the model"),
            usage: meter
                .u64_histogram("gen_ai.client.token.usage")
                .with_unit("{token}")
                .with_description("Tokens of one request, by type")
                .with_boundaries(TOKENS.to_vec())
                .build(),
            tool: histogram("plumbline.tools.duration", "The tools of one turn", &SECONDS),
            mirror: histogram("plumbline.mirror.lag", "From a commit until the folder shows it", &SHORT_SECONDS),
            prompt_tokens: AtomicU64::new(0),
            cached_tokens: AtomicU64::new(0),
        }
    }
}

/// A job was claimed.
pub(crate) fn claimed(job_type: &str) {
    instruments().claims.add(1, &[KeyValue::new("job.type", job_type.to_owned())]);
}

/// Jobs of dead workers were taken back.
pub(crate) fn rescued(jobs: usize) {
    instruments().rescued.add(jobs as u64, &[]);
}

/// The fence refused a commit.
pub(crate) fn refused() {
    instruments().refused.add(1, &[]);
}

/// A step took this long.
pub(crate) fn stepped(took: Duration) {
    instruments().step.record(took.as_secs_f64(), &[]);
}

/// A commit took this long.
pub(crate) fn committed(took: Duration) {
    instruments().commit.record(took.as_secs_f64(), &[]);
}

/// The tools of a turn took this long.
pub(crate) fn tools_ran(took: Duration) {
    instruments().tool.record(took.as_secs_f64(), &[]);
}

/// A commit was shown in the folder after this time.
pub(crate) fn mirrored(took: Duration) {
    instruments().mirror.record(took.as_secs_f64(), &[]);
}

/// The last heartbeat that reached the database is this old.
pub(crate) fn heartbeat_age(age: Duration) {
    instruments().lease_lag.record(age.as_secs_f64(), &[]);
}

/// A request to the model ended, well or not.
pub(crate) fn asked(record: &RequestRecord, provider: &str, cost_microusd: i64) {
    let set = instruments();
    let mut attributes = vec![
        KeyValue::new("gen_ai.operation.name", "chat"),
        KeyValue::new("gen_ai.provider.name", provider.to_owned()),
        KeyValue::new("gen_ai.request.model", record.model.clone()),
    ];
    let model = [KeyValue::new("model", record.model.clone())];
    let cached = record.cached_tokens.min(record.prompt_tokens);
    for (bucket, tokens) in
        [("fresh", record.prompt_tokens - cached), ("cached", cached), ("output", record.completion_tokens)]
    {
        set.tokens.add(u64::from(tokens), &[KeyValue::new("bucket", bucket), model[0].clone()]);
    }
    set.cost.add(cost_microusd.max(0) as f64 / 1e6, &model);
    for (kind, tokens) in [("input", record.prompt_tokens), ("output", record.completion_tokens)] {
        let kind = KeyValue::new("gen_ai.token.type", kind);
        set.usage.record(u64::from(tokens), &[attributes.clone(), vec![kind]].concat());
    }
    let prompt = set.prompt_tokens.fetch_add(u64::from(record.prompt_tokens), Ordering::Relaxed)
        + u64::from(record.prompt_tokens);
    let served = set.cached_tokens.fetch_add(u64::from(cached), Ordering::Relaxed) + u64::from(cached);
    if prompt > 0 {
        set.cache_share.record(served as f64 / prompt as f64, &[]);
    }
    if record.error.is_some() {
        attributes.push(KeyValue::new("error.type", "model_call_failed"));
    }
    set.model.record(record.duration_ms.max(0) as f64 / 1000.0, &attributes);
}
