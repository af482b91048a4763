//! The embeddings endpoint: `POST {base_url}/embeddings`, OpenAI's wire format.

use crate::ApiKey;
use crate::http::body::body_within;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// Timeout of a call.
const TOTAL: Duration = Duration::from_secs(60);
/// Maximum bytes of an answer around the embeddings, and of one: the largest known ones, written as decimals.
const MAX_BYTES: [usize; 2] = [1 << 20, 256 << 10];

/// The settings of `connections.embeddings`, with the key read from its variable.
#[derive(Clone, Debug)]
pub struct EmbedderSettings {
    /// Address up to, not including, `/embeddings`.
    pub base_url: String,
    /// Name of the model.
    pub model: String,
    /// The key, if needed.
    pub api_key: Option<ApiKey>,
}

/// Why there are no embeddings, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the embeddings endpoint failed: {0}")]
pub struct EmbedError(String);

/// The client of one embeddings model.
#[derive(Clone, Debug)]
pub struct Embedder {
    settings: EmbedderSettings,
    url: reqwest::Url,
    http: reqwest::Client,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    index: usize,
    embedding: Vec<f32>,
}

impl Embedder {
    /// Prepares a client; nothing is sent.
    ///
    /// # Errors
    /// The address cannot be used.
    pub fn new(settings: EmbedderSettings) -> Result<Self, EmbedError> {
        let address = format!("{}/embeddings", settings.base_url.trim_end_matches('/'));
        let url = reqwest::Url::parse(&address).map_err(|error| EmbedError(format!("{address}: {error}")))?;
        let http = crate::http::tls::http()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .timeout(TOTAL)
            .build()
            .map_err(|error| EmbedError(error.to_string()))?;
        Ok(Self { settings, url, http })
    }

    /// Name of the model, under which its embeddings are stored.
    pub fn model(&self) -> &str {
        &self.settings.model
    }

    /// The embeddings of texts, in order, all of one dimension.
    ///
    /// # Errors
    /// [`EmbedError`]; there is then no embedding for any of them.
    pub async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let body = json!({"model": self.settings.model, "input": texts, "encoding_format": "float"});
        let mut request = self.http.post(self.url.clone()).json(&body);
        if let Some(key) = &self.settings.api_key {
            request = request.bearer_auth(key.expose());
        }
        let failed = |error: reqwest::Error| EmbedError(error.without_url().to_string());
        let response = request.send().await.map_err(failed)?;
        let status = response.status();
        let [around, each] = MAX_BYTES;
        let most = around + each * texts.len();
        let too_large = || EmbedError(format!("its answer is larger than {} KiB", most >> 10));
        let body = body_within(response, most).await.map_err(failed)?.ok_or_else(too_large)?;
        if !status.is_success() {
            return Err(EmbedError(format!("HTTP status {}", status.as_u16())));
        }
        let answer: Answer = serde_json::from_slice(&body)
            .map_err(|error| EmbedError(format!("its answer is not as expected: {error}")))?;
        in_order(answer.data, texts.len())
    }
}

fn in_order(mut entries: Vec<Entry>, expected: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
    entries.sort_by_key(|entry| entry.index);
    let complete = entries.len() == expected && entries.iter().enumerate().all(|(place, entry)| entry.index == place);
    let dimension = entries.first().map_or(0, |entry| entry.embedding.len());
    let sound = |entry: &Entry| entry.embedding.len() == dimension && entry.embedding.iter().all(|n| n.is_finite());
    if !complete || dimension == 0 || !entries.iter().all(sound) {
        return Err(EmbedError(format!("it gave {} embeddings for {expected} texts, or uneven ones", entries.len())));
    }
    Ok(entries.into_iter().map(|entry| entry.embedding).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(index: usize, embedding: &[f32]) -> Entry {
        Entry { index, embedding: embedding.to_vec() }
    }

    #[test]
    fn embeddings_belong_to_their_texts_or_are_refused() {
        assert_eq!(in_order(vec![entry(1, &[2.0]), entry(0, &[1.0])], 2), Ok(vec![vec![1.0], vec![2.0]]));
        for wrong in [
            vec![entry(0, &[1.0])],
            vec![entry(0, &[1.0]), entry(0, &[1.0])],
            vec![entry(0, &[1.0]), entry(1, &[1.0, 2.0])],
            vec![entry(0, &[]), entry(1, &[])],
            vec![entry(0, &[f32::NAN]), entry(1, &[1.0])],
        ] {
            assert!(in_order(wrong, 2).is_err());
        }
    }
}
