//! The dashboard's pages, one file each: the data that is read, and the template's input.

pub(crate) mod assets;
pub(crate) mod chart;
pub(crate) mod error;
pub(crate) mod markdown;
pub(crate) mod redact;
pub(crate) mod render;
pub(crate) mod template_filters;

pub(crate) mod files;
pub(crate) mod list;
pub(crate) mod overview;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod requirements;
pub(crate) mod timeline;

use super::{api, server::AppState};
use crate::pages::error::PageError;
use axum::{
    http::{StatusCode, Uri},
    response::Response,
};
use plumbline_store::JobDetail;
use serde::Serialize;

/// Every other path.
pub(crate) async fn nothing_here(uri: Uri) -> Response {
    let sentence = "nothing is served at this address; the jobs are at /, the API is at /api/jobs";
    error::plain(StatusCode::NOT_FOUND, sentence, uri.path().starts_with("/api/"))
}

/// The header of every page of a job.
#[derive(Serialize)]
pub(crate) struct Head {
    pub(crate) job: JobDetail,
    /// The page within the job.
    tab: &'static str,
    /// Seconds from start to end, or to now.
    running_secs: Option<f64>,
    ended: bool,
    /// Whether it recorded any; without any there is no such page.
    has_requirements: bool,
    /// Whether it has any; without any there is no report.
    has_documents: bool,
}

impl Head {
    async fn of(state: &AppState, id: &str, tab: &'static str) -> Result<Self, PageError> {
        let job = api::find(state, id).await?;
        let ended = job.completed_at.is_some();
        let until = job.completed_at.unwrap_or_else(chrono::Utc::now);
        let running_secs = job.started_at.map(|started| (until - started).num_milliseconds() as f64 / 1000.0);
        let has_requirements = !state.store.findings_counts(job.id).await?.is_empty();
        let has_documents = !state.store.sources(job.id).await?.is_empty();
        Ok(Self { job, tab, running_secs, ended, has_requirements, has_documents })
    }
}
