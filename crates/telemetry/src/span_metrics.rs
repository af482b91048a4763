//! Metrics derived from spans, with or without a collector: the duration of each tool, and the number of running jobs.
//! The code starts the spans; this layer observes their start and end.

use super::{TARGET, instruments};
use plumbline_engine::ToolSpec;
use std::{
    collections::HashSet,
    fmt::Debug,
    sync::{
        OnceLock,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::Notify;
use tracing::{
    Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{Layer, layer::Context, registry::LookupSpan};

/// Names permitted as labels. A model may call any name, and each would be a separate series.
static KNOWN: OnceLock<HashSet<String>> = OnceLock::new();

/// Sets the names of existing tools. All others are measured as `unknown`; a second call changes nothing.
pub fn name_tools(tools: &[ToolSpec]) {
    // The error means that they are already set.
    let _ = KNOWN.set(tools.iter().map(|tool| tool.name.clone()).collect());
}

fn known(name: &str) -> Option<&'static str> {
    KNOWN.get()?.get(name).map(String::as_str)
}

/// Whether this span is measured here.
pub(crate) fn is_measured(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target() == TARGET && matches!(metadata.name(), "tool" | "claim")
}

/// The number of open claim spans, and the waiters for zero.
static OPEN: AtomicI64 = AtomicI64::new(0);
static CLOSED: Notify = Notify::const_new();

/// Waits until the spans of all claims have ended, at most this long: a job's mirror may keep one open for a moment
/// after the job was released.
pub(crate) async fn all_closed(patience: Duration) {
    let closed = async {
        loop {
            let next = CLOSED.notified();
            if OPEN.load(Ordering::Acquire) <= 0 {
                return;
            }
            next.await;
        }
    };
    // Spans that are still open are not exported.
    let _ = tokio::time::timeout(patience, closed).await;
}

fn opened() {
    OPEN.fetch_add(1, Ordering::AcqRel);
    instruments::held(1);
}

fn closed() {
    OPEN.fetch_sub(1, Ordering::AcqRel);
    CLOSED.notify_waiters();
    instruments::held(-1);
}

/// The layer.
pub(crate) struct SpanMetrics;

/// A span that is being measured.
enum Measured {
    Tool { name: &'static str, started: Instant, failed: bool },
    Claim,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for SpanMetrics {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let measured = match attributes.metadata().name() {
            "claim" => {
                opened();
                Measured::Claim
            }
            _ => {
                let mut read = Reader::default();
                attributes.record(&mut read);
                let name = read.tool.and_then(|tool| known(&tool)).unwrap_or("unknown");
                Measured::Tool { name, started: Instant::now(), failed: read.failed }
            }
        };
        span.extensions_mut().insert(measured);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let mut read = Reader::default();
        values.record(&mut read);
        let Some(span) = context.span(id).filter(|_| read.failed) else { return };
        if let Some(Measured::Tool { failed, .. }) = span.extensions_mut().get_mut() {
            *failed = true;
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        match span.extensions_mut().remove::<Measured>() {
            Some(Measured::Claim) => closed(),
            Some(Measured::Tool { name, started, failed }) => instruments::tool_ran(name, failed, started.elapsed()),
            None => {}
        }
    }
}

/// Reads the two fields that matter.
#[derive(Default)]
struct Reader {
    tool: Option<String>,
    failed: bool,
}

impl Visit for Reader {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "tool.name" => self.tool = Some(value.to_owned()),
            "error.type" => self.failed = true,
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}
