//! `POST /search`, with the key as a bearer token.

use super::{Found, SearchService};
use crate::web::SearchError;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Answer {
    results: Vec<Found>,
}

pub(super) async fn search(service: &SearchService, query: &str, max: usize) -> Result<Vec<Found>, SearchError> {
    let body = json!({"query": query, "max_results": max});
    let request = service.http.post(service.url("/search")).bearer_auth(service.key()).json(&body);
    Ok(service.ask::<Answer>(request).await?.results)
}
