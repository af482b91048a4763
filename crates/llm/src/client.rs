//! The client itself: one call, one [`Reply`] or one [`Failure`].

use crate::Api;
use crate::answer;
use crate::classify::{self, Problem, reset_time};
use crate::config::ModelConfig;
use crate::dialect::{self, Begun, Decoded, Field, NoAnswer, ORIGIN, RequestOptions, SentBack};
use crate::http::stated_limits::StatedLimits;
use crate::http::{Answer, Budget, Unanswered, exchange};
use crate::learnt::{Learnt, Refusal};
use crate::server_window;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::stream;
use plumbline_engine::{Failure, FailureClass, ModelRequest, Purpose, Reply, RequestRecord};
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE};
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;
use tracing::info;
use uuid::Uuid;

/// The client of one model. Has its own connection pool; keep one per configuration and share it.
#[derive(Debug)]
pub struct ModelClient {
    config: ModelConfig,
    http: reqwest::Client,
    /// `llm.base_url`.
    url: reqwest::Url,
    /// The address for messages and records: without user, password and query.
    place: String,
    /// Scheme, host and port.
    endpoint: String,
    /// Whether the server was asked for its window and did not answer.
    tells_no_window: AtomicBool,
}

/// How one request was made.
struct Asked<'a> {
    options: &'a RequestOptions,
    learnt: &'a Learnt,
    /// Maximum tokens of the answer.
    cap: u32,
    now: fn() -> DateTime<Utc>,
    /// The names of the offered tools.
    bound: &'a [&'a str],
    /// What it sends of earlier answers.
    sent_back: &'a dyn Fn() -> SentBack,
}

