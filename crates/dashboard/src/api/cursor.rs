//! A cursor in the list of jobs, as text for a link: the job's time in microseconds, a dot, its id.

use crate::pages::error::PageError;
use chrono::{DateTime, Utc};
use plumbline_store::{JobLine, Store};
use uuid::Uuid;

/// The cursor after this job.
pub(crate) fn after(job: &JobLine) -> String {
    format!("{}.{}", job.created_at.timestamp_micros(), job.id)
}

/// Parses a cursor; a job's id alone means the position after that job.
pub(crate) async fn read(store: &Store, text: &str) -> Result<(DateTime<Utc>, Uuid), PageError> {
    if let Ok(id) = text.parse() {
        let job = store.job_detail(id).await?;
        let job = job.ok_or_else(|| PageError::bad(format!("`after` names job {id}, which does not exist")))?;
        return Ok((job.created_at, id));
    }
    parse(text).ok_or_else(|| PageError::bad("`after` must be the `next` of the page before, or a job's id"))
}

fn parse(text: &str) -> Option<(DateTime<Utc>, Uuid)> {
    let (micros, id) = text.split_once('.')?;
    Some((DateTime::from_timestamp_micros(micros.parse().ok()?)?, id.parse().ok()?))
}
