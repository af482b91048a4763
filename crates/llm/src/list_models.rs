//! Information about a model endpoint, for setup.

use crate::Api;
use crate::config::ApiKey;
use crate::dialect;
use crate::http::body::body_within;
use crate::server_window::MOST_BYTES;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// An endpoint's answer to a request for its models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelList {
    /// It lists its models by name.
    Models(Vec<String>),
    /// It is reachable, but has no readable list; many small servers have none.
    NoList,
    /// It rejected the key, or a missing key.
    KeyRefused,
}

#[derive(Deserialize)]
struct List {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
}

/// Requests the endpoint's models (`GET {base_url}/models`), with the key in the protocol's form.
///
/// # Errors
/// Why there was no answer, in a few words.
pub async fn list_models(
    base_url: &str,
    api: Api,
    key: Option<&ApiKey>,
    timeout: Duration,
) -> Result<ModelList, String> {
    let request = client(timeout)?.get(address(base_url, "/models"));
    let answer = dialect::headers(key, api, request).send().await.map_err(|error| why(error, timeout))?;
    if matches!(answer.status().as_u16(), 401 | 403) {
        return Ok(ModelList::KeyRefused);
    }
    if !answer.status().is_success() {
        return Ok(ModelList::NoList);
    }
    let body = body_within(answer, MOST_BYTES).await.ok().flatten();
    let list = body.and_then(|body| serde_json::from_slice::<List>(&body).ok());
    Ok(list.map_or(ModelList::NoList, |list| ModelList::Models(list.data.into_iter().map(|model| model.id).collect())))
}

/// Whether the endpoint answers for a model that is not in its list, as servers of a single model do for any name.
/// Requests one token.
pub async fn answers_as(base_url: &str, api: Api, model: &str, key: Option<&ApiKey>, timeout: Duration) -> bool {
    let Ok(client) = client(timeout) else { return false };
    let messages = json!([{"role": "user", "content": "Say yes."}]);
    let body = match api {
        Api::Chat | Api::Messages => json!({"model": model, "messages": messages, "max_tokens": 1}),
        // Fewer tokens are refused by that protocol.
        Api::Responses => json!({"model": model, "input": messages, "max_output_tokens": 16, "store": false}),
    };
    let request = client.post(address(base_url, api.path())).json(&body);
    dialect::headers(key, api, request).send().await.is_ok_and(|answer| answer.status().is_success())
}

fn client(timeout: Duration) -> Result<reqwest::Client, String> {
    crate::http::tls::http().timeout(timeout).build().map_err(|error| error.to_string())
}

fn address(base_url: &str, path: &str) -> String {
    format!("{}{path}", base_url.trim_end_matches('/'))
}

fn why(error: reqwest::Error, timeout: Duration) -> String {
    if error.is_timeout() {
        format!("no answer within {} s", timeout.as_secs())
    } else if error.is_connect() {
        "the connection was refused or could not be made".into()
    } else {
        error.without_url().to_string()
    }
}
