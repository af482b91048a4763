//! A job's complete history for a replay: requests, answers and effects by step.
//!
//! [`Store::trace`](crate::Store::trace) is for people and reads a page at a time; a replay starts at the first step
//! and needs every byte.

use crate::{Error, Store, TraceEffect, error::During, run::load};
use chrono::{DateTime, Utc};
use plumbline_engine::{Approval, FailureClass, Feedback, Message, RequestRecord, Source, Totals};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::types::Json;
use std::collections::BTreeMap;
use uuid::Uuid;

/// A job from its first step to its last one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedJob {
    /// `jobs.id`.
    pub id: Uuid,
    /// `jobs.job_type`.
    pub job_type: String,
    /// `jobs.prompt`.
    pub prompt: String,
    /// `jobs.status` at the time of reading.
    pub status: String,
    /// `jobs.error_message`.
    pub error_message: Option<String>,
    /// `jobs.config`: the overrides; their limits may have been changed during the run.
    pub config: Value,
    /// `jobs.raised_limits`: the limits set by `resume_job`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raised_limits: Option<Value>,
    /// `jobs.started_at`.
    pub started_at: DateTime<Utc>,
    /// If it is a fork, the step of the other job that it continues from.
    pub forked_step: Option<i64>,
    /// The configuration and prompts stored with the job; none for one without a step.
    pub settings: Option<Value>,
    /// Settings that retries have replaced, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced_settings: Vec<ReplacedSettings>,
    /// `jobs.waited_s`.
    #[serde(default)]
    pub waited_s: i64,
    /// `jobs.untrusted_step`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted_step: Option<i64>,
    /// The job's approvals, in the order of the requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<RecordedApproval>,
    /// The job's documents in their final state.
    pub sources: Vec<Source>,
    /// Its steps, without gaps.
    pub steps: Vec<RecordedStep>,
}

/// Settings that a retry has replaced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplacedSettings {
    /// The last step with them.
    pub until_step: i64,
    /// The configuration and prompts.
    pub resolved: Value,
}

/// A row of `approvals`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedApproval {
    /// The step that requested it.
    pub step: i64,
    /// The model's arguments.
    pub arguments: Value,
    /// The outcome of the call, if it was made.
    pub outcome: Option<String>,
    /// The decision, with the final state.
    #[serde(flatten)]
    pub approval: Approval,
}

impl RecordedStep {
    /// The requests that were answered or failed.
    pub fn ended_requests(&self) -> impl Iterator<Item = &RequestRecord> {
        self.requests.iter().filter(|request| request.failure_class != Some(FailureClass::Abandoned))
    }

    /// The usage of requests abandoned after this step, or before the first one.
    pub fn abandoned(&self) -> Totals {
        let abandoned = self.requests.iter().filter(|request| request.failure_class == Some(FailureClass::Abandoned));
        abandoned.fold(Totals::default(), |sum, request| Totals {
            requests: sum.requests + 1,
            tokens: sum.tokens + i64::from(request.prompt_tokens),
            cost_microusd: sum.cost_microusd + request.cost_microusd,
            ..sum
        })
    }
}

/// A committed step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedStep {
    /// Its number, from 1.
    pub step: i64,
    /// When it was committed.
    pub created_at: DateTime<Utc>,
    /// The claim that wrote it.
    pub lease_epoch: i64,
    /// The checkpoint; none if retention deleted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
    /// Requests to the model, including failed ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestRecord>,
    /// Messages added to the conversation, in their original form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
    /// Tool results cleared from this step on, by `seq`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleared: Vec<i64>,
    /// Files by path with their new content; none if deleted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "contents")]
    pub files: BTreeMap<String, Option<Vec<u8>>>,
    /// Phases, todos and the like; as in [`crate::TraceStep`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<TraceEffect>,
    /// Citations, as objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Value>,
    /// Requirements as the step recorded them, as objects without their `content_key`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Value>,
    /// Its changes of recorded requirements: `{candidate_id, kind, reason, fields}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub put_right: Vec<Value>,
    /// The feedback that it took in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<Feedback>,
}

/// Steps by number during assembly.
type Steps = BTreeMap<i64, RecordedStep>;

