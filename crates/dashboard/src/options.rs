//! Address and access.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Minimum length of a token without a warning.
const STRONG_CHARS: usize = 16;
/// The port of the default address.
const DEFAULT_PORT: u16 = 8080;

/// Options of the worker's HTTP server.
#[derive(Clone)]
pub struct HttpOptions {
    /// The address.
    pub address: SocketAddr,
    /// Whether the address was set explicitly. If not, the next free port is used if this one is in use.
    pub asked: bool,
    /// The access token, sent as bearer token or once as `?token=`. Required for an address that others can reach.
    pub token: Option<String>,
    /// Host names that browsers may use, besides `localhost` and IP addresses.
    pub hosts: Vec<String>,
    /// Called with the address once it is bound.
    pub announce: Option<fn(SocketAddr)>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), DEFAULT_PORT);
        Self { address, asked: false, token: None, hosts: Vec::new(), announce: None }
    }
}

/// The token stays out of logs.
impl std::fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpOptions")
            .field("address", &self.address)
            .field("asked", &self.asked)
            .field("token", &self.token.as_ref().map(|_| "…"))
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

impl HttpOptions {
    /// The given address, or the default one; with the token and the names of the environment.
    pub fn new(asked: Option<SocketAddr>, token: Option<String>, hosts: Vec<String>) -> Self {
        let default = Self::default();
        Self { address: asked.unwrap_or(default.address), asked: asked.is_some(), token, hosts, announce: None }
    }

    /// Whether only this machine can connect.
    pub(crate) fn is_local(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// Checks that access is restricted.
    ///
    /// # Errors
    /// A sentence naming the variables.
    pub fn validate(&self) -> Result<(), String> {
        match &self.token {
            None if !self.is_local() => Err(format!(
                "the HTTP address {} can be reached from other machines: set PLUMBLINE_HTTP_TOKEN to a long secret, \
                 or use an address like 127.0.0.1:{}",
                self.address,
                self.address.port()
            )),
            _ => Ok(()),
        }
    }

    /// Whether the token could be guessed.
    pub(crate) fn is_weak(&self) -> bool {
        self.token.as_ref().is_some_and(|token| token.chars().count() < STRONG_CHARS)
    }
}

#[cfg(test)]
mod tests {
    use super::HttpOptions;

    fn options(address: &str, token: Option<&str>) -> HttpOptions {
        HttpOptions::new(Some(address.parse().expect("an address")), token.map(str::to_owned), Vec::new())
    }

    #[test]
    fn an_address_that_others_reach_needs_a_token() {
        for local in ["127.0.0.1:8080", "[::1]:8080", "127.9.9.9:1"] {
            assert_eq!(options(local, None).validate(), Ok(()), "{local}");
        }
        for open in ["0.0.0.0:8080", "[::]:8080", "192.0.2.1:80"] {
            let refused = options(open, None).validate().expect_err("an open address without a token");
            assert!(refused.contains("PLUMBLINE_HTTP_TOKEN") && refused.contains(open), "{refused}");
            assert_eq!(options(open, Some("0123456789abcdef")).validate(), Ok(()));
            assert!(options(open, Some("short")).is_weak() && !options(open, Some("0123456789abcdef")).is_weak());
        }
        assert!(!format!("{:?}", options("0.0.0.0:1", Some("0123456789abcdef"))).contains("abcdef"));
    }
}
