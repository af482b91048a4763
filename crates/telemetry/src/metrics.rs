//! All metrics: name, kind, unit, labels. `instruments` is built only from this list, and METRICS.md shows it; a test
//! compares the two.
//!
//! Names of OpenTelemetry's GenAI conventions are in their table ([`super::names`]); this list has ours.

use super::names::Generation;

/// From 10 ms, doubling, as in the GenAI conventions for model calls.
const SECONDS: &[f64] = &[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/// For database operations.
const SHORT_SECONDS: &[f64] = &[0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 4.096];
/// From a notification to a queue with hours of delay.
const WAITS: &[f64] = &[0.002, 0.004, 0.008, 0.016, 0.064, 0.256, 1.024, 4.096, 16.384, 65.536, 600.0, 3600.0];
/// Powers of four, as in the GenAI conventions.
const TOKENS: &[f64] = &[
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1024.0,
    4096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// The kind of instrument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Only rises.
    Counter,
    /// Increases and decreases with events in this process.
    UpDown,
    /// As last seen.
    Gauge,
    /// A distribution with these bounds.
    Histogram(&'static [f64]),
}

/// One metric.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(test), expect(dead_code, reason = "labels and generation are for readers: the test compares them"))]
pub(crate) struct Item {
    /// Its name; ours for a metric of the GenAI conventions.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// In UCUM; empty for counts.
    pub(crate) unit: &'static str,
    /// Few and bounded: never a job's id or a file's path, because the number of series would grow with the work.
    pub(crate) labels: &'static [&'static str],
    pub(crate) what: &'static str,
    /// Only in this generation of the GenAI conventions; none: in each.
    pub(crate) only: Option<Generation>,
}

impl Item {
    const fn new(name: &'static str, kind: Kind, unit: &'static str, what: &'static str) -> Self {
        Self { name, kind, unit, labels: &[], what, only: None }
    }

    const fn by(self, labels: &'static [&'static str]) -> Self {
        Self { labels, ..self }
    }

    const fn only(self, generation: Generation) -> Self {
        Self { only: Some(generation), ..self }
    }
}

