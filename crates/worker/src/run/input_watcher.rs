//! Watches for files that people put into a running job's `input/`: scanned periodically, concurrently with the job's
//! work, and imported before the next turn.

use crate::app::App;
use plumbline_engine::{FileIndex, FileWrite, Intake, Source};
use plumbline_mirror::{Found, IndexEntry, InputScan, MirrorFeed};
use std::{
    collections::HashSet,
    time::{Duration, Instant},
};
use tracing::{info, warn};
use uuid::Uuid;

/// Time between two scans of one job's folder. A scan lists a folder, so it is not done in every step.
const SCAN_EVERY: Duration = Duration::from_secs(3);

/// The inbox of one job.
#[derive(Debug)]
pub(crate) struct InputWatcher {
    job_id: Uuid,
    looked: Option<Instant>,
    /// Links that were already logged.
    refused: HashSet<String>,
}

impl InputWatcher {
    pub(crate) fn new(job_id: Uuid) -> Self {
        Self { job_id, looked: None, refused: HashSet::new() }
    }

    /// The files added by people, if a scan has finished; starts the next scan when it is due. A volume that cannot be
    /// read counts as empty: the mirror reports its failure.
    pub(crate) async fn look(&mut self, app: &App, mirror: &mut MirrorFeed, known: &FileIndex) -> Option<Intake> {
        let found = match mirror.found() {
            InputScan::Underway => return None,
            InputScan::None => Vec::new(),
            InputScan::Back(found) => {
                self.refuse(found.linked);
                // The job itself may have written such a file since the scan.
                found.files.into_iter().filter(|file| known.get(&file.path).is_none()).collect()
            }
        };
        if found.is_empty() {
            self.request_scan(mirror, known);
            return None;
        }
        let mut intake = Intake::default();
        for file in found {
            info!(job.id = %self.job_id, file.path = file.path, "imported new input file");
            intake.sources.extend(self.source(app, &file).await);
            intake.files.push(FileWrite { path: file.path, content: file.bytes });
        }
        Some(intake)
    }

    fn refuse(&mut self, linked: Vec<String>) {
        for path in linked {
            if !self.refused.contains(&path) {
                warn!(job.id = %self.job_id, file.path = path, "ignored a hard-linked input file; replace it by a copy");
                self.refused.insert(path);
            }
        }
    }

    fn request_scan(&mut self, mirror: &mut MirrorFeed, known: &FileIndex) {
        if self.looked.is_some_and(|looked| looked.elapsed() < SCAN_EVERY) {
            return;
        }
        self.looked = Some(Instant::now());
        let known = known
            .iter()
            .filter(|(path, _)| path.starts_with("input/"))
            .map(|(path, facts)| IndexEntry { path: path.clone(), sha256: String::new(), size: facts.size })
            .collect();
        mirror.look(known);
    }

    /// The file as a document; a file that cannot be opened as one is imported nevertheless.
    async fn source(&self, app: &App, file: &Found) -> Option<Source> {
        match app.parser.probe(&file.path, &file.bytes).await {
            Ok(probe) => Some(Source {
                size: i64::try_from(file.bytes.len()).ok()?,
                pages: probe.pages.and_then(|pages| i32::try_from(pages).ok()),
                text_path: None,
                path: file.path.clone(),
                ..Source::default()
            }),
            Err(error) => {
                warn!(job.id = %self.job_id, file.path, %error, "input file is not a readable document");
                None
            }
        }
    }
}
