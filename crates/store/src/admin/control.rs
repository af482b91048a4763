//! The users' commands: thin wrappers of the SQL functions, which contain the rules.

use crate::{Error, Store, bind::text, error::During};
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

/// SQLSTATEs with which the functions refuse: wrong status, no such job, no text or no such limit.
const REFUSALS: [&str; 3] = ["55000", "P0002", "22023"];

/// A user's command on a job, except feedback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `cancel_job`: ends it in any state.
    Cancel,
    /// `pause_job`: takes it from its worker at the next step.
    Pause,
    /// `resume_job`: continues a paused job, or one in review.
    Resume {
        /// Added to the conversation first.
        feedback: Option<String>,
        /// Replaces these keys of the job's `limits`, beyond the operator's bounds up to `limits_ceiling` of its type.
        limits: Option<Value>,
    },
    /// `retry_job`: continues a failed or cancelled job from its last checkpoint.
    Retry,
    /// `approve_job`: completes a job in review.
    Approve,
}

impl Store {
    /// Executes a command and returns the job's new status.
    ///
    /// # Errors
    /// [`Error::Refused`] with the database's message, which names the job and its current status;
    /// [`Error::Database`].
    pub async fn command(&self, job_id: Uuid, command: &Command) -> Result<String, Error> {
        let mut connection = self.pool.acquire().await.during("change the job")?;
        execute(&mut connection, job_id, command).await
    }

    /// Executes a command and sends feedback with it, or does neither. A job that is to be cancelled gets it first,
    /// because an ended one accepts none.
    ///
    /// # Errors
    /// As [`Store::command`].
    pub async fn command_with_feedback(&self, job_id: Uuid, command: &Command, words: &str) -> Result<String, Error> {
        let mut transaction = self.pool.begin().await.during("change the job")?;
        let status = if matches!(command, Command::Cancel) {
            send(&mut transaction, job_id, words).await?;
            execute(&mut transaction, job_id, command).await?
        } else {
            execute(&mut transaction, job_id, command).await?;
            send(&mut transaction, job_id, words).await?
        };
        transaction.commit().await.during("change the job")?;
        Ok(status)
    }

    /// Sends feedback to a job that has not ended and returns its status; a job in review resumes.
    ///
    /// # Errors
    /// As [`Store::command`].
    pub async fn send_feedback(&self, job_id: Uuid, words: &str) -> Result<String, Error> {
        let mut connection = self.pool.acquire().await.during("send feedback")?;
        send(&mut connection, job_id, words).await
    }
}

async fn execute(on: &mut PgConnection, job_id: Uuid, command: &Command) -> Result<String, Error> {
    let answer = match command {
        Command::Cancel => sqlx::query_file_scalar!("queries/admin/cancel.sql", job_id).fetch_one(on).await,
        Command::Pause => sqlx::query_file_scalar!("queries/admin/pause.sql", job_id).fetch_one(on).await,
        Command::Retry => sqlx::query_file_scalar!("queries/admin/retry.sql", job_id).fetch_one(on).await,
        Command::Approve => sqlx::query_file_scalar!("queries/admin/approve.sql", job_id).fetch_one(on).await,
        Command::Resume { feedback, limits } => {
            let (words, limits) = (feedback.as_deref().map(text), limits.as_ref());
            sqlx::query_file_scalar!("queries/admin/resume.sql", job_id, words.as_deref(), limits).fetch_one(on).await
        }
    };
    refused(answer, "change the job")
}

async fn send(on: &mut PgConnection, job_id: Uuid, words: &str) -> Result<String, Error> {
    let words = text(words);
    let answer =
        sqlx::query_file_scalar!("queries/admin/send_feedback.sql", job_id, words.as_ref()).fetch_one(on).await;
    refused(answer, "send feedback")
}

/// Separates the functions' own refusals from database failures.
pub(crate) fn refused<T>(answer: Result<T, sqlx::Error>, doing: &'static str) -> Result<T, Error> {
    if let Err(sqlx::Error::Database(error)) = &answer
        && error.code().is_some_and(|code| REFUSALS.contains(&code.as_ref()))
    {
        return Err(Error::Refused(error.message().to_owned()));
    }
    answer.during(doing)
}