/// Why a client cannot be created from a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ModelClientError {
    /// The address is invalid.
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
        let url = base_url(&config.base_url)?;
        let mut http = crate::http::tls::http()
            .connect_timeout(config.timeouts.connect)
            .tcp_nodelay(true)
            // A redirect would turn the POST into a GET or send the key elsewhere; and nothing here retries.
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .user_agent(concat!("plumbline/", env!("CARGO_PKG_VERSION")));
        if is_local(&url) {
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| ModelClientError::Http(error.to_string()))?;
        let (place, endpoint) = (place_of(&url), url.origin().ascii_serialization());
        Ok(Self { config, http, url, place, endpoint, tells_no_window: AtomicBool::new(false) })
    }

    /// Scheme and host, and the port if it is not the default one.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The client's configuration.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Makes one request to the model. `again` rebuilds the request: it is rarely needed after it was rendered, so it
    /// is not kept in memory while the model works. `now` gives the time of sending, for the record and for
    /// `Retry-After` dates; `learnt` has what the job has learnt about its endpoints.
    ///
    /// # Errors
    /// The failure, classified, with the record of the request; boxed because it is large and rare. Its message never
    /// contains the key.
    pub async fn call<'r>(
        &self,
        request: ModelRequest<'r>,
        again: impl Fn() -> ModelRequest<'r>,
        now: fn() -> DateTime<Utc>,
        learnt: &Learnt,
    ) -> Result<Reply, Box<Failure>> {
        let started = Instant::now();
        let options = learnt.options(&self.config, &self.place);
        let mut record = self.record(&request, &options, now());
        let body = dialect::body(&self.config, &options, &request);
        let sent_bytes = body.len();
        let ModelRequest { tools, max_output_tokens, messages, .. } = request;
        let cap = dialect::cap(&options, max_output_tokens);
        drop(messages);
        let posted = self.post(options.api, body);
        let answered = exchange(posted, options.api, self.config.timeouts, Budget::of(cap)).await;
        let stated = answered.as_ref().map(|answer| StatedLimits::of_headers(|name| answer.header(name)));
        learnt.state_limits(stated.unwrap_or_default());
        record.duration_ms = i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX);
        let bound: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let mut reply = {
            // Rendered again only if the provider reports no usage.
            let render = || dialect::body(&self.config, &options, &again());
            let sent = answer::Sent { bytes: sent_bytes, render: &render };
            let sent_back = || dialect::sent_back(&self.config, &options, &again());
            let asked = Asked { options: &options, learnt, cap, now, bound: &bound, sent_back: &sent_back };
            self.answered(answered, record, &asked, &sent)
        }?;
        if answer::seems_cut(&reply.record, sent_bytes) {
            reply.record.server_window = Box::pin(self.server_window(options.api)).await;
        }
        Ok(reply)
    }

    /// The result of a request for the engine.
    fn answered(
        &self,
        answered: Result<Answer, Unanswered>,
        mut record: RequestRecord,
        asked: &Asked<'_>,
        sent: &answer::Sent<'_>,
    ) -> Result<Reply, Box<Failure>> {
        let &Asked { cap, now, bound, .. } = asked;
        let answer = match answered {
            Ok(answer) => answer,
            Err(Unanswered { broken, begun }) => {
                if let Some(begun) = begun {
                    answer::book_failed(&mut record, &begun, cap, sent);
                }
                return Err(self.failure(classify::of_broken(&broken, &self.place), None, record));
            }
        };
        let mut problem = match self.read(&answer, asked) {
            Ok(decoded) => {
                let decoded = match record.purpose {
                    // It replaces the conversation, so a thought alone is no summary.
                    Purpose::Summary => decoded.with_leaked_calls(bound).without_thinking(),
                    Purpose::Strategic | Purpose::Tactical => decoded.with_leaked_calls(bound),
                };
                return answer::reply(decoded, record, cap, sent, &self.place)
                    .map_err(|failed| self.failure(failed.0, None, failed.1));
            }
            Err(problem) => problem,
        };
        problem.class = classify::as_asked(problem.class, answer.header("x-should-retry"));
        let body = answer.body.as_deref().unwrap_or_default();
        if (200..300).contains(&answer.status) {
            let usage = answer.begun.usage.clone().or_else(|| dialect::usage_in(body));
            let begun = Begun { usage, ..answer.begun };
            if begun.is_paid_for() {
                answer::book_failed(&mut record, &begun, cap, sent);
            }
        }
        let wish = reset_time::seconds(|name| answer.header(name), body, problem.class, now());
        Err(self.failure(problem, wish, record))
    }

    /// The window that the server reports; not cached forever, because the server may restart with another.
    async fn server_window(&self, api: Api) -> Option<u32> {
        if !self.config.profile.reports_whole_prompt || self.tells_no_window.load(Relaxed) {
            return None;
        }
        let ModelConfig { base_url, model, api_key, .. } = &self.config;
        let window = server_window::asked(&self.http, base_url, api, model, api_key.as_ref()).await;
        self.tells_no_window.store(window.is_none(), Relaxed);
        window
    }

    /// The body is sent as a stream and freed after sending: the HTTP client keeps a copy of a replayable body until
    /// the response arrives, which would be most of the memory with a thousand waiting jobs.
    fn post(&self, api: Api, body: Vec<u8>) -> reqwest::RequestBuilder {
        let length = body.len();
        let body = stream::iter([Ok::<_, Infallible>(Bytes::from(body))]);
        let request = self.http.post(self.url_of(api)).header(CONTENT_TYPE, "application/json");
        let request = request.header(CONTENT_LENGTH, length).body(reqwest::Body::wrap_stream(body));
        dialect::headers(self.config.api_key.as_ref(), api, request)
    }

    /// A query string is kept: some providers require one in every request.
    fn url_of(&self, api: Api) -> reqwest::Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}{}", self.url.path().trim_end_matches('/'), api.path()));
        url
    }

    fn record(&self, request: &ModelRequest<'_>, options: &RequestOptions, created_at: DateTime<Utc>) -> RequestRecord {
        RequestRecord {
            api: Some(options.api.as_str().to_owned()),
            endpoint: Some(self.endpoint.clone()),
            service_tier: options.unless(Field::ServiceTier, self.config.service_tier.clone()),
            ..RequestRecord::sent(&self.config.model, request.purpose, request.attempt, created_at)
        }
    }

    fn read(&self, answer: &Answer, asked: &Asked<'_>) -> Result<Decoded, Problem> {
        let &Asked { options, learnt, .. } = asked;
        let no_answer = match &answer.body {
            Ok(body) if !(200..300).contains(&answer.status) => {
                if classify::is_output_cap(answer.status, body) {
                    return Ok(Decoded::cut());
                }
                let mut problem = classify::of_status(answer.status, body, &self.config, &self.place);
                if let (300..=399, Some(location)) = (answer.status, answer.header("location")) {
                    // A query string may contain a secret.
                    let location = location.split(['?', '#']).next().unwrap_or_default();
                    problem.message.push_str(&format!("; it names the Location {location}"));
                }
                return Err(self.refusal(problem, answer.status, body, asked));
            }
            Ok(body) => match dialect::decode(options.api, body) {
                Ok(decoded) if learnt.is_over(&self.config, answer.has_own_end) => return Ok(from(decoded, options)),
                Ok(_) => NoAnswer::Cut,
                Err(no_answer) => no_answer,
            },
            Err(no_answer) => no_answer.clone(),
        };
        let place = &self.place;
        Err(match no_answer {
            NoAnswer::Cut => Problem::new(FailureClass::Transient, format!("the answer of {place} ends in the middle")),
            NoAnswer::Error(error) if classify::is_output_cap(answer.status, error.to_string().as_bytes()) => {
                return Ok(Decoded::cut());
            }
            NoAnswer::Error(error) => {
                let problem = classify::of_error_object(&error, &self.config, place);
                let status = classify::status_in(&error).unwrap_or(answer.status);
                self.refusal(problem, status, error.to_string().as_bytes(), asked)
            }
            NoAnswer::Malformed(what) => {
                let body = answer.body.as_deref().unwrap_or_default();
                classify::of_malformed(&what, body, answer.header("content-encoding"), place)
            }
        })
    }

    /// A refusal that says how to change the request is transient, whether it came as a status or inside an answer: the
    /// next request is made that way.
    fn refusal(&self, problem: Problem, status: u16, body: &[u8], asked: &Asked<'_>) -> Problem {
        let refusal = Refusal { status, class: problem.class, body, cap: asked.cap, sent: asked.sent_back };
        let Some(lesson) = asked.learnt.learn(&self.config, asked.options, &refusal) else { return problem };
        let consequence = lesson.consequence();
        info!(model.name = self.config.model, model.endpoint = self.endpoint, said = problem.message, "{consequence}");
        let message = format!("{}; {consequence}", problem.message);
        Problem { learnt: true, ..Problem::new(FailureClass::Transient, message) }
    }

    fn failure(&self, problem: Problem, retry_after_s: Option<u64>, mut record: RequestRecord) -> Box<Failure> {
        let message = match &self.config.api_key {
            Some(key) => key.redact(&problem.message),
            None => problem.message,
        };
        record.error = Some(message.clone());
        let Problem { class, hint, suspicion, learnt, .. } = problem;
        Box::new(Failure { class, message, retry_after_s, hint, suspicion, learnt, jitter: jitter(), record })
    }
}

