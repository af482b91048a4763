//! The rows from which a run is rebuilt.
//!
//! Read without a transaction: only the holder of the lease writes them, and if the lease is lost meanwhile, the first
//! commit fails.

use crate::{
    ClaimedJob, Error, JobInput, Lease, Store,
    error::During,
    workspace::files::{facts, read_files},
};
use plumbline_engine::{
    Approval, Feedback, JobInfo, Message, Snapshot, Source, State, Todo, ToolCall, Totals, WorkspaceMemory,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeSet;
use uuid::Uuid;

impl ClaimedJob {
    /// The snapshot of a job without a committed step and without feedback: the claim and the row contain everything.
    /// The first commit checks whether the lease is still valid.
    pub fn unstarted(&self, input: &JobInput) -> Option<Snapshot> {
        // A request of an earlier claim may have been abandoned.
        if self.step > 0 || self.feedback_pending || self.lease_epoch > 1 {
            return None;
        }
        let job = JobInfo {
            id: self.id,
            job_type: self.job_type.clone(),
            prompt: input.prompt.clone(),
            step: self.step,
            started_at: self.started_at,
        };
        let (waited_s, untrusted_step) = (input.waited_s, input.untrusted_step);
        Some(Snapshot { waited_s, untrusted_step, ..Snapshot::unstarted(job) })
    }
}

impl Store {
    /// The rows of a claimed job.
    ///
    /// # Errors
    /// [`Error::LeaseLost`], [`Error::Corrupt`] for rows that cannot be read (fail the job with
    /// [`Store::reject`]), [`Error::Database`].
    pub async fn load(&self, lease: &Lease) -> Result<Snapshot, Error> {
        let id = lease.job_id;
        sqlx::query_file!("queries/run/count_abandoned.sql", id, lease.epoch)
            .execute(&self.pool)
            .await
            .during("count the abandoned requests")?;
        let row = sqlx::query_file!("queries/run/load_job.sql", id, lease.epoch)
            .fetch_optional(&self.pool)
            .await
            .during("load the job")?
            .ok_or(Error::LeaseLost(id))?;
        let state: Option<State> = row.state.as_deref().map(|text| parse(id, "checkpoint", text)).transpose()?;
        // Requirements without numbers are from before they had tags; numbering them notes this in the checkpoint.
        let compares_anew = |state: State| State { compares_anew: state.compares_anew || row.unnumbered, ..state };
        let state = state.map(compares_anew);
        let (todos, staged_todos) = self.load_todos(id, state.as_ref()).await?;
        // A job without a checkpoint has no step that could have written a file.
        let (files, memory, sources) = match state {
            Some(_) => (facts(self.file_index(id).await?), self.load_memory(id).await?, self.sources(id).await?),
            None => Default::default(),
        };
        let last_number = match row.unnumbered {
            true => self.number_requirements(lease).await?,
            false => row.last_number,
        };
        let first_totals = Totals {
            requests: row.total_requests,
            tokens: row.total_tokens_used,
            cached_tokens: 0,
            cost_microusd: row.cost_microusd,
        };
        let standing = if state.is_some() { self.standing_requirements(id).await? } else { Vec::new() };
        Ok(Snapshot {
            job: JobInfo {
                id: row.id,
                job_type: row.job_type,
                prompt: row.prompt,
                step: row.step,
                started_at: row.started_at,
            },
            first_totals: if state.is_some() { Totals::default() } else { first_totals },
            messages: self.load_messages(id, state.as_ref()).await?,
            todos,
            staged_todos,
            files,
            memory,
            passages: if state.is_some() { self.passages(id).await? } else { Vec::new() },
            sources,
            last_number,
            standing,
            feedback: self.feedback(id).await?,
            approvals: if row.has_approvals { self.approvals_of(id).await? } else { Vec::new() },
            waited_s: row.waited_s,
            untrusted_step: row.untrusted_step,
            // A load always follows a claim.
            new_claim: true,
            state,
        })
    }

    /// The documents of a job that have the same bytes at the same path in another job.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn same_documents(&self, job_id: Uuid, other: Uuid) -> Result<BTreeSet<String>, Error> {
        let paths = sqlx::query_file_scalar!("queries/requirements/same_documents.sql", job_id, other)
            .fetch_all(&self.pool)
            .await
            .during("compare the documents of two jobs")?;
        Ok(paths.into_iter().collect())
    }

    /// The job's documents, by path.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn sources(&self, job_id: Uuid) -> Result<Vec<Source>, Error> {
        sqlx::query_file_as!(Source, "queries/run/load_sources.sql", job_id)
            .fetch_all(&self.pool)
            .await
            .during("load the job's documents")
    }

    /// Approvals of calls without an outcome, requested and decided ones, in the order of the requests.
    async fn approvals_of(&self, id: Uuid) -> Result<Vec<Approval>, Error> {
        let rows = sqlx::query_file_as!(ApprovalColumns, "queries/run/load_approvals.sql", id)
            .fetch_all(&self.pool)
            .await
            .during("load the job's approvals")?;
        rows.into_iter().map(|row| approval(id, row)).collect()
    }

    /// Feedback that no step has taken in yet, oldest first.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn feedback(&self, job_id: Uuid) -> Result<Vec<Feedback>, Error> {
        sqlx::query_file_as!(Feedback, "queries/run/load_feedback.sql", job_id)
            .fetch_all(&self.pool)
            .await
            .during("load the job's feedback")
    }

    async fn load_messages(&self, id: Uuid, state: Option<&State>) -> Result<Vec<Message>, Error> {
        let Some(context) = state.map(|state| &state.context) else {
            return Ok(Vec::new());
        };
        let mut wanted = context.kept.clone();
        wanted.push(context.system_seq);
        wanted.extend(context.summary_seq);
        let rows = sqlx::query_file!("queries/run/load_messages.sql", id, context.tail_from, &wanted)
            .fetch_all(&self.pool)
            .await
            .during("load the conversation")?;
        rows.into_iter()
            .map(|row| {
                Ok(Message {
                    seq: row.seq,
                    role: word(id, "message role", row.role)?,
                    kind: word(id, "message kind", row.kind)?,
                    content: row.content,
                    tool_calls: optional(id, "tool calls", row.tool_calls.as_deref())?,
                    tool_call_id: row.tool_call_id,
                    extra: optional(id, "provider fields", row.extra.as_deref())?,
                    tokens: u32::try_from(row.tokens).unwrap_or_default(),
                    step: row.step,
                    cleared: row.cleared,
                })
            })
            .collect()
    }

    async fn load_todos(&self, id: Uuid, state: Option<&State>) -> Result<(Vec<Todo>, Vec<Todo>), Error> {
        let (mut current, mut staged) = (Vec::new(), Vec::new());
        let Some(phase_number) = state.map(|state| state.phase.number) else {
            return Ok((current, staged));
        };
        let rows = sqlx::query_file!("queries/run/load_todos.sql", id, phase_number)
            .fetch_all(&self.pool)
            .await
            .during("load the todos")?;
        for row in rows {
            let list = if row.phase_number == phase_number { &mut current } else { &mut staged };
            let status = word(id, "todo status", row.status)?;
            let (position, content, passages, notes) = (row.position, row.content, row.passages, row.notes);
            list.push(Todo { position, content, passages, status, notes });
        }
        Ok((current, staged))
    }

    async fn load_memory(&self, id: Uuid) -> Result<WorkspaceMemory, Error> {
        let mut connection = self.pool.acquire().await.during("load the memory files")?;
        let files = read_files(&mut connection, id, &WorkspaceMemory::PATHS.map(str::to_owned)).await?;
        let mut memory = WorkspaceMemory::default();
        for (path, content) in files {
            if let Some(text) = memory.get_mut(&path) {
                *text = String::from_utf8_lossy(&content).into_owned();
            }
        }
        Ok(memory)
    }
}

