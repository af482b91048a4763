//! An OTLP collector: decodes a worker's data, or accepts and never answers.

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, routing::post};
use opentelemetry_proto::tonic::{
    collector::{metrics::v1::ExportMetricsServiceRequest, trace::v1::ExportTraceServiceRequest},
    common::v1::{KeyValue, any_value::Value},
    trace::v1::Span,
};
use prost::Message;
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};
use tokio::net::TcpListener;

/// The received data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrived {
    spans: Arc<Mutex<Vec<Span>>>,
    metrics: Arc<Mutex<Vec<String>>>,
    /// Complete requests, lossily as text.
    bodies: Arc<Mutex<String>>,
    headers: Arc<Mutex<HeaderMap>>,
}

impl Arrived {
    fn note(&self, headers: HeaderMap, body: &Bytes) {
        let invariant = "no test panics while it takes a request";
        self.bodies.lock().expect(invariant).push_str(&String::from_utf8_lossy(body));
        *self.headers.lock().expect(invariant) = headers;
    }
}

/// A running collector.
#[derive(Debug)]
pub(crate) struct Collector {
    pub(crate) address: SocketAddr,
    arrived: Arrived,
}

impl Collector {
    /// Starts one that takes everything.
    pub(crate) async fn start() -> Self {
        let arrived = Arrived::default();
        let app = Router::new()
            .route("/v1/traces", post(take_traces))
            .route("/v1/metrics", post(take_metrics))
            .with_state(arrived.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("a bound socket has an address");
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { address, arrived }
    }

    /// The spans so far.
    pub(crate) fn spans(&self) -> Vec<Span> {
        self.arrived.spans.lock().expect("no test panics while it takes spans").clone()
    }

    /// The names of the metrics so far.
    pub(crate) fn metrics(&self) -> Vec<String> {
        self.arrived.metrics.lock().expect("no test panics while it takes metrics").clone()
    }

    /// All received data, lossily as text.
    pub(crate) fn bodies(&self) -> String {
        self.arrived.bodies.lock().expect("no test panics while it takes a request").clone()
    }

    /// A header of the last request.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let headers = self.arrived.headers.lock().expect("no test panics while it takes a request");
        headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    }
}

async fn take_traces(State(arrived): State<Arrived>, headers: HeaderMap, body: Bytes) {
    arrived.note(headers, &body);
    let request = ExportTraceServiceRequest::decode(body).expect("what is sent is OTLP");
    let scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
    arrived.spans.lock().expect("no test panics while it takes spans").extend(scopes.flat_map(|scope| scope.spans));
}

async fn take_metrics(State(arrived): State<Arrived>, headers: HeaderMap, body: Bytes) {
    arrived.note(headers, &body);
    let request = ExportMetricsServiceRequest::decode(body).expect("what is sent is OTLP");
    let scopes = request.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics);
    let names = scopes.flat_map(|scope| scope.metrics).map(|metric| metric.name);
    arrived.metrics.lock().expect("no test panics while it takes metrics").extend(names);
}

/// A collector that accepts connections, reads, and never says a word.
pub(crate) async fn deaf() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("a bound socket has an address");
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
        }
    });
    address
}

/// An address where nothing listens.
pub(crate) async fn down() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    listener.local_addr().expect("a bound socket has an address")
}

/// An attribute as text.
pub(crate) fn attribute(attributes: &[KeyValue], key: &str) -> Option<String> {
    let value = attributes.iter().find(|attribute| attribute.key == key)?.value.as_ref()?.value.as_ref()?;
    Some(match value {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        Value::DoubleValue(number) => number.to_string(),
        Value::BoolValue(flag) => flag.to_string(),
        other => format!("{other:?}"),
    })
}

/// The type of an attribute, as the conventions write it.
pub(crate) fn kind(attribute: &KeyValue) -> &'static str {
    match attribute.value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(_)) => "string",
        Some(Value::IntValue(_)) => "int",
        Some(Value::DoubleValue(_)) => "double",
        Some(Value::BoolValue(_)) => "boolean",
        Some(Value::ArrayValue(_)) => "string[]",
        _ => "another type",
    }
}
