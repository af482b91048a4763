//! What few steps have to write: statements of their own, in one transaction with the step.

use super::{Commit, batch::Batch, leave, leave::Parting, plan::Plan, thinning};
use crate::{Error, enqueue, error::During, rows::json, settings, validation};
use sqlx::PgConnection;
use uuid::Uuid;

/// Whether there is nothing of it: then the step is one statement.
pub(super) fn is_empty(commit: &Commit<'_>, batch: &Batch<'_>) -> bool {
    commit.settings.is_none()
        && batch.shared.is_none()
        && batch.left.is_none()
        && batch.requests.len() <= 1
        && !Plan::is_in(batch)
        && is_common(commit, batch)
}

/// Whether all of it is what each job has to write now and then: then the step may share a statement with others.
pub(super) fn is_common(commit: &Commit<'_>, batch: &Batch<'_>) -> bool {
    commit.enqueue_next.is_none()
        && batch.judgements.is_empty()
        && batch.feedback_taken.is_empty()
        && batch.cleared.is_empty()
        && !has_findings(batch)
        && thinning::given_up_at(commit.expected_step + 1).is_none()
}

fn has_findings(batch: &Batch<'_>) -> bool {
    !(batch.sources.is_empty() && batch.citations.is_empty() && batch.requirements.is_empty())
}

/// Writes it, after the step's own statement has locked the job's row.
pub(super) async fn write(
    tx: &mut PgConnection,
    commit: &Commit<'_>,
    step: i64,
    batch: &Batch<'_>,
) -> Result<(), Error> {
    let job_id = commit.lease.job_id;
    if commit.settings.is_some() || batch.shared.is_some() {
        settings::put(tx, job_id, step, commit.settings, batch.shared).await?;
    }
    if let [_, others @ ..] = batch.requests.as_slice()
        && !others.is_empty()
    {
        sqlx::query_file!("queries/requests.sql", job_id, step, json(others))
            .execute(&mut *tx)
            .await
            .during("write model requests")?;
    }
    if !batch.feedback_taken.is_empty() {
        sqlx::query_file!("queries/hear.sql", job_id, step, &batch.feedback_taken)
            .execute(&mut *tx)
            .await
            .during("mark feedback as taken in")?;
    }
    if !batch.cleared.is_empty() {
        sqlx::query_file!("queries/clear.sql", job_id, step, &batch.cleared)
            .execute(&mut *tx)
            .await
            .during("clear old results")?;
    }
    if has_findings(batch) {
        findings(tx, job_id, step, batch).await?;
    }
    validation::judge(tx, job_id, &batch.judgements).await?;
    if Plan::is_in(batch) {
        plan(tx, job_id, step, batch).await?;
    }
    if let Some(old) = thinning::given_up_at(step) {
        sqlx::query_file!("queries/thin.sql", job_id, old.start, old.end)
            .execute(&mut *tx)
            .await
            .during("give up old checkpoints")?;
    }
    let left = match batch.left {
        Some(leave) => {
            let parting = Parting::of(commit.lease, leave);
            !leave::leave(tx, &[&parting]).await.during("set the job's new status")?.is_empty()
        }
        None => true,
    };
    if let Some(next) = commit.enqueue_next.filter(|_| left) {
        enqueue::enqueue(tx, next).await?;
    }
    Ok(())
}

/// Phases and todo lists.
async fn plan(tx: &mut PgConnection, job_id: Uuid, step: i64, batch: &Batch<'_>) -> Result<(), Error> {
    let Plan { opened, closed, lengths, todos } = Plan::of(batch);
    sqlx::query_file!("queries/plan.sql", job_id, step, opened.array, closed.array, lengths.array, todos.array)
        .execute(tx)
        .await
        .during("write phases and todos")?;
    Ok(())
}

/// Sources, citations, requirements.
async fn findings(tx: &mut PgConnection, job_id: Uuid, step: i64, batch: &Batch<'_>) -> Result<(), Error> {
    let sources: Vec<_> = batch.sources.values().collect();
    sqlx::query_file!(
        "queries/findings.sql",
        job_id,
        step,
        json(&sources),
        json(&batch.citations),
        json(&batch.requirements),
    )
    .execute(tx)
    .await
    .during("write sources, citations and requirements")?;
    Ok(())
}
