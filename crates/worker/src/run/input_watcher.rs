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

/// Minimum time between two scans of one job's folder: a scan makes the mirror write at once, so quick turns share one.
const SCAN_EVERY: Duration = Duration::from_secs(3);
/// Maximum time that a turn waits for its scan; no other turn waits until the volume has answered.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The inbox of one job.
#[derive(Debug)]
pub(crate) struct InputWatcher {
    job_id: Uuid,
    looked: Option<Instant>,
    /// When the last turn began; none in the first one after another claim.
    turn: Option<Instant>,
    /// Links that were already logged.
    refused: HashSet<String>,
}

impl InputWatcher {
    /// `step`: the job's last step. A new job's folder is about to be created, so its first turn need not wait for it.
    pub(crate) fn new(job_id: Uuid, step: i64) -> Self {
        Self { job_id, looked: None, turn: (step == 0).then(Instant::now), refused: HashSet::new() }
    }

    /// The files added by people. A turn after a long one, or after a pause, waits for its own scan; a turn that
    /// follows at once uses the last scan. A volume that cannot be read counts as empty: the mirror reports its failure.
    pub(crate) async fn look(&mut self, app: &App, mirror: &mut MirrorFeed, known: &FileIndex) -> Option<Intake> {
        let waits = self.turn.replace(Instant::now()).is_none_or(|turn| turn.elapsed() >= SCAN_EVERY);
        let mut found = self.found(mirror, known, Duration::ZERO).await?;
        if found.is_empty() {
            self.request_scan(mirror, known);
            let wait = if waits { LONGEST_WAIT } else { Duration::ZERO };
            found = self.found(mirror, known, wait).await?;
        }
        if found.is_empty() {
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

    /// The result of the last scan; `None` if it is not there in this time.
    async fn found(&mut self, mirror: &mut MirrorFeed, known: &FileIndex, wait: Duration) -> Option<Vec<Found>> {
        match mirror.found(wait).await {
            InputScan::Underway => None,
            InputScan::None => Some(Vec::new()),
            InputScan::Back(found) => {
                self.refuse(found.linked);
                // The job itself may have written such a file since the scan.
                Some(found.files.into_iter().filter(|file| known.get(&file.path).is_none()).collect())
            }
        }
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
