//! Rate limits in the headers of a provider's responses.

/// Limits per minute; none if the provider names none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatedLimits {
    /// Requests.
    pub requests_per_minute: Option<u64>,
    /// Tokens.
    pub tokens_per_minute: Option<u64>,
}

/// OpenAI's headers, which most others also send, and Anthropic's. Of limits on several kinds of tokens the lowest
/// counts, except one on output tokens only: an agent mostly sends prompts.
const TOKENS: [&str; 4] = [
    "x-ratelimit-limit-tokens",
    "anthropic-ratelimit-tokens-limit",
    "anthropic-ratelimit-input-tokens-limit",
    "x-ratelimit-limit-tokens-minute",
];
const REQUESTS: [&str; 2] = ["x-ratelimit-limit-requests", "anthropic-ratelimit-requests-limit"];

impl StatedLimits {
    /// Reads them; `header` gives a header by its lower-case name.
    pub(crate) fn of_headers<'h>(header: impl Fn(&str) -> Option<&'h str>) -> Self {
        let lowest = |names: &[&str]| names.iter().filter_map(|name| number(header(name)?)).min();
        Self { requests_per_minute: lowest(&REQUESTS), tokens_per_minute: lowest(&TOKENS) }
    }

    /// Whether the provider names any.
    pub fn is_any(self) -> bool {
        self.requests_per_minute.is_some() || self.tokens_per_minute.is_some()
    }
}

/// Zero or less means no limit for some providers. A number followed by a list is the form of the IETF draft.
fn number(text: &str) -> Option<u64> {
    let first = text.split([',', ';']).next()?.trim();
    first.parse::<f64>().ok().filter(|number| (1.0..1e12).contains(number)).map(|number| number as u64)
}

#[cfg(test)]
mod tests {
    use super::StatedLimits;

    fn stated(headers: &[(&str, &'static str)]) -> (Option<u64>, Option<u64>) {
        let header = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let limits = StatedLimits::of_headers(header);
        (limits.requests_per_minute, limits.tokens_per_minute)
    }

    #[test]
    fn headers_of_several_providers() {
        for (headers, expected) in [
            (
                &[("x-ratelimit-limit-requests", "60"), ("x-ratelimit-limit-tokens", "150000")][..],
                (Some(60), Some(150_000)),
            ),
            (
                &[
                    ("anthropic-ratelimit-requests-limit", "50"),
                    ("anthropic-ratelimit-tokens-limit", "90000"),
                    ("anthropic-ratelimit-input-tokens-limit", "80000"),
                    ("anthropic-ratelimit-output-tokens-limit", "16000"),
                ],
                (Some(50), Some(80_000)),
            ),
            (&[("x-ratelimit-limit-requests", "100, 100;w=60")], (Some(100), None)),
            (&[("x-ratelimit-limit-tokens", "-1"), ("x-ratelimit-limit-requests", "0")], (None, None)),
            (&[("x-ratelimit-limit-tokens", "unlimited")], (None, None)),
            (&[], (None, None)),
        ] {
            assert_eq!(stated(headers), expected, "{headers:?}");
        }
    }
}