const CALL: &[&str] = &["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"];
const FAILING_CALL: &[&str] = &["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "error.type"];
const TYPED_CALL: &[&str] =
    &["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.token.type"];

macro_rules! list {
    ($($key:ident = $item:expr;)*) => {
        $(pub(crate) const $key: Item = $item;)*
        /// All of them, in the order of METRICS.md.
        #[cfg(test)]
        const LIST: &[Item] = &[$($key),*];
    };
}

list! {
    // The queue: the same from every worker, counted from the rows.
    JOBS = Item::new("plumbline.jobs", Kind::Gauge, "", "Jobs by status").by(&["status"]);
    OLDEST = Item::new("plumbline.jobs.oldest_age", Kind::Gauge, "s", "Age of the oldest job in a status; ended jobs excluded").by(&["status"]);
    RUNNABLE = Item::new("plumbline.queue.runnable", Kind::Gauge, "", "Jobs that can be claimed now");
    OLDEST_WAIT = Item::new("plumbline.queue.oldest_wait", Kind::Gauge, "s", "How long the oldest runnable job has been waiting");
    WAITING_CALLS = Item::new("plumbline.approvals.waiting", Kind::Gauge, "", "Calls waiting for approval, by age").by(&["age"]);
    LIVE_WORKERS = Item::new("plumbline.workers.live", Kind::Gauge, "", "Workers with a heartbeat within the last minute");
    // This worker.
    CLAIMED = Item::new("plumbline.jobs.claimed", Kind::Counter, "", "Claims by this worker").by(&["job.type"]);
    PICKUP = Item::new("plumbline.jobs.pickup", Kind::Histogram(WAITS), "s", "Time from when a new job is runnable to its first claim");
    HELD = Item::new("plumbline.worker.jobs", Kind::UpDown, "", "Jobs running on this worker");
    STEP = Item::new("plumbline.step.duration", Kind::Histogram(SECONDS), "s", "Duration of one step: effect, decision, commit");
    COMMIT = Item::new("plumbline.commit.duration", Kind::Histogram(SHORT_SECONDS), "s", "Duration of a step's commit, retries included");
    RETRIED = Item::new("plumbline.commit.retries", Kind::Counter, "", "Retries of commits after database errors");
    LEASE_LAG = Item::new("plumbline.lease.lag", Kind::Gauge, "s", "Age of the last heartbeat that reached the database");
    LOOP_DELAY = Item::new("plumbline.loop.delay", Kind::Histogram(WAITS), "s", "How late the event loop ran a scheduled task");
    RESCUED = Item::new("plumbline.jobs.rescued", Kind::Counter, "", "Jobs that this worker reclaimed from dead workers");
    REFUSED = Item::new("plumbline.writes.refused", Kind::Counter, "", "Commits refused by the fence: another claim or a user's command");
    PASSAGES = Item::new("plumbline.passages", Kind::Counter, "", "Passages that reached a state").by(&["state"]);
    LIMIT_WAITS = Item::new("plumbline.limit.waiting", Kind::Gauge, "", "Requests of this worker waiting for a rate limit");
    TOOLS = Item::new("plumbline.tools.duration", Kind::Histogram(SECONDS), "s", "Duration of all tool calls of one turn");
    TOOL = Item::new("plumbline.tool.duration", Kind::Histogram(SECONDS), "s", "Duration of one tool call; tool is `unknown` for unknown names").by(&["tool", "outcome"]);
    MIRROR = Item::new("plumbline.mirror.lag", Kind::Histogram(SHORT_SECONDS), "s", "Time from a commit until the workspace folder shows it");
    MIRROR_BEHIND = Item::new("plumbline.mirror.behind", Kind::Gauge, "", "Jobs whose workspace folder is incomplete because of volume errors");
    SPANS_ENDED = Item::new("plumbline.spans.ended", Kind::Counter, "", "Spans that ended and are to be exported");
    SPANS_SENT = Item::new("plumbline.spans.sent", Kind::Counter, "", "Spans that the collector accepted; the others are queued or lost");
    // Models.
    TOKENS_USED = Item::new("plumbline.tokens", Kind::Counter, "", "Tokens in disjoint buckets: fresh, cached, output, reasoning (if the provider reports it, otherwise part of output)").by(&["bucket", "model"]);
    COST = Item::new("plumbline.cost", Kind::Counter, "USD", "Cost of model requests, by the configured prices").by(&["model"]);
    CACHE_SHARE = Item::new("plumbline.tokens.cache_share", Kind::Gauge, "", "Share of prompt tokens served from the provider's cache, since the process started");
    MODEL = Item::new("metric.model_duration", Kind::Histogram(SECONDS), "s", "One request to the model").by(FAILING_CALL);
    USAGE = Item::new("metric.token_usage", Kind::Histogram(TOKENS), "{token}", "Tokens of one request, by type").by(TYPED_CALL).only(Generation::V1_41);
    INPUT = Item::new("metric.input_tokens", Kind::Counter, "{token}", "Prompt tokens, cached ones included").by(CALL).only(Generation::Latest);
    OUTPUT = Item::new("metric.output_tokens", Kind::Counter, "{token}", "Answer tokens, reasoning included").by(CALL).only(Generation::Latest);
    CACHED = Item::new("metric.cached_tokens", Kind::Counter, "{token}", "Prompt tokens from the provider's cache").by(CALL).only(Generation::Latest);
    REASONING = Item::new("metric.reasoning_tokens", Kind::Counter, "{token}", "Answer tokens spent on reasoning").by(CALL).only(Generation::Latest);
    REQUEST_INPUT = Item::new("metric.request_input", Kind::Histogram(TOKENS), "{token}", "Prompt tokens of one request").by(CALL).only(Generation::Latest);
    REQUEST_OUTPUT = Item::new("metric.request_output", Kind::Histogram(TOKENS), "{token}", "Answer tokens of one request").by(CALL).only(Generation::Latest);
}

#[cfg(test)]
mod tests {
    use super::{Item, Kind, LIST};
    use crate::names::{Generation, theirs};
    use std::collections::BTreeSet;

    fn row(item: &Item) -> String {
        let (old, new) = (theirs(item.name, Generation::V1_41), theirs(item.name, Generation::Latest));
        let name = match item.only {
            Some(Generation::V1_41) => format!("`{old}` (v1.41 only)"),
            Some(Generation::Latest) => format!("`{new}` (latest only)"),
            None if old == new => format!("`{old}`"),
            None => format!("`{old}`, latest `{new}`"),
        };
        let kind = match item.kind {
            Kind::Counter => "counter",
            Kind::UpDown => "up-down counter",
            Kind::Gauge => "gauge",
            Kind::Histogram(_) => "histogram",
        };
        let labels: Vec<String> = item.labels.iter().map(|label| format!("`{label}`")).collect();
        let unit = if item.unit.is_empty() { "count" } else { item.unit };
        format!("| {name} | {kind} | {unit} | {} | {} |", labels.join(" "), item.what)
    }

    #[test]
    fn the_published_table_is_this_list() {
        let rows: Vec<String> = LIST.iter().map(row).collect();
        let shown: Vec<&str> = include_str!("METRICS.md").lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(shown, rows, "METRICS.md must show these rows:\n{}", rows.join("\n"));
    }

    #[test]
    fn no_two_metrics_share_a_name() {
        let names: BTreeSet<&str> = LIST.iter().map(|item| item.name).collect();
        assert_eq!(names.len(), LIST.len());
    }
}
