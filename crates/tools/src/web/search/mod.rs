//! Web search with one of three services, chosen by configuration. One file per service: its request and its response.

mod brave;
mod searxng;
mod tavily;

use super::error::SearchError;
use plumbline_engine::{beginning, one_line};
use plumbline_llm::{ApiKey, body_within, values_in};
use reqwest::{RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use std::time::Duration;

/// The timeout of a search.
const TOTAL: Duration = Duration::from_secs(30);
/// Maximum size of an answer, in bytes.
const MAX_BYTES: usize = 4 << 20;
/// Maximum values in it: a result has about twenty.
const MAX_VALUES: usize = 50_000;
/// Maximum characters of a result's excerpt.
const MAX_EXCERPT_CHARS: usize = 600;

/// The supported services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// A SearXNG instance, usually self-hosted; its `search.formats` must include `json`.
    Searxng,
    /// Tavily.
    Tavily,
    /// Brave Search.
    Brave,
}

impl Provider {
    /// The service by its name in a configuration: `searxng`, `tavily`, `brave`.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "searxng" => Some(Self::Searxng),
            "tavily" => Some(Self::Tavily),
            "brave" => Some(Self::Brave),
            _ => None,
        }
    }

    /// Its display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Searxng => "SearXNG",
            Self::Tavily => "Tavily",
            Self::Brave => "Brave Search",
        }
    }

    /// Its default address; SearXNG has none.
    pub fn base_url(self) -> Option<&'static str> {
        match self {
            Self::Searxng => None,
            Self::Tavily => Some("https://api.tavily.com"),
            Self::Brave => Some("https://api.search.brave.com"),
        }
    }
}

/// The settings of `connections.web_search`, with the key read from its variable.
#[derive(Clone, Debug)]
pub struct SearchSettings {
    /// The service.
    pub provider: Provider,
    /// Its address; the default if absent, which SearXNG does not have.
    pub base_url: Option<String>,
    /// The key, if the service needs one.
    pub api_key: Option<ApiKey>,
}

/// A result, as two of the three services write it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Found {
    /// The page's title.
    #[serde(default, deserialize_with = "text")]
    pub title: String,
    /// Its address.
    pub url: String,
    /// The service's excerpt.
    #[serde(default, rename = "content", deserialize_with = "text")]
    pub excerpt: String,
}

/// A configured service.
#[derive(Clone, Debug)]
pub struct SearchService {
    settings: SearchSettings,
    base_url: Url,
    http: reqwest::Client,
}

impl SearchService {
    /// Creates the service without sending anything.
    ///
    /// # Errors
    /// [`SearchError::Configuration`]: no usable address, or no key although one is needed.
    pub fn new(settings: SearchSettings) -> Result<Self, SearchError> {
        let wrong = |reason: String| SearchError::Configuration(reason);
        let provider = settings.provider;
        let address = settings.base_url.as_deref().or(provider.base_url());
        let address = address.ok_or_else(|| wrong(format!("{} needs `base_url`", provider.name())))?;
        let base_url = Url::parse(address).map_err(|error| wrong(format!("`base_url` {address}: {error}")))?;
        if !matches!(base_url.scheme(), "http" | "https") {
            return Err(wrong(format!("`base_url` {address} is neither http nor https")));
        }
        if settings.api_key.is_none() && provider != Provider::Searxng {
            return Err(wrong(format!("{} needs a key: set the variable that `api_key_env` names", provider.name())));
        }
        let http = plumbline_llm::tls::http()
            // A redirect would send the key to another host.
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .timeout(TOTAL)
            .user_agent(concat!("plumbline/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| wrong(error.to_string()))?;
        Ok(Self { settings, base_url, http })
    }

    /// Searches; an empty list means that the service found nothing.
    ///
    /// # Errors
    /// See [`SearchError`].
    pub async fn search(&self, query: &str, max_results: usize) -> Result<Vec<Found>, SearchError> {
        let mut found = match self.settings.provider {
            Provider::Searxng => searxng::search(self, query).await?,
            Provider::Tavily => tavily::search(self, query, max_results).await?,
            Provider::Brave => brave::search(self, query, max_results).await?,
        };
        found.truncate(max_results);
        found.iter_mut().for_each(tidy);
        Ok(found)
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.base_url.clone();
        url.set_path(&format!("{}{path}", self.base_url.path().trim_end_matches('/')));
        url
    }

    fn key(&self) -> &str {
        self.settings.api_key.as_ref().map_or("", ApiKey::expose)
    }

    async fn ask<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, SearchError> {
        let response = request.send().await.map_err(|error| self.failed(&error.without_url()))?;
        let status = response.status().as_u16();
        let body = self.body(response).await?;
        match status {
            200..=299 => serde_json::from_slice(&body)
                .map_err(|error| self.failed(&format!("its answer is not as expected: {error}"))),
            402 | 429 | 432 | 433 => Err(SearchError::Quota { provider: self.settings.provider.name(), status }),
            403 if self.settings.provider == Provider::Searxng => {
                Err(self.failed(&"HTTP status 403: its settings must have `json` among `search.formats`"))
            }
            // Brave reports an invalid key as an invalid request.
            422 if contains(&body, b"SUBSCRIPTION_TOKEN_INVALID") => {
                Err(SearchError::Key { provider: self.settings.provider.name(), status })
            }
            401 | 403 => Err(SearchError::Key { provider: self.settings.provider.name(), status }),
            _ => {
                let said = beginning(&one_line(&String::from_utf8_lossy(&body)), 200);
                Err(self.failed(&format!("HTTP status {status}: {}", self.redacted(&said))))
            }
        }
    }

    async fn body(&self, response: Response) -> Result<Vec<u8>, SearchError> {
        let body = body_within(response, MAX_BYTES).await.map_err(|error| self.failed(&error.without_url()))?;
        let body = body.ok_or_else(|| self.failed(&"its answer is larger than 4 MiB"))?;
        if values_in(&body) > MAX_VALUES {
            return Err(self.failed(&format!("its answer has more than {MAX_VALUES} values")));
        }
        Ok(body)
    }

    fn failed(&self, reason: &dyn std::fmt::Display) -> SearchError {
        SearchError::Failed { provider: self.settings.provider.name(), reason: reason.to_string() }
    }

    fn redacted(&self, text: &str) -> String {
        self.settings.api_key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text))
    }
}

fn contains(body: &[u8], words: &[u8]) -> bool {
    body.windows(words.len()).any(|window| window == words)
}

/// A text that a service may omit or set to null: one result without a title must not fail the others.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Highlighting marks of some services, and HTML entities; `&amp;` comes last, so that nothing is decoded twice.
const MARKS: [(&str, &str); 10] = [
    ("<strong>", ""),
    ("</strong>", ""),
    ("&quot;", "\""),
    ("&#x27;", "'"),
    ("&#39;", "'"),
    ("&apos;", "'"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&nbsp;", " "),
    ("&amp;", "&"),
];

/// One line each, as plain text.
fn tidy(found: &mut Found) {
    let line = |text: &str, limit: usize| {
        let plain = MARKS.iter().fold(text.to_owned(), |text, (mark, plain)| text.replace(mark, plain));
        one_line(&plain).chars().take(limit).collect::<String>()
    };
    found.title = line(&found.title, 200);
    found.excerpt = line(&found.excerpt, MAX_EXCERPT_CHARS);
}
