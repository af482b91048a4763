//! The client itself: one call, one [`Reply`] or one [`Failure`].

use super::body::{self, Body};
use super::classify::{self, Problem};
use super::config::ModelConfig;
use super::decode::{NoAnswer, decode};
use super::exchange::{Answer, exchange, most_bytes};
use super::prefix::Prefix;
use super::{answer, retry_after};
use chrono::{DateTime, Utc};
use futures_util::stream;
use plumbline_engine::{Failure, FailureClass, ModelRequest, Reply, RequestRecord};
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE};
use std::convert::Infallible;
use std::time::Instant;
use uuid::Uuid;

/// Speaks to one model. Holds its own connection pool; keep one per configuration and share it.
#[derive(Debug)]
pub struct ModelClient {
    config: ModelConfig,
    http: reqwest::Client,
    url: reqwest::Url,
    /// The address for messages: without user and password.
    place: String,
}

/// Why a client cannot be made from a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ModelClientError {
    /// The address is not one.
    #[error("llm.base_url `{base_url}` is not a usable address ({reason}); write it like http://localhost:8000/v1")]
    BaseUrl {
        /// As configured.
        base_url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The HTTP client could not be set up.
    #[error("the HTTP client for the model could not be set up ({0}); check the system's TLS certificates")]
    Http(String),
}

impl ModelClient {
    /// Prepares a client; nothing is sent.
    ///
    /// # Errors
    /// The address is no `http` or `https` URL, or TLS cannot be set up.
    pub fn new(config: ModelConfig) -> Result<Self, ModelClientError> {
        let url = chat_url(&config.base_url)?;
        let mut http = crate::tls::http()
            .connect_timeout(config.timeouts.connect)
            .tcp_nodelay(true)
            // A redirect would turn the POST into a GET or carry the key elsewhere; and nothing here retries.
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .user_agent(concat!("plumbline/", env!("CARGO_PKG_VERSION")));
        if is_local(&url) {
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| ModelClientError::Http(error.to_string()))?;
        let place = place_of(&url);
        Ok(Self { config, http, url, place })
    }

    /// What the client was made from.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Asks the model once. `again` makes the same request anew: it is seldom needed once it is written, and is not kept
    /// for as long as the model takes. `now` gives the time of sending, for the record and for `Retry-After` dates;
    /// `prefix` is what the job's last request left.
    ///
    /// # Errors
    /// The failure, classified, with the record of the request; boxed because it is large and rare. Its message never
    /// contains the key.
    pub async fn call<'r>(
        &self,
        request: ModelRequest<'r>,
        again: impl Fn() -> ModelRequest<'r>,
        now: fn() -> DateTime<Utc>,
        prefix: &Prefix,
    ) -> Result<Reply, Box<Failure>> {
        let mut record = self.record(&request, now());
        let started = Instant::now();
        let body = Body::of(&self.config, &request, prefix);
        let sent_bytes = body.length();
        let ModelRequest { tools, max_output_tokens, messages, .. } = request;
        drop(messages);
        let answered = exchange(self.post(body), self.config.timeouts, most_bytes(max_output_tokens)).await;
        record.duration_ms = i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX);
        let answer = match answered {
            Ok(answer) => answer,
            Err(broken) => return Err(self.failure(classify::of_broken(&broken, &self.place), None, record)),
        };
        let wish = answer.retry_after.as_deref().and_then(|header| retry_after::seconds(header, now()));
        match self.read(&answer) {
            Ok(decoded) => {
                let bound: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
                // Rendered a second time only where the provider leaves the usage out.
                let sent = answer::Sent { bytes: sent_bytes, render: &|| body::render(&self.config, &again()) };
                Ok(answer::reply(decoded.with_leaked_calls(&bound), record, max_output_tokens, &sent))
            }
            Err(problem) => Err(self.failure(problem, wish, record)),
        }
    }

    /// The body goes as a stream, and each piece of it is given back once it is sent: of a body that it can send again, the
    /// HTTP client keeps a copy until the answer is there, and with a thousand jobs that wait for their model that is most
    /// of the memory.
    fn post(&self, body: Body) -> reqwest::RequestBuilder {
        let length = body.length();
        let pieces = stream::iter(body.into_bytes().map(Ok::<_, Infallible>));
        let request = self.http.post(self.url.clone()).header(CONTENT_TYPE, "application/json");
        let request = request.header(CONTENT_LENGTH, length).body(reqwest::Body::wrap_stream(pieces));
        match &self.config.api_key {
            Some(key) => request.bearer_auth(key.expose()),
            None => request,
        }
    }

    fn record(&self, request: &ModelRequest<'_>, created_at: DateTime<Utc>) -> RequestRecord {
        RequestRecord {
            model: self.config.model.clone(),
            purpose: request.purpose,
            prompt_tokens: 0,
            cached_tokens: 0,
            completion_tokens: 0,
            estimated: false,
            duration_ms: 0,
            attempt: request.attempt,
            error: None,
            raw_usage: None,
            created_at,
        }
    }

    fn read(&self, answer: &Answer) -> Result<super::decode::Decoded, Problem> {
        if !(200..300).contains(&answer.status) {
            return Err(classify::of_status(answer.status, &answer.body, &self.config, &self.place));
        }
        let place = &self.place;
        decode(&answer.body).map_err(|no_answer| match no_answer {
            NoAnswer::Cut => {
                Problem::new(FailureClass::Transient, format!("the answer of {place} ends in the middle of its JSON"))
            }
            NoAnswer::Error(error) => classify::of_error_object(&error, &self.config, place),
            NoAnswer::Malformed(what) => {
                Problem::new(FailureClass::Malformed, format!("the answer of {place} cannot be understood: {what}"))
            }
        })
    }

    fn failure(&self, problem: Problem, retry_after_s: Option<u64>, mut record: RequestRecord) -> Box<Failure> {
        let message = match &self.config.api_key {
            Some(key) => key.redact(&problem.message),
            None => problem.message,
        };
        record.error = Some(message.clone());
        Box::new(Failure { class: problem.class, message, retry_after_s, hint: problem.hint, jitter: jitter(), record })
    }
}

fn chat_url(base_url: &str) -> Result<reqwest::Url, ModelClientError> {
    let refused =
        |reason: &str| ModelClientError::BaseUrl { base_url: base_url.to_string(), reason: reason.to_string() };
    let mut url = reqwest::Url::parse(base_url.trim()).map_err(|error| refused(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused("it does not begin with http:// or https://"));
    }
    // A query stays where it is: some providers want one with every request.
    let path = format!("{}/chat/completions", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

/// Whether the address is on this machine, where no proxy can reach it.
fn is_local(url: &reqwest::Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback()),
        None => false,
    }
}

fn place_of(url: &reqwest::Url) -> String {
    let mut shown = url.clone();
    // These two can only fail for addresses without a host, which are refused before.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.as_str().trim_end_matches("/chat/completions").to_string()
}

/// Between 0 and 1, evenly. A random UUID has the random bits at hand; no generator of our own is needed.
pub(crate) fn jitter() -> f64 {
    let bits = Uuid::new_v4().as_u128() as u32;
    f64::from(bits) / f64::from(u32::MAX)
}
