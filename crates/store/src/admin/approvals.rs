//! Approvals, and the decisions on them: thin wrappers of the SQL functions, which contain the rules.

use super::control::refused;
use crate::{Error, Store, bind::text, error::During};
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

/// A row of `approvals`; the fields are its columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ApprovalRow {
    /// The id for `approve_call`.
    pub id: Uuid,
    /// The waiting job.
    pub job_id: Uuid,
    /// The step that requested it.
    pub step: i64,
    /// The id of the call in the conversation.
    pub call_id: String,
    /// Its tool.
    pub tool: String,
    /// `pending`, `approved`, `rejected`, `expired`, `executed` or `void`.
    pub state: String,
    /// The arguments, unredacted; none for a login that may not read them.
    pub shown: Option<String>,
    /// The arguments that replace them.
    pub edited_arguments: Option<Value>,
    /// The reason for the decision, or for requesting it again.
    pub reason: Option<String>,
    /// Of an executed call: `ok`, `error` or `in doubt`.
    pub outcome: Option<String>,
    /// When it was requested.
    pub requested_at: DateTime<Utc>,
    /// When it expires.
    pub expires_at: DateTime<Utc>,
    /// When it was decided.
    pub decided_at: Option<DateTime<Utc>>,
    /// The login that decided.
    pub decided_by: Option<String>,
    /// The way in which they decided.
    pub decided_via: Option<String>,
    /// The step before the call.
    pub executed_step: Option<i64>,
}

/// The tool of an approval.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalTool {
    /// Its name.
    pub name: String,
    /// The schema of its arguments, if it is a tool of the job's own.
    pub schema: Option<Value>,
}

/// A person's decision on a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallDecision {
    /// `approve_call`.
    Approve,
    /// `reject_call`, with the reason that the model reads.
    Reject(String),
    /// `edit_call`: approved with these arguments.
    Edit(Value),
}

/// The number of calls that wait for a decision, by the age of the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitingCalls {
    /// Up to an hour old.
    pub under_1h: i64,
    /// Older than an hour, up to a day.
    pub under_1d: i64,
    /// Older than a day.
    pub older: i64,
}

impl Store {
    /// Counts the calls that wait for a decision.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn waiting_calls(&self) -> Result<WaitingCalls, Error> {
        sqlx::query_file_as!(WaitingCalls, "queries/admin/waiting_calls.sql")
            .fetch_one(&self.pool)
            .await
            .during("count the calls that wait for a decision")
    }

    /// Approvals: all of one job, or the waiting ones of all jobs. A login that may see the waiting calls but not their
    /// arguments, such as `plumbline_steer`, gets them without arguments.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn approvals(&self, job_id: Option<Uuid>) -> Result<Vec<ApprovalRow>, Error> {
        let doing = "list the calls that need approval";
        let whole = sqlx::query_file_as!(ApprovalRow, "queries/admin/approvals.sql", job_id)
            .fetch_all(&self.pool)
            .await
            .during(doing);
        match whole {
            Err(error) if error.is_forbidden() => {
                sqlx::query_file_as!(ApprovalRow, "queries/admin/approval_lines.sql", job_id)
                    .fetch_all(&self.pool)
                    .await
                    .during(doing)
            }
            whole => whole,
        }
    }

    /// The tool of an approval; none if there is no such row.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn tool_of_approval(&self, id: Uuid) -> Result<Option<ApprovalTool>, Error> {
        sqlx::query_file_as!(ApprovalTool, "queries/admin/tool_of_approval.sql", id)
            .fetch_optional(&self.pool)
            .await
            .during("look up a call")
    }

    /// Decides on a call by command and returns its state, which may be `expired`.
    ///
    /// # Errors
    /// [`Error::Refused`] with the database's sentence, which names the job and the call's state; [`Error::Database`].
    pub async fn decide_call(&self, id: Uuid, decision: &CallDecision) -> Result<String, Error> {
        let (word, reason, arguments) = match decision {
            CallDecision::Approve => ("approve", None, None),
            CallDecision::Reject(reason) => ("reject", Some(text(reason)), None),
            CallDecision::Edit(arguments) => ("edit", None, Some(arguments)),
        };
        let answer = sqlx::query_file_scalar!("queries/admin/decide_call.sql", id, word, reason.as_deref(), arguments)
            .fetch_one(&self.pool)
            .await;
        refused(answer, "decide on the call")
    }

    /// Approves the next calls of a tool in a job and returns the job's status.
    ///
    /// # Errors
    /// As [`Store::decide_call`].
    pub async fn grant_calls(&self, job_id: Uuid, tool: &str, count: i32) -> Result<String, Error> {
        let answer =
            sqlx::query_file_scalar!("queries/admin/grant_calls.sql", job_id, tool, count).fetch_one(&self.pool).await;
        refused(answer, "grant calls")
    }
}
