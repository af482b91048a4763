//! Keeps the last passage that each job's calls used: a model records a passage in several answers. A batch takes it
//! and returns the one that it used (see [`WorkspaceOverlay::last_layout`]), or none if it cut a document: so what is kept
//! is of committed passages.
//!
//! [`WorkspaceOverlay::last_layout`]: crate::workspace::overlay::WorkspaceOverlay::last_layout

use parking_lot::Mutex;
use plumbline_documents::surroundings::Layout;
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// A passage's number and its sentences, by job: at most one for each job of this worker.
#[derive(Default)]
pub(crate) struct LastLayouts(Mutex<HashMap<Uuid, (i32, Arc<Layout>)>>);

impl LastLayouts {
    /// Removes and returns a job's passage.
    pub(crate) fn take(&self, job_id: Uuid) -> Option<(i32, Arc<Layout>)> {
        self.0.lock().remove(&job_id)
    }

    /// Keeps a job's passage until its next batch.
    pub(crate) fn put(&self, job_id: Uuid, layout: Option<(i32, Arc<Layout>)>) {
        self.0.lock().extend(layout.map(|layout| (job_id, layout)));
    }
}
