//! Errors of web access, each in one sentence for the model.

/// Why a page could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The address may not be fetched.
    #[error("the address `{address}` is not fetched: {reason}")]
    Address {
        /// The given address.
        address: String,
        /// The reason.
        reason: String,
    },
    /// The address belongs to a machine outside the public internet.
    #[error("{host} is not fetched: it is not on the public internet")]
    Forbidden {
        /// The host's name or IP address.
        host: String,
    },
    /// No response, or an incomplete one.
    #[error("{host} did not answer: {reason}; try again later or another source")]
    Network {
        /// The host's name.
        host: String,
        /// The reason.
        reason: String,
    },
    /// The server refused.
    #[error("{host} answered with HTTP status {status}; the page is not to be had there")]
    Status {
        /// The host's name.
        host: String,
        /// The status code.
        status: u16,
    },
    /// Too many redirects, or one without a target.
    #[error("{host} redirects {what}; give the address of the page itself")]
    Redirects {
        /// The host that redirected last.
        host: String,
        /// The problem.
        what: &'static str,
    },
    /// The page is too large.
    #[error("the page is larger than {limit} bytes, which is not taken in; find a smaller source")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// The response took too long.
    #[error("{host} did not finish within {seconds} s; try again later or another source")]
    OutOfTime {
        /// The host's name.
        host: String,
        /// The limit.
        seconds: u64,
    },
    /// The content type cannot be read.
    #[error("the page is of type `{content_type}`, which cannot be read; find its text")]
    ContentType {
        /// As stated by the server.
        content_type: String,
    },
}

/// Why a search failed. Never the same as an empty result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// The configuration cannot be used.
    #[error("`connections.web_search` is not usable: {0}")]
    Configuration(String),
    /// The key was refused.
    #[error("{provider} refused the key (HTTP status {status}): the operator has to check `connections.web_search`")]
    Key {
        /// The service.
        provider: &'static str,
        /// The status code.
        status: u16,
    },
    /// The quota is used up, or requests come too fast.
    #[error("{provider} accepts no more searches for now (HTTP status {status}); go on without, or search later")]
    Quota {
        /// The service.
        provider: &'static str,
        /// The status code.
        status: u16,
    },
    /// Any other refusal or failure.
    #[error("{provider} could not search: {reason}")]
    Failed {
        /// The service.
        provider: &'static str,
        /// The reason.
        reason: String,
    },
}
