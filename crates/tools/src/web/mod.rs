//! Web search and fetching pages.
//!
//! A page's address comes from a model, which may have it from a document or another page, so it is untrusted. So a
//! fetch may only reach public addresses. [`guard`] says which addresses those are, and it is asked twice: for an
//! address written as a number, which no resolver ever sees, and by the resolver for each answer to a name, which is
//! then the address that is connected to, so that a name cannot mean one machine when it is checked and another when it
//! is used. Redirects are followed by hand, each one a new address to check.
//!
//! A search goes to the service configured by the operator, at any address; only its answers are untrusted.
//!
//! An error stays an error (lesson 59): a search that failed never looks like one that found nothing.

mod address;
mod error;
mod fetch;
pub(crate) mod fetch_page;
mod guard;
mod page;
mod resolver;
mod search;
pub(crate) mod web_search;

pub use error::{FetchError, SearchError};
pub use fetch::{Fetched, Fetcher, FetcherOptions};
pub(crate) use guard::{Guard, is_public};
pub use page::ReadPage;
pub(crate) use resolver::{Guarded, NotPublic, system};
pub use search::{Found, Provider, SearchService, SearchSettings};

/// The host of an address, in small letters; none where it is no address.
pub fn host_of(address: &str) -> Option<String> {
    reqwest::Url::parse(address.trim()).ok()?.host_str().map(str::to_ascii_lowercase)
}

/// What a job may do on the web.
#[derive(Clone, Copy, Debug, Default)]
pub struct Web<'a> {
    /// Reads pages; none where the job may not.
    pub fetcher: Option<&'a Fetcher>,
    /// Searches.
    pub search: SearchAccess<'a>,
    /// The hosts that a page on one of them may lead to, where the job is kept to them.
    pub hosts: Option<&'a [String]>,
}

/// The job's search service.
#[derive(Clone, Copy, Debug, Default)]
pub enum SearchAccess<'a> {
    /// None is configured.
    #[default]
    Off,
    /// This one.
    On(&'a SearchService),
    /// One is configured and cannot be used, for this reason: a sentence.
    Unusable(&'a str),
}
