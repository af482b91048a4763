//! `POST /search`, with the key as a bearer token.

use super::{Found, SearchService};
use crate::web::SearchError;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Answer {
    results: Vec<Hit>,
}

#[derive(Deserialize)]
struct Hit {
    url: String,
    #[serde(default, deserialize_with = "super::text")]
    title: String,
    #[serde(default, deserialize_with = "super::text")]
    content: String,
}

pub(super) async fn search(service: &SearchService, query: &str, max: usize) -> Result<Vec<Found>, SearchError> {
    let body = json!({"query": query, "max_results": max});
    let request = service.http.post(service.url("/search")).bearer_auth(service.key()).json(&body);
    let answer: Answer = service.ask(request).await?;
    let found = |hit: Hit| Found { title: hit.title, url: hit.url, excerpt: hit.content };
    Ok(answer.results.into_iter().map(found).collect())
}
