//! Folders of deleted jobs. The session that deletes a job (`plumbline prune`, a plain DELETE) may not reach the volume
//! with its folder, so each worker periodically removes folders from its own volume.

use crate::Mirror;
use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;
use plumbline_store::Store;
use plumbline_store::backoff::with_call_timeout;
use std::io;
use tracing::{debug, info, warn};
use uuid::Uuid;

/// Deleted jobs per lookup.
const BATCH: i64 = 1000;

/// Overlap of consecutive lookups: a transaction of this duration may have added rows to the range already read.
const OVERLAP: TimeDelta = TimeDelta::minutes(10);

/// The result of the last lookup.
#[derive(Debug, Default)]
pub(crate) struct Leftovers {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The latest deletion time seen; none before the first lookup.
    until: Option<DateTime<Utc>>,
    /// Those whose folders could not be removed.
    stuck: Vec<Uuid>,
}

impl Leftovers {
    /// Removes the folders of jobs deleted since the last lookup, and retries earlier failures. Errors are logged with
    /// the number of affected folders.
    pub(crate) async fn remove(&self, mirror: &Mirror, store: &Store) {
        let (until, stuck) = {
            let mut seen = self.seen.lock();
            (seen.until, std::mem::take(&mut seen.stuck))
        };
        let mut round = Round { removed: 0, stuck: Vec::new(), trouble: None };
        for job in stuck {
            round.remove(mirror, job).await;
        }
        let from = until.map_or(DateTime::UNIX_EPOCH, |until| until - OVERLAP);
        let (mut place, mut latest) = ((from, Uuid::nil()), until);
        loop {
            let jobs = match with_call_timeout(store.deleted_jobs(place, BATCH)).await {
                Ok(jobs) => jobs,
                Err(error) => {
                    debug!(%error, "could not look for folders of deleted jobs; retrying at the next interval");
                    break;
                }
            };
            let Some(last) = jobs.last() else { break };
            place = (last.deleted_at, last.job_id);
            latest = latest.max(Some(last.deleted_at));
            for job in jobs {
                if !round.stuck.contains(&job.job_id) {
                    round.remove(mirror, job.job_id).await;
                }
            }
        }
        round.tell();
        let mut seen = self.seen.lock();
        (seen.until, seen.stuck) = (latest, round.stuck);
    }
}

/// One look.
struct Round {
    removed: usize,
    stuck: Vec<Uuid>,
    trouble: Option<io::Error>,
}

impl Round {
    async fn remove(&mut self, mirror: &Mirror, job: Uuid) {
        match mirror.remove(job).await {
            Ok(removed) => self.removed += usize::from(removed),
            Err(error) => {
                self.stuck.push(job);
                self.trouble = Some(error);
            }
        }
    }

    fn tell(&self) {
        if self.removed > 0 {
            info!(n_folders = self.removed, "removed folders of deleted jobs");
        }
        if let Some(error) = &self.trouble {
            warn!(n_jobs = self.stuck.len(), %error, "could not remove folders of deleted jobs; retrying");
        }
    }
}
