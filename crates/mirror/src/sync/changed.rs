//! Reads the changes of committed steps from the rows: one statement for all jobs that ask at the same time.

use crate::MirrorTrouble;
use plumbline_store::backoff::with_call_timeout;
use plumbline_store::{ChangedFile, Store};
use std::collections::HashMap;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

/// Maximum jobs per read: each loads some small files into memory.
const TOGETHER: usize = 32;

/// A job's request for changes after a step.
struct Asked {
    job: Uuid,
    step: i64,
    answer: oneshot::Sender<Result<Vec<ChangedFile>, MirrorTrouble>>,
}

/// Answers the feeds of all jobs of a worker, which write their folders at the same times.
#[derive(Debug)]
pub(crate) struct Changed(mpsc::UnboundedSender<Asked>);

impl Changed {
    /// Answers until it is dropped.
    pub(crate) fn start(store: Store) -> Self {
        let (asked, waiting) = mpsc::unbounded_channel();
        tokio::spawn(answer(store, waiting));
        Self(asked)
    }

    /// The changes of a job after this step, each path in its latest version.
    ///
    /// # Errors
    /// When the rows could not be read.
    pub(crate) async fn after(&self, job: Uuid, step: i64) -> Result<Vec<ChangedFile>, MirrorTrouble> {
        let (answer, answered) = oneshot::channel();
        let ended = || Err(MirrorTrouble { message: "the worker ends".into() });
        match self.0.send(Asked { job, step, answer }) {
            Ok(()) => answered.await.unwrap_or_else(|_| ended()),
            Err(_) => ended(),
        }
    }
}

async fn answer(store: Store, mut waiting: mpsc::UnboundedReceiver<Asked>) {
    let mut asked = Vec::with_capacity(TOGETHER);
    while waiting.recv_many(&mut asked, TOGETHER).await > 0 {
        let since: Vec<(Uuid, i64)> = asked.iter().map(|asked| (asked.job, asked.step)).collect();
        let mut read = with_call_timeout(store.changed_files(&since)).await.map(by_job).map_err(super::unreadable);
        for Asked { job, answer, .. } in asked.drain(..) {
            let files = read.as_mut().map(|files| files.remove(&job).unwrap_or_default());
            // There is no waiter if the job is gone.
            let _ = answer.send(files.map_err(|trouble| trouble.clone()));
        }
    }
}

fn by_job(files: Vec<ChangedFile>) -> HashMap<Uuid, Vec<ChangedFile>> {
    let mut jobs: HashMap<Uuid, Vec<ChangedFile>> = HashMap::new();
    for file in files {
        jobs.entry(file.job_id).or_default().push(file);
    }
    jobs
}
