//! The parameters of lists.

use super::cursor;
use crate::pages::error::PageError;
use plumbline_store::{JobFilter, Store};
use serde::Deserialize;

/// Default number of jobs per page.
const LIMIT: i64 = 50;
/// Maximum jobs per page.
const MAX_LIMIT: i64 = 200;

/// Every status, in the order people look for them.
pub(crate) const STATUSES: [&str; 7] = ["running", "pending", "review", "paused", "completed", "failed", "cancelled"];

/// The parameters of a list of jobs.
pub(crate) const PARAMETERS: [&str; 4] = ["status", "type", "limit", "after"];

/// Whether a list of jobs has the parameter.
pub(crate) fn is_known(parameter: &str) -> bool {
    PARAMETERS.contains(&parameter)
}

/// `?status=&type=&limit=&after=`; empty counts as absent, as forms send it.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct JobsQuery {
    #[serde(default)]
    pub(crate) status: String,
    #[serde(default, rename = "type")]
    pub(crate) job_type: String,
    #[serde(default)]
    pub(crate) limit: String,
    #[serde(default)]
    pub(crate) after: String,
}

impl JobsQuery {
    /// The store's filter.
    pub(crate) async fn filter(&self, store: &Store) -> Result<(JobFilter, i64), PageError> {
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let status = given(&self.status);
        if let Some(unknown) = status.as_deref().filter(|status| !STATUSES.contains(status)) {
            return Err(PageError::bad(format!("there is no status `{unknown}`; there are {}", STATUSES.join(", "))));
        }
        let limit = match given(&self.limit) {
            None => LIMIT,
            Some(text) => text
                .parse()
                .ok()
                .filter(|limit| (1..=MAX_LIMIT).contains(limit))
                .ok_or_else(|| PageError::bad(format!("`limit` must be a number from 1 to {MAX_LIMIT}")))?,
        };
        let after = match given(&self.after) {
            None => None,
            Some(text) => Some(cursor::read(store, &text).await?),
        };
        Ok((JobFilter { status, job_type: given(&self.job_type), since: None, after }, limit))
    }
}
