//! One call of a tool over HTTP: one request without redirects, and its response.

use super::settings::HttpTool;
use crate::error::{Output, ToolError, ToolResult};
use crate::tool::{Run, ToolEnv};
use crate::web::{Guard, Guarded, NotPublic, is_public, system};
use crate::workspace::BoxFuture;
use encoding_rs::{Encoding, UTF_8};
use plumbline_engine::{HttpMethod, Replay};
use plumbline_llm::ApiKey;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Request, Response, StatusCode, Url};
use serde_json::Value;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Maximum bytes of an error response that the model is shown.
const SHOWN_OF_ERROR: usize = 2 << 10;
/// The timeout for connecting.
const CONNECT: Duration = Duration::from_secs(10);
const USER_AGENT: &str = concat!("plumbline/", env!("CARGO_PKG_VERSION"));

/// Returns the secret in a variable for (variable name, address), if it belongs to that address.
pub type SecretOf = Arc<dyn Fn(&str, &str) -> Option<ApiKey> + Send + Sync>;

/// Sends the calls of all jobs of the process; cheap to clone.
#[derive(Clone)]
pub struct HttpCaller {
    /// Reaches only the public internet.
    public: Client,
    /// Also reaches private addresses.
    private: Client,
    secret_of: SecretOf,
}

impl fmt::Debug for HttpCaller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpCaller").finish_non_exhaustive()
    }
}

/// The context of a job's outgoing calls.
#[derive(Clone, Copy)]
pub struct Outgoing<'a> {
    /// The sender.
    pub caller: &'a HttpCaller,
    /// The header `traceparent` for a call made now.
    pub traceparent: &'a (dyn Fn() -> String + Send + Sync),
}

impl fmt::Debug for Outgoing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing").finish_non_exhaustive()
    }
}

impl HttpCaller {
    /// Creates one with its own connection pools; keep one per process.
    ///
    /// # Errors
    /// The system's TLS cannot be set up.
    pub fn new(secret_of: SecretOf) -> Result<Self, String> {
        let builder = || {
            plumbline_llm::tls::http()
                // A proxy would resolve the name itself, bypassing the guard.
                .no_proxy()
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
                .connect_timeout(CONNECT)
                .user_agent(USER_AGENT)
        };
        let failed = |error| format!("the HTTP client for tools could not be set up: {error}");
        let resolver = Guarded { guard: Guard::default(), lookup: system() };
        let public = builder().dns_resolver(Arc::new(resolver)).build().map_err(failed)?;
        Ok(Self { public, private: builder().build().map_err(failed)?, secret_of })
    }
}

impl Run for HttpTool {
    fn run<'a>(&'a self, env: &'a ToolEnv<'a>, arguments: Value) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let outgoing = env.ctx.http.ok_or_else(|| ToolError::refused("tools over HTTP are not called here"))?;
            let key = format!("{}:{}", env.ctx.job_id, env.call_id);
            let (request, secrets) = self.request(&outgoing, &key, &arguments)?;
            let client = if self.allow_private { &outgoing.caller.private } else { &outgoing.caller.public };
            let response = client.execute(request).await.map_err(|error| self.failure(&error))?;
            let (status, kind, encoding) = (response.status(), content_type(&response), encoding_of(&response));
            let answer = self.read(response, status.is_success()).await?.decoded(encoding);
            let text = |bytes: &[u8]| secrets.iter().fold(text_of(bytes), |text, secret| secret.redact(&text));
            match status.is_success() {
                true => Ok(Output::text(self.result(status, &kind, &answer, text))),
                false => Err(self.refused(status, &text(&answer.bytes))),
            }
        })
    }
}

/// The body of a response.
struct Answer {
    bytes: Vec<u8>,
    /// Whether there is an unread rest.
    is_cut: bool,
}

impl Answer {
    /// The body in UTF-8, if the server states another encoding. Bytes that it does not have become U+FFFD.
    fn decoded(self, encoding: Option<&'static Encoding>) -> Self {
        let Some(encoding) = encoding.filter(|encoding| *encoding != UTF_8) else { return self };
        let (text, _, _) = encoding.decode(&self.bytes);
        // The last character may be cut.
        let text = if self.is_cut { text.trim_end_matches(char::REPLACEMENT_CHARACTER) } else { &text };
        Self { bytes: text.as_bytes().to_vec(), ..self }
    }
}

