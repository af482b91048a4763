//! A request to the model, as it is recorded.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A row of `llm_requests`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestRecord {
    /// The requested model.
    pub model: String,
    /// The purpose of the request.
    pub purpose: Purpose,
    /// Tokens of the whole prompt, cached ones included, as the provider counted them (or estimated).
    pub prompt_tokens: u32,
    /// Of those, tokens served from the provider's cache.
    pub cached_tokens: u32,
    /// Tokens of the prompt written into the provider's cache, which some providers charge for.
    #[serde(default)]
    pub cache_write_tokens: u32,
    /// Tokens of the answer.
    pub completion_tokens: u32,
    /// Tokens of the answer that the provider reports as reasoning.
    #[serde(default)]
    pub reasoning_tokens: u32,
    /// Whether the provider omitted the usage and the counts are ours.
    pub estimated: bool,
    /// From sending to the last byte, in milliseconds.
    pub duration_ms: i64,
    /// The number of this attempt at the same request, from 1.
    pub attempt: i32,
    /// The provider's reason for the end of the answer, `refusal` if it reports that in a separate field; none if
    /// nothing was answered or the provider gave no reason. A request may have failed because of this reason.
    pub finish_reason: Option<String>,
    /// One sentence, if it failed.
    pub error: Option<String>,
    /// The class of the failure; the engine sets it.
    pub failure_class: Option<FailureClass>,
    /// The provider's usage object, unchanged.
    pub raw_usage: Option<Value>,
    /// The server's window in tokens, if the count of the prompt was so small that the server was asked for it and
    /// answered.
    #[serde(skip)]
    pub server_window: Option<u32>,
    /// The wire protocol used; none if nothing could be sent.
    #[serde(default)]
    pub api: Option<String>,
    /// The endpoint: scheme and host, with the port unless it is the scheme's default; none if nothing could be sent.
    #[serde(default)]
    pub endpoint: Option<String>,
    /// The service tier reported by the provider; the configured one if it reports none.
    #[serde(default)]
    pub service_tier: Option<String>,
    /// Whether a model of `llm.fallback` was used in place of the job's own.
    #[serde(default)]
    pub fallback: bool,
    /// Millionths of a US dollar, as reported by the provider or by the prices of the model used; the engine sets it.
    #[serde(default)]
    pub cost_microusd: i64,
    /// When it was sent.
    pub created_at: DateTime<Utc>,
}

impl RequestRecord {
    /// The cost reported by the provider, if any (`usage.cost`, in US dollars: OpenRouter, Perplexity). With the user's
    /// own provider key, OpenRouter's cost is only its fee, and the upstream price is reported separately.
    pub fn said_cost_microusd(&self) -> Option<i64> {
        let usage = self.raw_usage.as_ref()?;
        let cost = &usage["cost"];
        let said = cost.as_f64().or_else(|| cost["total_cost"].as_f64())?;
        let beside = match usage["is_byok"].as_bool() {
            Some(true) => usage["cost_details"]["upstream_inference_cost"].as_f64().unwrap_or(0.0),
            Some(false) | None => 0.0,
        };
        let dollars = said + beside;
        // No request costs this much: a larger number is not in dollars. Gateways report zero if they know no price.
        const MOST: f64 = 1000.0;
        (dollars > 0.0 && dollars <= MOST).then(|| (dollars * 1e6).round() as i64)
    }

    /// A request without a response yet.
    pub fn sent(model: impl Into<String>, purpose: Purpose, attempt: i32, created_at: DateTime<Utc>) -> Self {
        Self { model: model.into(), purpose, attempt, created_at, ..Self::default() }
    }
}

/// The purpose of a model request; may select another model.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema, strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[schemars(inline, transform = crate::plain_words)]
pub enum Purpose {
    /// A turn of a strategic phase.
    #[default]
    Strategic,
    /// A turn of a tactical phase.
    Tactical,
    /// A summary at a compaction.
    Summary,
}

impl Purpose {
    /// The word used in SQL.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Classes of failure; adapters classify and never retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[schemars(inline, transform = crate::plain_words)]
pub enum FailureClass {
    /// Network, time-out, 5xx: worth a retry.
    Transient,
    /// 429 because of a rate limit.
    RateLimited,
    /// The provider is overloaded (503, 529).
    Overloaded,
    /// Money or quota is used up (402, 429 `insufficient_quota`).
    Quota,
    /// The key is wrong or revoked (401, 403).
    Unauthorized,
    /// The request is larger than the window.
    ContextTooLong,
    /// The provider refused the content.
    Refused,
    /// The answer could not be decoded.
    Malformed,
    /// Anything else that waiting does not resolve.
    Permanent,
    /// Abandoned before its answer, because the job was paused, cancelled or lost. Not set by adapters: it is recorded
    /// because the provider may have counted it.
    Abandoned,
}

impl FailureClass {
    /// The word used in SQL and in telemetry.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