/// With its extra data marked as belonging to this endpoint.
fn from(mut decoded: Decoded, options: &RequestOptions) -> Decoded {
    if !decoded.extra.is_empty() {
        decoded.extra.insert(ORIGIN.into(), options.origin.clone().into());
    }
    decoded
}

/// The body of one request for an endpoint about which nothing has been learnt, without the streaming options: the
/// input of the model.
pub fn request_body(config: &ModelConfig, request: &ModelRequest<'_>) -> Vec<u8> {
    let place = base_url(&config.base_url).map(|url| place_of(&url)).unwrap_or_default();
    let options = RequestOptions { streamed: false, ..Learnt::default().options(config, &place) };
    dialect::body(config, &options, request)
}

fn base_url(base_url: &str) -> Result<reqwest::Url, ModelClientError> {
    let refused =
        |reason: &str| ModelClientError::BaseUrl { base_url: base_url.to_string(), reason: reason.to_string() };
    let url = reqwest::Url::parse(base_url.trim()).map_err(|error| refused(&error.to_string()))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => Err(refused("it does not begin with http:// or https://")),
    }
}

/// Whether the address is on this machine, which a proxy cannot reach.
fn is_local(url: &reqwest::Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback()),
        None => false,
    }
}

fn place_of(url: &reqwest::Url) -> String {
    let mut shown = url.clone();
    // These two can fail only for addresses without a host, which are refused earlier.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.as_str().trim_end_matches('/').to_string()
}

/// Uniform between 0 and 1. The bits come from a random UUID, so no generator is needed.
pub fn jitter() -> f64 {
    let bits = Uuid::new_v4().as_u128() as u32;
    f64::from(bits) / f64::from(u32::MAX)
}
