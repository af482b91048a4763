//! The context window as reported by a server: Ollama, llama.cpp, vLLM and similar ones.
//!
//! The window of a model and the window its server was started with may differ, and only the server knows the latter.

use crate::Api;
use crate::config::ApiKey;
use crate::dialect;
use crate::http::{body::body_within, budget::values_in};
use serde_json::Value;
use std::time::Duration;

/// Timeout for the server's answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Maximum bytes of an answer: routers list thousands of models.
pub(crate) const MOST_BYTES: usize = 16 << 20;
/// Maximum values that it is parsed into: two bytes may be a hundred in memory.
const MOST_VALUES: usize = 200_000;

/// Asks the server at `base_url` for the window of `model`, in tokens. None if it does not report it.
///
/// Ollama tells of the models that are loaded (`/api/ps`), llama.cpp of its one (`/props`), vLLM and LM Studio in their
/// list of models. Only the last gets the key.
pub async fn server_window(base_url: &str, api: Api, model: &str, key: Option<&ApiKey>) -> Option<u32> {
    let http = crate::http::tls::http().redirect(reqwest::redirect::Policy::none()).build().ok()?;
    asked(&http, base_url, api, model, key).await
}

/// The same with an existing client.
pub(crate) async fn asked(
    http: &reqwest::Client,
    base_url: &str,
    api: Api,
    model: &str,
    key: Option<&ApiKey>,
) -> Option<u32> {
    let base_url = reqwest::Url::parse(base_url).ok()?;
    let at = |path: &str| {
        let mut url = base_url.clone();
        url.set_path(path);
        url.set_query(None);
        url
    };
    let list = format!("{}/models", base_url.path().trim_end_matches('/'));
    let asked = async {
        if let Some(window) = answer_of(http.get(at("/api/ps"))).await.and_then(|said| of_loaded(&said, model)) {
            return Some(window);
        }
        if let Some(window) = answer_of(http.get(at("/props"))).await.and_then(|said| of_props(&said)) {
            return Some(window);
        }
        let listed = answer_of(dialect::headers(key, api, http.get(at(&list)))).await?;
        of_list(&listed, model)
    };
    tokio::time::timeout(PATIENCE, asked).await.ok().flatten()
}

async fn answer_of(request: reqwest::RequestBuilder) -> Option<Value> {
    let answer = request.send().await.ok()?;
    if !answer.status().is_success() {
        return None;
    }
    let body = body_within(answer, MOST_BYTES).await.ok()?.filter(|body| values_in(body) <= MOST_VALUES)?;
    serde_json::from_slice(&body).ok()
}

/// Ollama, since July 2025 (ollama#11331).
fn of_loaded(said: &Value, model: &str) -> Option<u32> {
    let is_it = |one: &&Value| ["model", "name"].iter().any(|key| is_named(&one[*key], model));
    tokens(&said["models"].as_array()?.iter().find(is_it)?["context_length"])
}

/// llama.cpp: the window of one of its slots.
fn of_props(said: &Value) -> Option<u32> {
    tokens(&said["default_generation_settings"]["n_ctx"])
}

/// vLLM's field name, and those of others. The maximum window of a model is not among them.
fn of_list(said: &Value, model: &str) -> Option<u32> {
    let it = said["data"].as_array()?.iter().find(|one| is_named(&one["id"], model))?;
    ["max_model_len", "loaded_context_length", "context_length", "context_window"]
        .iter()
        .find_map(|key| tokens(&it[*key]))
}

/// Ollama adds the default tag if none is given.
fn is_named(name: &Value, model: &str) -> bool {
    name.as_str().is_some_and(|name| name == model || name.strip_suffix(":latest") == Some(model))
}

fn tokens(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|tokens| u32::try_from(tokens).ok()).filter(|tokens| *tokens > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_server_reports_in_its_own_words() {
        let loaded = json!({"models": [{"name": "other:latest", "context_length": 1},
            {"name": "qwen3:latest", "model": "qwen3:latest", "context_length": 4096}]});
        assert_eq!(of_loaded(&loaded, "qwen3"), Some(4096));
        assert_eq!(of_loaded(&loaded, "qwen3:latest"), Some(4096));
        assert_eq!(of_loaded(&loaded, "qwen"), None);
        assert_eq!(of_props(&json!({"default_generation_settings": {"n_ctx": 8192}})), Some(8192));
        assert_eq!(of_props(&json!({"n_ctx_train": 8192})), None);
        let listed =
            json!({"data": [{"id": "m", "max_model_len": 32768}, {"id": "n"}, {"id": "o", "context_length": 0}]});
        assert_eq!(["m", "n", "o", "p"].map(|model| of_list(&listed, model)), [Some(32768), None, None, None]);
    }
}
