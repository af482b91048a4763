//! What a model endpoint says of itself, for people who set things up.

use super::config::ApiKey;
use serde::Deserialize;
use std::time::Duration;

/// An endpoint's answer to the question for its models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Survey {
    /// It lists its models by name.
    Models(Vec<String>),
    /// It is there, but has no list that could be read; many small servers have none.
    NoList,
    /// It refused the key, or that there was none.
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

/// Asks the endpoint for its models (`GET {base_url}/models`).
///
/// # Errors
/// A few words on why there was no answer.
pub async fn survey(base_url: &str, key: Option<&ApiKey>, timeout: Duration) -> Result<Survey, String> {
    crate::tls::install();
    let url = format!("{}/models", base_url.trim_end_matches('/'));
    let client = reqwest::Client::builder().timeout(timeout).build().map_err(|error| error.to_string())?;
    let mut request = client.get(url);
    if let Some(key) = key {
        request = request.bearer_auth(key.expose());
    }
    let answer = request.send().await.map_err(|error| why(error, timeout))?;
    if matches!(answer.status().as_u16(), 401 | 403) {
        return Ok(Survey::KeyRefused);
    }
    if !answer.status().is_success() {
        return Ok(Survey::NoList);
    }
    let list = answer.json::<List>().await;
    Ok(list.map_or(Survey::NoList, |list| Survey::Models(list.data.into_iter().map(|model| model.id).collect())))
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
