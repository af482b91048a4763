//! State shared by all jobs of the process.

use crate::{
    clients::{graph::Graphs, model::Models, web::Services},
    config_cache::ConfigCache,
    health::Health,
    limits::{Limits, RefusedKeys},
    options::WorkerOptions,
    run::document_budget::DocumentBudget,
    served::Live,
};
use plumbline_config::Secrets;
use plumbline_mirror::MirrorSync;
use plumbline_store::Store;
use plumbline_tools::ToolRunner;
use std::{path::PathBuf, sync::Arc};
use tokio::sync::{OnceCell, Semaphore};
use uuid::Uuid;

/// Maximum concurrent intakes: each has the job's first files, possibly a document, and its first step in memory until
/// it is written, which is several times what the job needs afterwards.
pub(crate) const STARTS: usize = 256;

/// Maximum jobs that end at once: each has its rows, its report and its deliverables in memory until they are written,
/// which with documents is a megabyte and more.
pub(crate) const ENDS: usize = 8;

/// Built once at startup.
pub(crate) struct App {
    pub(crate) worker_id: Uuid,
    pub(crate) store: Store,
    /// Configurations and prompts for jobs that start now.
    pub(crate) live: Live,
    pub(crate) secrets: Arc<Secrets>,
    pub(crate) config_cache: ConfigCache,
    pub(crate) models: Models,
    /// Limits of models' endpoints.
    pub(crate) limits: Arc<Limits>,
    pub(crate) refused_keys: RefusedKeys,
    pub(crate) graphs: Graphs,
    pub(crate) services: Services,
    pub(crate) tool_runner: ToolRunner,
    pub(crate) parser: plumbline_documents::Parser,
    pub(crate) token_tables: OnceCell<()>,
    pub(crate) mirror: MirrorSync,
    pub(crate) import_root: PathBuf,
    /// Budget for the documents of jobs in intake.
    pub(crate) memory: DocumentBudget,
    /// Permits for jobs in intake.
    pub(crate) starts: Arc<Semaphore>,
    /// Permits for jobs that end.
    pub(crate) ends: Semaphore,
    pub(crate) options: WorkerOptions,
    pub(crate) health: Arc<Health>,
}

impl App {
    /// Loads the tokenizer tables, once, off the async threads: it takes a tenth of a second.
    pub(crate) async fn load_token_tables(&self) {
        let load = async || {
            // An error would mean that loading panicked; the first count then reports it.
            let _ = plumbline_bounds::blocking::unbounded(plumbline_tokens::load).await;
        };
        self.token_tables.get_or_init(load).await;
    }
}
