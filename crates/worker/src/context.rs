//! What every job of the process shares.

use crate::{
    config::Configs, graphs::Graphs, memory::Memory, mirror::Mirror, models::Models, options::WorkerOptions,
    profiles::Profiles, services::Services, vitals::Vitals,
};
use plumbline_effects::{documents, tools::Toolbox};
use plumbline_store::Store;
use std::{path::PathBuf, sync::Arc};
use tokio::sync::Semaphore;
use uuid::Uuid;

/// Jobs that are taken in at once: each has its first files, a document of its own among them, and its first step in
/// memory until it is written, which is several times what it needs afterwards.
pub(crate) const STARTS: usize = 256;

/// Built once at start.
pub(crate) struct Context {
    pub(crate) worker_id: Uuid,
    pub(crate) store: Store,
    pub(crate) configs: Configs,
    pub(crate) profiles: Profiles,
    pub(crate) models: Models,
    pub(crate) graphs: Graphs,
    pub(crate) services: Services,
    pub(crate) toolbox: Toolbox,
    pub(crate) parser: documents::Parser,
    pub(crate) mirror: Mirror,
    pub(crate) import_root: PathBuf,
    /// For the documents of jobs that are being taken in.
    pub(crate) memory: Memory,
    /// For jobs that are being taken in.
    pub(crate) starts: Arc<Semaphore>,
    pub(crate) options: WorkerOptions,
    pub(crate) vitals: Arc<Vitals>,
}
