//! Provider and server of a request, as named by the conventions.

/// Provider and server, as named by the conventions.
pub(crate) struct Endpoint {
    pub(crate) provider: &'static str,
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Endpoint {
    /// The server of a base URL, without a login.
    pub(crate) fn of(base_url: &str) -> Self {
        let (scheme, rest) = base_url.split_once("://").unwrap_or(("http", base_url));
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if port.parse::<u16>().is_ok() => (host, port.parse().unwrap_or_default()),
            _ => (authority, if scheme == "https" { 443 } else { 80 }),
        };
        Self { provider: provider(host), host: host.to_owned(), port }
    }
}

fn provider(host: &str) -> &'static str {
    let known = [
        ("openai.azure.com", "azure.ai.openai"),
        ("openai.com", "openai"),
        ("mistral.ai", "mistral_ai"),
        ("groq.com", "groq"),
        ("deepseek.com", "deepseek"),
        ("x.ai", "x_ai"),
        ("perplexity.ai", "perplexity"),
        ("anthropic.com", "anthropic"),
        ("openrouter.ai", "openrouter"),
    ];
    let of = |name: &str| host == name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
    known.into_iter().find(|(name, _)| of(name)).map_or("openai_compatible", |(_, provider)| provider)
}

#[cfg(test)]
mod tests {
    use super::Endpoint;

    #[test]
    fn the_address_of_a_model_is_shown_without_its_login() {
        for (url, provider, host, port) in [
            ("https://api.openai.com/v1", "openai", "api.openai.com", 443),
            ("http://user:secret@localhost:8000/v1", "openai_compatible", "localhost", 8000),
            ("https://res.openai.azure.com/openai?x=1", "azure.ai.openai", "res.openai.azure.com", 443),
            ("https://notopenai.com", "openai_compatible", "notopenai.com", 443),
        ] {
            let place = Endpoint::of(url);
            assert_eq!((place.provider, place.host.as_str(), place.port), (provider, host, port), "{url}");
        }
    }
}
