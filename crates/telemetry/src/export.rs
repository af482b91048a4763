//! Export: batches on separate threads, to a collector that may be slow or dead without affecting the work. Data that
//! does not fit into the queue is dropped.

use super::{ids::ClaimIds, instruments, names, settings::Settings};
use opentelemetry::{Context, Key, KeyValue};
use opentelemetry_otlp::{MetricExporter, Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    metrics::{PeriodicReader, SdkMeterProvider},
    trace::{BatchSpanProcessor, SdkTracerProvider, Span, SpanData, SpanExporter as Exporter, SpanProcessor},
};
use std::time::Duration;
use tracing::warn;

/// Timeout for flushing the rest to the collector.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Who we are.
fn resource(settings: &Settings) -> Resource {
    let builder = Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    if settings.named { builder.build() } else { builder.with_service_name("plumbline").build() }
}

/// The exporter of spans; none if not configured, or if it cannot be set up.
pub(crate) fn traces(settings: &Settings) -> Option<SdkTracerProvider> {
    if !settings.traces {
        return None;
    }
    plumbline_llm::tls::install();
    match SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary).build() {
        Ok(exporter) => Some(
            SdkTracerProvider::builder()
                .with_resource(resource(settings))
                .with_id_generator(ClaimIds::default())
                .with_span_processor(Counting(
                    BatchSpanProcessor::builder(Renaming { inner: exporter, generation: settings.generation }).build(),
                ))
                .build(),
        ),
        Err(error) => {
            warn!(%error, "trace export is disabled: correct OTEL_EXPORTER_OTLP_ENDPOINT");
            None
        }
    }
}

/// The two exports of metrics: scraped by Prometheus, and sent to the collector if one is configured.
pub(crate) fn metrics(settings: &Settings, registry: &prometheus::Registry) -> SdkMeterProvider {
    let mut builder = SdkMeterProvider::builder().with_resource(resource(settings));
    match opentelemetry_prometheus::exporter().with_registry(registry.clone()).scope_info_enabled(false).build() {
        Ok(reader) => builder = builder.with_reader(reader),
        Err(error) => warn!(%error, "/metrics is disabled"),
    }
    if settings.metrics {
        plumbline_llm::tls::install();
        match MetricExporter::builder().with_http().with_protocol(Protocol::HttpBinary).build() {
            Ok(exporter) => builder = builder.with_reader(PeriodicReader::builder(exporter).build()),
            Err(error) => warn!(%error, "metric export is disabled: correct OTEL_EXPORTER_OTLP_ENDPOINT"),
        }
    }
    builder.build()
}

/// Flushes the rest if the collector accepts it. Blocks for a few seconds at most.
pub(crate) fn finish(traces: Option<&SdkTracerProvider>, metrics: &SdkMeterProvider) {
    let ended = [
        traces.map_or(Ok(()), |provider| provider.shutdown_with_timeout(LAST_WORDS)),
        metrics.shutdown_with_timeout(LAST_WORDS),
    ];
    for error in ended.into_iter().filter_map(Result::err) {
        tracing::debug!(%error, "could not flush the remaining telemetry");
    }
}

/// Counts spans passed to the exporter, so that lost ones are visible. The queue is bounded and never blocks: spans
/// that do not fit are dropped.
#[derive(Debug)]
struct Counting(BatchSpanProcessor);

impl SpanProcessor for Counting {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.0.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        instruments::span_ended();
        self.0.on_end(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}

/// Gives attributes the standard's names.
#[derive(Debug)]
struct Renaming<E> {
    inner: E,
    generation: names::Generation,
}

impl<E: Exporter> Exporter for Renaming<E> {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        for span in &mut batch {
            for attribute in &mut span.attributes {
                attribute.key = Key::from(names::theirs(attribute.key.as_str(), self.generation).into_owned());
            }
        }
        let n_spans = batch.len();
        let sent = self.inner.export(batch).await;
        if sent.is_ok() {
            instruments::spans_sent(n_spans);
        }
        sent
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}
