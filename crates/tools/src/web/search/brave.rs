//! `GET /res/v1/web/search?q=…`, with the key in a header of its own.

use super::{Found, SearchService};
use crate::web::SearchError;
use serde::Deserialize;

/// Brave's maximum results per request.
const MOST: usize = 20;

#[derive(Deserialize)]
struct Answer {
    /// Absent if there are no web results; the answer still has its type.
    #[serde(default)]
    web: Web,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Default, Deserialize)]
struct Web {
    #[serde(default)]
    results: Vec<Hit>,
}

#[derive(Deserialize)]
struct Hit {
    url: String,
    #[serde(default, deserialize_with = "super::text")]
    title: String,
    #[serde(default, deserialize_with = "super::text")]
    description: String,
}

pub(super) async fn search(service: &SearchService, query: &str, max: usize) -> Result<Vec<Found>, SearchError> {
    let mut url = service.url("/res/v1/web/search");
    url.query_pairs_mut().append_pair("q", query).append_pair("count", &max.min(MOST).to_string());
    let request = service.http.get(url).header("X-Subscription-Token", service.key());
    let answer: Answer = service.ask(request.header("Accept", "application/json")).await?;
    if answer.kind != "search" {
        return Err(service.failed(&format!("its answer is of type `{}`, not `search`", answer.kind)));
    }
    let found = |hit: Hit| Found { title: hit.title, url: hit.url, excerpt: hit.description };
    Ok(answer.web.results.into_iter().map(found).collect())
}