impl Store {
    /// All data of a job that a replay needs; none if there is no such job.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for rows that cannot be read; [`Error::Database`].
    pub async fn recording(&self, job_id: Uuid) -> Result<Option<RecordedJob>, Error> {
        let row = sqlx::query_file!("queries/views/recording/job.sql", job_id);
        let Some(row) = row.fetch_optional(&self.pool).await.during("read the job's recording")? else {
            return Ok(None);
        };
        let mut steps = self.recorded_steps(job_id).await?;
        self.recorded_messages(job_id, &mut steps).await?;
        self.recorded_requests(job_id, &mut steps).await?;
        self.recorded_files(job_id, &mut steps).await?;
        self.recorded_findings(job_id, &mut steps).await?;
        Ok(Some(RecordedJob {
            id: row.id,
            job_type: row.job_type,
            prompt: row.prompt,
            status: row.status,
            error_message: row.error_message,
            config: row.config,
            raised_limits: row.raised_limits,
            started_at: row.started_at,
            forked_step: row.forked_step,
            settings: row.settings,
            replaced_settings: row.replaced.map(|Json(replaced)| replaced).unwrap_or_default(),
            waited_s: row.waited_s,
            untrusted_step: row.untrusted_step,
            approvals: self.recorded_approvals(job_id).await?,
            sources: self.sources(job_id).await?,
            steps: steps.into_values().collect(),
        }))
    }

    async fn recorded_approvals(&self, job_id: Uuid) -> Result<Vec<RecordedApproval>, Error> {
        let rows = sqlx::query_file!("queries/views/recording/approvals.sql", job_id);
        let rows = rows.fetch_all(&self.pool).await.during("read what people decided")?;
        rows.into_iter()
            .map(|row| {
                let columns = load::ApprovalColumns {
                    call_id: row.call_id,
                    tool: row.tool,
                    tool_sha256: row.tool_sha256,
                    arguments_sha256: row.arguments_sha256,
                    state: row.state,
                    edited_arguments: row.edited_arguments,
                    reason: row.reason,
                    decided_by: row.decided_by,
                };
                let approval = load::approval(job_id, columns)?;
                Ok(RecordedApproval { step: row.step, arguments: row.arguments, outcome: row.outcome, approval })
            })
            .collect()
    }

    async fn recorded_steps(&self, job_id: Uuid) -> Result<Steps, Error> {
        let rows = sqlx::query_file!("queries/views/recording/steps.sql", job_id);
        let rows = rows.fetch_all(&self.pool).await.during("read the job's steps")?;
        let rows = rows.into_iter().map(|row| RecordedStep {
            step: row.step,
            created_at: row.created_at,
            lease_epoch: row.lease_epoch,
            state: row.state,
            ..RecordedStep::default()
        });
        Ok(rows.map(|step| (step.step, step)).collect())
    }

    async fn recorded_messages(&self, job_id: Uuid, steps: &mut Steps) -> Result<(), Error> {
        let rows = sqlx::query_file!("queries/views/recording/messages.sql", job_id);
        for row in rows.fetch_all(&self.pool).await.during("read the conversation")? {
            if let Some(step) = row.cleared_step.and_then(|step| steps.get_mut(&step)) {
                step.cleared.push(row.seq);
            }
            let message = Message {
                seq: row.seq,
                role: load::word(job_id, "message role", row.role)?,
                kind: load::word(job_id, "message kind", row.kind)?,
                content: row.content,
                tool_calls: load::optional(job_id, "tool calls", row.tool_calls.as_deref())?,
                tool_call_id: row.tool_call_id,
                extra: load::optional(job_id, "provider fields", row.extra.as_deref())?,
                tokens: u32::try_from(row.tokens).unwrap_or_default(),
                step: row.step,
                cleared: false,
            };
            steps.entry(row.step).and_modify(|step| step.messages.push(message));
        }
        Ok(())
    }

    async fn recorded_requests(&self, job_id: Uuid, steps: &mut Steps) -> Result<(), Error> {
        let count = |number: i64| u32::try_from(number).unwrap_or_default();
        let rows = sqlx::query_file!("queries/views/recording/requests.sql", job_id);
        for row in rows.fetch_all(&self.pool).await.during("read the job's requests")? {
            let failure_class = row.failure_class.map(|class| load::word(job_id, "failure class", class));
            let request = RequestRecord {
                model: row.model,
                purpose: load::word(job_id, "request purpose", row.purpose)?,
                prompt_tokens: count(row.prompt_tokens),
                cached_tokens: count(row.cached_tokens),
                cache_write_tokens: count(row.cache_write_tokens),
                completion_tokens: count(row.completion_tokens),
                reasoning_tokens: count(row.reasoning_tokens),
                estimated: row.estimated,
                duration_ms: row.duration_ms,
                attempt: row.attempt,
                finish_reason: row.finish_reason,
                error: row.error,
                failure_class: failure_class.transpose()?,
                raw_usage: row.raw_usage,
                server_window: None,
                api: row.api,
                endpoint: row.endpoint,
                service_tier: row.service_tier,
                fallback: row.fallback,
                cost_microusd: row.cost_microusd,
                created_at: row.created_at,
            };
            steps.entry(row.step).and_modify(|step| step.requests.push(request));
        }
        Ok(())
    }