impl HttpTool {
    fn request(
        &self,
        outgoing: &Outgoing<'_>,
        key: &str,
        arguments: &Value,
    ) -> Result<(Request, Vec<ApiKey>), ToolError> {
        let refuse = |why: String| ToolError::refused(format!("{} is not called: {why}", self.name));
        let mut url = Url::parse(&self.url).map_err(|error| refuse(format!("its address is none ({error})")))?;
        if !self.allow_private && !is_allowed(&url) {
            return Err(refuse(NOT_PUBLIC.to_owned()));
        }
        if self.method == HttpMethod::Get {
            in_query(&mut url, arguments);
        }
        let method = match self.method {
            HttpMethod::Get => reqwest::Method::GET,
            HttpMethod::Post => reqwest::Method::POST,
        };
        let mut request = Request::new(method, url);
        *request.timeout_mut() = Some(self.timeout);
        let mut secrets = Vec::new();
        for (header, variable) in &self.headers_env {
            let secret = (outgoing.caller.secret_of)(variable, &self.url).ok_or_else(|| {
                refuse(format!(
                    "the worker's environment variable {variable}, which its entry names, is not set or belongs to another host; \
                     the operator has to correct that"
                ))
            })?;
            put(request.headers_mut(), header, secret.expose())
                .ok_or_else(|| refuse(format!("the value of {variable} cannot be sent as the header {header}")))?;
            secrets.push(secret);
        }
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/plain;q=0.9, */*;q=0.1"));
        let own = [("idempotency-key", key), ("traceparent", &(outgoing.traceparent)())];
        if own.into_iter().any(|(name, value)| put(headers, name, value).is_none()) {
            return Err(refuse("its call has an id that no header takes".to_owned()));
        }
        if self.method == HttpMethod::Post {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            *request.body_mut() = Some(arguments.to_string().into());
        }
        Ok((request, secrets))
    }

    /// Reads the body up to its limit: of an error response, only what is shown.
    async fn read(&self, mut response: Response, is_result: bool) -> Result<Answer, ToolError> {
        let most = if is_result { self.max_result_bytes } else { SHOWN_OF_ERROR };
        let mut bytes = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(piece)) => {
                    let room = most - bytes.len();
                    bytes.extend_from_slice(&piece[..piece.len().min(room)]);
                    if piece.len() > room {
                        return Ok(Answer { bytes, is_cut: true });
                    }
                }
                Ok(None) => return Ok(Answer { bytes, is_cut: false }),
                // For an error response the status is enough.
                Err(_) if !is_result => return Ok(Answer { bytes, is_cut: true }),
                Err(error) => return Err(self.failure(&error)),
            }
        }
    }

    fn result(&self, status: StatusCode, kind: &str, answer: &Answer, text: impl Fn(&[u8]) -> String) -> String {
        if answer.bytes.is_empty() {
            return format!("(HTTP status {}, nothing in the answer)", status.as_u16());
        }
        if !is_text(&answer.bytes, answer.is_cut) {
            let kind = if kind.is_empty() { "an unnamed type" } else { kind };
            return format!(
                "(HTTP status {}, {} bytes of {kind}, which is no text)",
                status.as_u16(),
                answer.bytes.len()
            );
        }
        let text = text(&answer.bytes);
        match answer.is_cut {
            true => format!("{text}\n\n(The answer is longer: it was read to {} bytes.)", self.max_result_bytes),
            false => text,
        }
    }

    /// The error for an error response. If it allows a retry, calls that are safe to repeat are retried.
    fn refused(&self, status: StatusCode, shown: &str) -> ToolError {
        let redirects = if status.is_redirection() { "; redirects are not followed" } else { "" };
        let shown = if shown.trim().is_empty() { String::new() } else { format!(": {}", shown.trim()) };
        let said = format!("{} answered with HTTP status {}{redirects}{shown}", self.name, status.as_u16());
        let may_pass = status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429);
        match may_pass {
            true => ToolError::Transient(said),
            false => ToolError::Refused(said),
        }
    }

    /// No response, or an incomplete one.
    fn failure(&self, error: &reqwest::Error) -> ToolError {
        let mut cause: &dyn std::error::Error = error;
        while let Some(source) = cause.source() {
            if source.is::<NotPublic>() {
                return ToolError::refused(format!("{} is not called: {NOT_PUBLIC}", self.name));
            }
            cause = source;
        }
        // The outcome of a call that was sent is unknown.
        let unknown = match self.replay {
            Replay::Unsafe | Replay::Keyed if !error.is_connect() => {
                "; whether it was carried out is not known: find that out before you call it again"
            }
            Replay::Unsafe | Replay::Safe | Replay::Keyed => "",
        };
        let reason: String = match error.is_timeout() {
            true => format!("there was no whole answer within {} s", self.timeout.as_secs_f64()),
            false => cause.to_string().chars().take(200).collect(),
        };
        ToolError::Transient(format!("{} gave no answer: {reason}{unknown}", self.name))
    }
}

const NOT_PUBLIC: &str = "its address is not on the public internet, and its entry has no `allow_private`; the operator has to \
                          correct that";

/// Checks an address written as a number; for a name the resolver decides.
fn is_allowed(url: &Url) -> bool {
    let literal: Option<IpAddr> = url.host_str().and_then(|host| host.trim_matches(['[', ']']).parse().ok());
    literal.is_none_or(is_public)
}

/// The arguments as a query: a list repeats the name, nested values are JSON.
fn in_query(url: &mut Url, arguments: &Value) {
    let fields = arguments.as_object().into_iter().flatten();
    let mut pairs = Vec::new();
    for (name, value) in fields {
        match value {
            Value::Array(items) => pairs.extend(items.iter().map(|item| (name, word(item)))),
            value => pairs.push((name, word(value))),
        }
    }
    if !pairs.is_empty() {
        url.query_pairs_mut().extend_pairs(pairs);
    }
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn put(headers: &mut HeaderMap, name: &str, value: &str) -> Option<()> {
    let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Some(())
}

fn content_type(response: &Response) -> String {
    stated(response).split(';').next().unwrap_or_default().trim().chars().take(100).collect()
}

/// The parameter `charset` of the content type; none if it is absent or unknown.
fn encoding_of(response: &Response) -> Option<&'static Encoding> {
    let parameters = stated(response).split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let charset = parameters.into_iter().find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    charset.and_then(|(_, label)| Encoding::for_label(label.trim().trim_matches('"').as_bytes()))
}

fn stated(response: &Response) -> &str {
    response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Whether the bytes are text: UTF-8, possibly truncated at the end.
fn is_text(bytes: &[u8], is_cut: bool) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => is_cut && error.error_len().is_none(),
    }
}

/// Decodes the text, dropping an incomplete last character.
fn text_of(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(error) if error.error_len().is_none() => {
            String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned()
        }
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}
