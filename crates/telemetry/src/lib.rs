//! Observability of the process: logs, traces, metrics.
//!
//! | what | where to | when |
//! |---|---|---|
//! | logs: one line an event, readable alone, the same names as fields everywhere | stderr | always |
//! | traces: one a claim, the GenAI conventions' names | an OTLP collector | `OTEL_EXPORTER_OTLP_ENDPOINT` is set |
//! | metrics: one set of instruments | `/metrics`, and the collector | always, and then too |
//!
//! | question | file |
//! |---|---|
//! | what does the standard call a thing | `names`, one table for both generations |
//! | which metrics are there | `metrics`, and METRICS.md for readers |
//! | what does the work call | `spans`, `instruments` |
//! | what is measured or made beside it | `span_metrics`, `engine_tool_spans`, `queue`, `usage` |
//! | how does it leave the process | `export`, `ids`, `settings` |
//!
//! Nothing waits for telemetry: it is queued, sent by separate threads, and dropped if the collector does not accept
//! it.
//!
#![doc = include_str!("METRICS.md")]

mod content;
mod endpoint;
mod engine_tool_spans;
mod export;
mod ids;
pub mod instruments;
mod metrics;
mod names;
pub mod queue;
mod settings;
mod span_metrics;
pub mod spans;
mod usage;

pub use span_metrics::name_tools;

use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::{metrics::SdkMeterProvider, trace::SdkTracerProvider};
use settings::Settings;
use std::sync::LazyLock;
use tracing::Metadata;
use tracing_subscriber::{EnvFilter, Layer, filter::FilterFn, fmt, prelude::*};

/// The target that distinguishes these spans from all others.
pub const TARGET: &str = "plumbline::span";

/// How long the end of a worker waits for open spans.
const LAST_SPANS: std::time::Duration = std::time::Duration::from_secs(1);

/// The format of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line, for collectors.
    Json,
}

/// The process's exporters, set up on first use.
struct Pipeline {
    settings: Settings,
    registry: prometheus::Registry,
    metrics: SdkMeterProvider,
    traces: Option<SdkTracerProvider>,
}

static PIPELINE: LazyLock<Pipeline> = LazyLock::new(|| {
    let settings = Settings::of_process();
    let registry = prometheus::Registry::new();
    let metrics = export::metrics(&settings, &registry);
    Pipeline { traces: export::traces(&settings), settings, registry, metrics }
});

fn pipeline() -> &'static Pipeline {
    &PIPELINE
}

/// Starts logging, and tracing if a collector is configured; `RUST_LOG` is the log filter, `default` if it is unset,
/// empty or invalid. A second call changes nothing.
pub fn start(format: LogFormat, default: &str) {
    let named = std::env::var(EnvFilter::DEFAULT_ENV).ok().filter(|named| !named.trim().is_empty());
    let (wanted, wrong) = match named.map(EnvFilter::try_new) {
        Some(Ok(filter)) => (filter, None),
        Some(Err(error)) => (EnvFilter::new(default), Some(error)),
        None => (EnvFilter::new(default), None),
    };
    let log = match format {
        LogFormat::Text => {
            let ansi = std::io::IsTerminal::is_terminal(&std::io::stderr()) && std::env::var_os("NO_COLOR").is_none();
            fmt::layer().with_writer(std::io::stderr).with_ansi(ansi).with_target(false).boxed()
        }
        LogFormat::Json => fmt::layer().json().with_writer(std::io::stderr).boxed(),
    };
    let traces = pipeline().traces.as_ref().map(|provider| {
        tracing_opentelemetry::layer()
            .with_tracer(provider.tracer("plumbline"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(FilterFn::new(is_ours))
    });
    let log = log.with_filter(wanted).with_filter(FilterFn::new(|metadata| !is_ours(metadata)));
    let meter = span_metrics::SpanMetrics.with_filter(FilterFn::new(span_metrics::is_measured));
    // The error means that logging is already running, e.g. if a command starts a worker.
    let _ = tracing_subscriber::registry().with(log).with(traces).with(meter).try_init();
    if let Some(error) = wrong {
        tracing::warn!(%error, "RUST_LOG is not a log filter like `info,sqlx=warn`; `{default}` is used");
    }
}

/// Whether this span is part of a trace.
fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target() == TARGET
}

/// The metrics in the text format of Prometheus.
///
/// # Errors
/// A sentence.
pub fn render_prometheus() -> Result<String, String> {
    let families = pipeline().registry.gather();
    prometheus::TextEncoder::new()
        .encode_to_string(&families)
        .map_err(|error| format!("the metrics could not be written: {error}"))
}

/// Flushes the queue, as far as a collector accepts it within a few seconds.
pub async fn finish() {
    span_metrics::all_closed(LAST_SPANS).await;
    let sent =
        plumbline_bounds::blocking::unbounded(|| export::finish(pipeline().traces.as_ref(), &pipeline().metrics));
    // A panic in an exporter was logged by the panic hook and affects nothing else.
    let _ = sent.await;
}
