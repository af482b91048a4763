//! Web search and fetching pages.
//!
//! A page's address comes from a model, which may have it from a document or another page, so it is untrusted.
//! Therefore a fetch may reach only public addresses. [`guard`] defines them, and is checked in two places: for a
//! literal IP address, which is never resolved, and in the resolver for each answer to a name. The client then connects
//! to exactly the checked address, so that a name cannot change between check and use. Redirects are followed
//! explicitly, each as a new address to check.
//!
//! A search goes to the service configured by the operator, at any address; only its answers are untrusted.
//!
//! An error stays an error: a failed search never looks like one without results.

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
pub use fetch::{Fetcher, FetcherOptions};
pub(crate) use guard::{Guard, is_public};
pub use page::{Fetched, ReadPage};
pub(crate) use resolver::{Guarded, NotPublic, system};
pub use search::{Found, Provider, SearchService, SearchSettings};

/// The host of an address, in lower case; none if it is not an address.
pub fn host_of(address: &str) -> Option<String> {
    reqwest::Url::parse(address.trim()).ok()?.host_str().map(str::to_ascii_lowercase)
}

/// A job's web access.
#[derive(Clone, Copy, Debug, Default)]
pub struct Web<'a> {
    /// Fetches pages; none if the job may not.
    pub fetcher: Option<&'a Fetcher>,
    /// Searches.
    pub search: SearchAccess<'a>,
    /// If the job is restricted to hosts: these, and a page on one of them may redirect only within them.
    pub hosts: Option<&'a [String]>,
}

/// The job's search service.
#[derive(Clone, Copy, Debug, Default)]
pub enum SearchAccess<'a> {
    /// None is configured.
    #[default]
    Off,
    /// The configured service.
    On(&'a SearchService),
    /// The configured service cannot be used, for this reason: a sentence.
    Unusable(&'a str),
}
