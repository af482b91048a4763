//! A job's history, step by step, a page at a time.
//!
//! A page is read in three statements and merged here: a job may have many thousands of steps, and a reader may stop
//! after the first ones.

use crate::{Error, Store, error::During};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use uuid::Uuid;

/// Selects a range of a job's steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracePage {
    /// Steps after this one; 0: from the beginning.
    pub after: i64,
    /// Steps up to and including this one.
    pub until: i64,
    /// Maximum number of steps.
    pub limit: i64,
}

/// A committed step: requests, messages and effects.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceStep {
    /// Its number.
    pub step: i64,
    /// The phase after the step; 0 before the first.
    pub phase_number: i32,
    /// `strategic` or `tactical`; none before the first phase.
    pub phase: Option<String>,
    /// The phase's name.
    pub phase_name: Option<String>,
    /// When it was committed.
    pub created_at: DateTime<Utc>,
    /// The claim that wrote it; 0 for the first step of a fork.
    pub lease_epoch: i64,
    /// Requests to the model, including failed ones.
    pub requests: Vec<TraceRequest>,
    /// Messages added to the conversation.
    pub messages: Vec<TraceMessage>,
    /// Files, todos, phases, citations, requirements, feedback.
    pub effects: Vec<TraceEffect>,
}

/// A request to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceRequest {
    /// The requested model.
    pub model: String,
    /// `strategic`, `tactical` or `summary`.
    pub purpose: String,
    /// The whole prompt, cached tokens included.
    pub prompt_tokens: i64,
    /// Of those, from the provider's cache.
    pub cached_tokens: i64,
    /// The answer.
    pub completion_tokens: i64,
    /// From sending to the last byte.
    pub duration_ms: i64,
    /// The attempt, from 1.
    pub attempt: i32,
    /// The provider's finish reason.
    pub finish_reason: Option<String>,
    /// One sentence, if it failed.
    pub error: Option<String>,
    /// The failure class, e.g. `rate_limited`.
    pub failure_class: Option<String>,
    /// The wire protocol.
    pub api: Option<String>,
    /// Scheme and host of the endpoint.
    pub endpoint: Option<String>,
    /// Prompt tokens written to the provider's cache.
    pub cache_write_tokens: i64,
    /// Reasoning tokens of the answer.
    pub reasoning_tokens: i64,
    /// The provider's service tier.
    pub service_tier: Option<String>,
    /// Whether the model was one of `llm.fallback`.
    pub fallback: bool,
}

/// A message of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceMessage {
    /// Its sequence number.
    pub seq: i64,
    /// Its role.
    pub role: String,
    /// Its kind.
    pub kind: String,
    /// The text.
    pub content: String,
    /// The calls, `[{id, name, arguments}]`.
    pub tool_calls: Option<Value>,
    /// The call it answers.
    pub tool_call_id: Option<String>,
}

/// An effect of a step other than a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEffect {
    /// e.g. `file written`, `todo completed`, `requirement`.
    pub kind: String,
    /// Its object.
    pub what: String,
    /// Bytes, of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
}

impl Store {
    /// A page of a job's steps, oldest first; empty after the last one, and for a job without steps.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for rows that cannot be read; [`Error::Database`].
    pub async fn trace(&self, job_id: Uuid, page: TracePage) -> Result<Vec<TraceStep>, Error> {
        let mut steps = self.trace_steps(job_id, page).await?;
        let (Some(first), Some(last)) = (steps.keys().next().copied(), steps.keys().next_back().copied()) else {
            return Ok(Vec::new());
        };
        let doing = "read the job's trace";
        let messages = sqlx::query_file!("queries/views/trace/messages.sql", job_id, first, last);
        for row in messages.fetch_all(&self.pool).await.during(doing)? {
            let calls = row.tool_calls.as_deref().map(|text| read(job_id, "tool calls", serde_json::from_str(text)));
            let message = TraceMessage {
                seq: row.seq,
                role: row.role,
                kind: row.kind,
                content: row.content,
                tool_calls: calls.transpose()?,
                tool_call_id: row.tool_call_id,
            };
            steps.entry(row.step).and_modify(|step| step.messages.push(message));
        }
        let effects = sqlx::query_file!("queries/views/trace/effects.sql", job_id, first, last);
        for row in effects.fetch_all(&self.pool).await.during(doing)? {
            let effect = TraceEffect { kind: row.kind, what: row.what, size: row.size };
            steps.entry(row.step).and_modify(|step| step.effects.push(effect));
        }
        Ok(steps.into_values().collect())
    }

    async fn trace_steps(&self, job_id: Uuid, page: TracePage) -> Result<BTreeMap<i64, TraceStep>, Error> {
        let rows = sqlx::query_file!("queries/views/trace/steps.sql", job_id, page.after, page.until, page.limit);
        let rows = rows.fetch_all(&self.pool).await.during("read the job's steps")?;
        rows.into_iter()
            .map(|row| {
                let step = TraceStep {
                    step: row.step,
                    phase_number: row.phase_number,
                    phase: row.phase,
                    phase_name: row.phase_name,
                    created_at: row.created_at,
                    lease_epoch: row.lease_epoch,
                    requests: read(job_id, "requests", serde_json::from_value(row.requests))?,
                    messages: Vec::new(),
                    effects: Vec::new(),
                };
                Ok((step.step, step))
            })
            .collect()
    }
}

fn read<T>(job_id: Uuid, what: &'static str, read: Result<T, serde_json::Error>) -> Result<T, Error> {
    read.map_err(|error| Error::Corrupt { job_id, what, reason: error.to_string() })
}
