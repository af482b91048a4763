//! The configuration of a model client: address, model, parameters and timeouts.

use crate::profile::Profile;
use plumbline_engine::{Api, OutputCapField, Streaming, ToolChoice};
use std::fmt;
use std::time::Duration;

/// Everything about a model that is not part of the conversation.
#[derive(Clone, Debug)]
pub struct ModelConfig {
    /// Up to, not including, the protocol's path (`/chat/completions`, `/responses`, `/messages`), e.g.
    /// `https://api.openai.com/v1`.
    pub base_url: String,
    /// The protocol; none leaves it to the profile and to the endpoint's own answers.
    pub api: Option<Api>,
    /// Sent as a bearer token, or as `x-api-key` if the protocol requires it; none for servers without authentication.
    pub api_key: Option<ApiKey>,
    /// The environment variable of the key, for the error message when the provider rejects it.
    pub api_key_env: String,
    /// The model's name as the provider knows it.
    pub model: String,
    /// Sent only if set: some model families accept only their default.
    pub temperature: Option<f64>,
    /// Sent as the protocol's effort, only when set.
    pub reasoning_level: Option<String>,
    /// The service tier, in the protocol's words; sent only if set.
    pub service_tier: Option<String>,
    /// Sent only when set, and only with tools.
    pub parallel_tool_calls: Option<bool>,
    /// Whether the model must call a tool; sent only with tools, and only if required.
    pub tool_choice: ToolChoice,
    /// Whether answers are streamed.
    pub stream: Streaming,
    /// Known properties of the endpoint and the model.
    pub profile: Profile,
    /// The name under which chat completions send the answer's cap. A cap is always sent.
    pub output_cap: OutputCapField,
    /// Timeouts.
    pub timeouts: Timeouts,
}

impl ModelConfig {
    /// A model at an address, with the defaults of everything else.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            api: None,
            api_key: None,
            api_key_env: "OPENAI_API_KEY".into(),
            model: model.into(),
            temperature: None,
            reasoning_level: None,
            service_tier: None,
            parallel_tool_calls: None,
            tool_choice: ToolChoice::default(),
            stream: Streaming::default(),
            profile: Profile::default(),
            output_cap: OutputCapField::MaxTokens,
            timeouts: Timeouts::default(),
        }
    }
}

/// Four timeouts, because a provider can stall in four ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection is established, including TLS.
    pub connect: Duration,
    /// From sending until the response headers. An answer that is not streamed is generated within this time.
    pub first_byte: Duration,
    /// Between two pieces of the response body.
    pub idle: Duration,
    /// For the whole call.
    pub total: Duration,
}

impl Timeouts {
    /// The timeouts for a model with this total time for an answer (`llm.timeout_s`).
    pub fn within(answer: Duration) -> Self {
        let defaults = Self::default();
        Self {
            connect: defaults.connect.min(answer),
            first_byte: answer,
            idle: defaults.idle.min(answer),
            total: answer.saturating_add(defaults.idle),
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(600),
            idle: Duration::from_secs(60),
            total: Duration::from_secs(900),
        }
    }
}

/// Minimum length of a key that is treated as a secret: those of providers have thirty characters or more.
const SHORTEST_SECRET: usize = 8;

/// A secret that cannot be printed by accident: neither `Debug` nor `Display` shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Wraps a key without surrounding white space, which files and shells add. None if nothing is left.
    pub fn new(key: &str) -> Option<Self> {
        let key = key.trim();
        (!key.is_empty()).then(|| Self(key.to_string()))
    }

    /// The key itself, for the one header that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The text without the key: providers repeat it in their error messages. A placeholder such as `x` or `none`, used
    /// with local servers, is not a secret, and occurs in other words.
    pub fn redact(&self, text: &str) -> String {
        match self.0.chars().count() < SHORTEST_SECRET {
            true => text.to_owned(),
            false => text.replace(&self.0, "[key]"),
        }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey([not shown])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_printed() {
        let mut config = ModelConfig::new("http://localhost/v1", "m");
        config.api_key = ApiKey::new(" sk-secret\n");
        assert!(!format!("{config:?}").contains("sk-secret"));
        let key = config.api_key.unwrap();
        assert_eq!(key.expose(), "sk-secret");
        assert_eq!(key.redact("wrong key sk-secret given"), "wrong key [key] given");
        assert_eq!(ApiKey::new("  "), None);
    }

    #[test]
    fn a_key_that_is_no_secret_takes_no_letters_out_of_a_sentence() {
        for word in ["x", "e", "1", "none", "ollama", "EMPTY"] {
            let sentence = format!("Expected {word} exists");
            assert_eq!(ApiKey::new(word).unwrap().redact(&sentence), sentence);
        }
        assert_eq!(ApiKey::new("sk-12345").unwrap().redact("key sk-12345"), "key [key]");
    }
}
