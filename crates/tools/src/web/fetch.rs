//! Fetches one page, following redirects explicitly.

use super::address;
use super::error::FetchError;
use super::guard::Guard;
use super::page::{Fetched, is_readable};
use super::resolver::{Guarded, NotPublic, system};
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use reqwest::{Response, Url};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Limits of a fetch.
#[derive(Clone, Debug)]
pub struct FetcherOptions {
    /// From the first request to the last byte, including redirects.
    pub total: Duration,
    /// Maximum size of a page, in bytes.
    pub max_bytes: u64,
    /// Maximum number of redirects.
    pub max_redirects: usize,
    /// Allowed addresses outside the public internet, for tests that serve pages themselves.
    pub also_allowed: Vec<SocketAddr>,
}

impl Default for FetcherOptions {
    /// 30 s, 10 MiB, 5 redirects, no exceptions.
    fn default() -> Self {
        Self { total: Duration::from_secs(30), max_bytes: 10 << 20, max_redirects: 5, also_allowed: Vec::new() }
    }
}

/// Fetches pages from the public internet; cheap to clone.
#[derive(Clone, Debug)]
pub struct Fetcher {
    http: reqwest::Client,
    guard: Guard,
    options: FetcherOptions,
}

const USER_AGENT: &str = concat!("Mozilla/5.0 (compatible; plumbline/", env!("CARGO_PKG_VERSION"), ")");
/// The content types requested; others are refused when read.
const READABLE: &str = "text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,application/pdf;q=0.8,*/*;q=0.1";

impl Fetcher {
    /// A fetcher with its own connection pool; keep one per process.
    ///
    /// # Errors
    /// The system's TLS cannot be set up.
    pub fn new(options: FetcherOptions) -> Result<Self, String> {
        let guard = Guard { also: options.also_allowed.clone() };
        let resolver = Guarded { guard: guard.clone(), lookup: system() };
        let http = plumbline_llm::tls::http()
            .dns_resolver(Arc::new(resolver))
            // A proxy would resolve the name itself, bypassing the guard.
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .connect_timeout(Duration::from_secs(10))
            .user_agent(USER_AGENT)
            .build()
            .map_err(|error| format!("the HTTP client for web pages could not be set up: {error}"))?;
        Ok(Self { http, guard, options })
    }

    /// Fetches a page.
    ///
    /// # Errors
    /// See [`FetchError`].
    pub async fn fetch(&self, address: &str) -> Result<Fetched, FetchError> {
        self.fetch_within(address, None).await
    }

    /// The same for a job restricted to hosts: a page on one of them may redirect only within them. An address
    /// elsewhere had a person's approval.
    ///
    /// # Errors
    /// See [`FetchError`].
    pub async fn fetch_within(&self, address: &str, hosts: Option<&[String]>) -> Result<Fetched, FetchError> {
        let url = address::check(address, None, &self.guard)?;
        let host = host_of(&url);
        let hosts = hosts.filter(|hosts| hosts.contains(&host));
        match tokio::time::timeout(self.options.total, self.follow(url, hosts)).await {
            Ok(fetched) => fetched,
            Err(_) => Err(FetchError::OutOfTime { host, seconds: self.options.total.as_secs() }),
        }
    }

    async fn follow(&self, mut url: Url, hosts: Option<&[String]>) -> Result<Fetched, FetchError> {
        for _ in 0..=self.options.max_redirects {
            let host = host_of(&url);
            let response = self.http.get(url.clone()).header(ACCEPT, READABLE).send().await;
            let response = response.map_err(|error| failure(&host, &error))?;
            let status = response.status();
            if status.is_success() {
                return self.take(url, response).await;
            }
            if !status.is_redirection() {
                return Err(FetchError::Status { host, status: status.as_u16() });
            }
            let goal = response.headers().get(LOCATION).and_then(|goal| goal.to_str().ok());
            let goal = goal.ok_or_else(|| FetchError::Redirects { host: host.clone(), what: "to nowhere" })?;
            url = address::check(goal, Some(&url), &self.guard)?;
            if hosts.is_some_and(|hosts| !hosts.contains(&host_of(&url))) {
                return Err(FetchError::Redirects { host, what: "to a host that this job may not reach" });
            }
        }
        Err(FetchError::Redirects { host: host_of(&url), what: "again and again" })
    }

    async fn take(&self, url: Url, response: Response) -> Result<Fetched, FetchError> {
        let limit = self.options.max_bytes;
        let stated = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let content_type = stated.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if !is_readable(&content_type) {
            return Err(FetchError::ContentType { content_type: content_type.chars().take(100).collect() });
        }
        if response.content_length().is_some_and(|length| length > limit) {
            return Err(FetchError::TooLarge { limit });
        }
        let body = plumbline_llm::body_within(response, usize::try_from(limit).unwrap_or(usize::MAX)).await;
        let body = body.map_err(|error| failure(&host_of(&url), &error))?.ok_or(FetchError::TooLarge { limit })?;
        Ok(Fetched { url: url.into(), content_type, body })
    }
}

fn host_of(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

/// The reason of a failure, from the innermost cause, which is the most specific.
fn failure(host: &str, error: &reqwest::Error) -> FetchError {
    let host = host.to_owned();
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        if source.is::<NotPublic>() {
            return FetchError::Forbidden { host };
        }
        cause = source;
    }
    FetchError::Network { host, reason: cause.to_string().chars().take(200).collect() }
}
