//! `GET /search?q=…&format=json`.

use super::{Found, SearchService};
use crate::web::SearchError;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    results: Vec<Found>,
    /// Engines that did not answer, each with its reason.
    #[serde(default)]
    unresponsive_engines: Vec<Value>,
}

pub(super) async fn search(service: &SearchService, query: &str) -> Result<Vec<Found>, SearchError> {
    let mut url = service.url("/search");
    url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
    let answer: Answer = service.ask(service.http.get(url)).await?;
    // If engines are blocked or over their quota, the list is empty and looks like "no results".
    if answer.results.is_empty() && !answer.unresponsive_engines.is_empty() {
        let engines: Vec<String> = answer.unresponsive_engines.iter().take(5).map(engine).collect();
        return Err(service.failed(&format!("no engine answered: {}", engines.join("; "))));
    }
    Ok(answer.results)
}

/// Formats `["google", "too many requests"]` as `google: too many requests`.
fn engine(entry: &Value) -> String {
    match entry.as_array() {
        Some(parts) => parts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(": "),
        None => entry.as_str().unwrap_or_default().to_owned(),
    }
}