/// The columns of `approvals` that determine what happens to a call.
pub(crate) struct ApprovalColumns {
    pub(crate) call_id: String,
    pub(crate) tool: String,
    pub(crate) tool_sha256: Vec<u8>,
    pub(crate) arguments_sha256: Vec<u8>,
    pub(crate) state: String,
    /// JSON text.
    pub(crate) edited_arguments: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) decided_by: Option<String>,
}

pub(crate) fn approval(job_id: Uuid, row: ApprovalColumns) -> Result<Approval, Error> {
    let digest = |bytes: Vec<u8>| bytes.try_into().unwrap_or_default();
    let call = |arguments| ToolCall { id: row.call_id.clone(), name: row.tool.clone(), arguments };
    Ok(Approval {
        edited: row.edited_arguments.map(call),
        tool_sha256: digest(row.tool_sha256),
        arguments_sha256: digest(row.arguments_sha256),
        state: word(job_id, "approval state", row.state)?,
        reason: row.reason,
        decided_by: row.decided_by,
        call_id: row.call_id,
        tool: row.tool,
    })
}

/// An enum value from its word in a text column.
pub(crate) fn word<T: DeserializeOwned>(job_id: Uuid, what: &'static str, word: String) -> Result<T, Error> {
    serde_json::from_value(Value::String(word)).map_err(|error| Error::Corrupt {
        job_id,
        what,
        reason: error.to_string(),
    })
}

/// Decodes a column; a null becomes the default value.
pub(crate) fn optional<T: DeserializeOwned + Default>(
    job_id: Uuid,
    what: &'static str,
    text: Option<&str>,
) -> Result<T, Error> {
    text.map_or_else(|| Ok(T::default()), |text| parse(job_id, what, text))
}

fn parse<T: DeserializeOwned>(job_id: Uuid, what: &'static str, text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| Error::Corrupt { job_id, what, reason: error.to_string() })
}