    async fn recorded_files(&self, job_id: Uuid, steps: &mut Steps) -> Result<(), Error> {
        let rows = sqlx::query_file!("queries/views/recording/files.sql", job_id);
        for row in rows.fetch_all(&self.pool).await.during("read the job's files")? {
            steps.entry(row.step).and_modify(|step| {
                step.files.insert(row.path, row.content);
            });
        }
        Ok(())
    }

    async fn recorded_findings(&self, job_id: Uuid, steps: &mut Steps) -> Result<(), Error> {
        let doing = "read what the job found";
        let rows = sqlx::query_file!("queries/views/recording/findings.sql", job_id);
        for row in rows.fetch_all(&self.pool).await.during(doing)? {
            steps.entry(row.step).and_modify(|step| match row.kind.as_str() {
                "citation" => step.citations.push(row.found),
                "change" => step.put_right.push(row.found),
                _ => step.requirements.push(row.found),
            });
        }
        let rows = sqlx::query_file!("queries/views/recording/feedback.sql", job_id);
        for row in rows.fetch_all(&self.pool).await.during(doing)? {
            let feedback = Feedback { id: row.id, text: row.text, created_at: row.created_at };
            steps.entry(row.taken_step).and_modify(|step| step.feedback.push(feedback));
        }
        let effects = sqlx::query_file!("queries/views/trace/effects.sql", job_id, 1, i64::MAX);
        for row in effects.fetch_all(&self.pool).await.during(doing)? {
            let effect = TraceEffect { kind: row.kind, what: row.what, size: row.size };
            if effect.kind.starts_with("phase ") || effect.kind.starts_with("todo ") {
                steps.entry(row.step).and_modify(|step| step.effects.push(effect));
            }
        }
        Ok(())
    }
}

/// Contents as JSON: texts verbatim, other bytes as hexadecimal digits.
mod contents {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
    use std::collections::BTreeMap;

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Content<'a> {
        Text(std::borrow::Cow<'a, str>),
        Hex(String),
        Deleted,
    }

    pub(super) fn serialize<S: Serializer>(
        files: &BTreeMap<String, Option<Vec<u8>>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(files.iter().map(|(path, content)| (path, written(content.as_deref()))))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, Option<Vec<u8>>>, D::Error> {
        let written = BTreeMap::<String, Content<'_>>::deserialize(deserializer)?;
        written.into_iter().map(|(path, content)| Ok((path, read(content).map_err(D::Error::custom)?))).collect()
    }

    fn written(content: Option<&[u8]>) -> Content<'_> {
        match content.map(|content| (content, std::str::from_utf8(content))) {
            None => Content::Deleted,
            Some((_, Ok(text))) => Content::Text(text.into()),
            Some((bytes, Err(_))) => Content::Hex(hex::encode(bytes)),
        }
    }

    fn read(content: Content<'_>) -> Result<Option<Vec<u8>>, String> {
        match content {
            Content::Deleted => Ok(None),
            Content::Text(text) => Ok(Some(text.into_owned().into_bytes())),
            Content::Hex(digits) => {
                hex::decode(digits).map(Some).map_err(|_| "a file's hex digits are broken".to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RecordedStep;
    use std::collections::BTreeMap;

    #[test]
    fn contents_survive_the_way_through_json() {
        let files = BTreeMap::from([
            ("a.md".to_owned(), Some("ä\n".as_bytes().to_vec())),
            ("b.pdf".to_owned(), Some(vec![0xff, 0x00, 0x10])),
            ("c.md".to_owned(), None),
        ]);
        let step = RecordedStep { step: 1, files, ..RecordedStep::default() };
        let text = serde_json::to_string(&step).unwrap();
        assert!(text.contains(r#""a.md":{"text":"ä\n"},"b.pdf":{"hex":"ff0010"},"c.md":"deleted""#), "{text}");
        assert_eq!(serde_json::from_str::<RecordedStep>(&text).unwrap(), step);
        assert!(serde_json::from_str::<RecordedStep>(&text.replace("ff0010", "ff0g10")).is_err());
    }
}
