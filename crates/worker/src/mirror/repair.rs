//! Making the folder equal to the rows, when a job starts on a machine or after trouble.

use super::{
    FileEvent, Found, IndexEntry, Mirror, MirrorTrouble, Repaired,
    apply::claim,
    folder::Folder,
    marker::{self, Marker},
    survey::survey,
};
use std::{fmt::Display, future::Future};
use uuid::Uuid;

impl Mirror {
    /// Writes files that are missing or differ, removes files that no row knows, and hands back new ones under
    /// `input/`. `read` gives the content of a workspace path from the rows; `None` when it is gone meanwhile.
    ///
    /// # Errors
    /// When the folder could not be made equal; what could be has been.
    pub async fn repair<F, E>(
        &self,
        job: Uuid,
        epoch: i64,
        step: i64,
        index: &[IndexEntry],
        read: impl Fn(String) -> F,
    ) -> Result<Repaired, MirrorTrouble>
    where
        F: Future<Output = Result<Option<Vec<u8>>, E>>,
        E: Display,
    {
        let entries = index.to_vec();
        let Some(plan) = self.blocking(job, move |folder| clean(&folder, epoch, &entries)).await? else {
            return Ok(Repaired { stale: true, ..Repaired::default() });
        };
        let mut repaired = Repaired { found: plan.found, removed: plan.removed, ..Repaired::default() };
        let mut troubles = plan.troubles;
        for path in plan.wanted {
            // One file at a time: a workspace may be larger than the memory.
            let event = match read(path.clone()).await {
                Ok(Some(content)) => FileEvent::Written { path: path.clone(), content },
                Ok(None) => continue,
                Err(error) => {
                    troubles.push(MirrorTrouble::new(format!("the content of `{path}` could not be loaded ({error})")));
                    continue;
                }
            };
            match self.blocking(job, move |folder| super::apply::show(&folder, epoch, event)).await {
                Ok(super::Applied::Written) => repaired.written.push(path),
                Ok(_) => return Ok(Repaired { stale: true, ..repaired }),
                Err(trouble) => troubles.push(trouble),
            }
        }
        log_removed(job, &repaired);
        MirrorTrouble::of_all(troubles)?;
        self.blocking(job, move |folder| marker::write(&folder, Marker { epoch, step, done: false })).await?;
        Ok(repaired)
    }
}

/// What is left to do after the strays are gone.
struct Plan {
    wanted: Vec<String>,
    removed: Vec<String>,
    found: Vec<Found>,
    troubles: Vec<MirrorTrouble>,
}

/// Looks, and removes what no row knows. `None` when a newer epoch has the job.
fn clean(folder: &Folder, epoch: i64, index: &[IndexEntry]) -> Result<Option<Plan>, MirrorTrouble> {
    if !claim(folder, epoch, marker::read(folder))? {
        return Ok(None);
    }
    folder.sweep_temporaries().map_err(|error| MirrorTrouble::at("empty", ".plumbline/tmp", &error))?;
    folder.make_usual().map_err(|error| MirrorTrouble::at("make the usual folders in", ".", &error))?;
    let survey = survey(folder, index)?;
    let mut plan = Plan { wanted: survey.wanted, removed: Vec::new(), found: survey.found, troubles: Vec::new() };
    for path in survey.strays {
        match folder.remove(&path) {
            Ok(()) => plan.removed.push(path),
            Err(error) => plan.troubles.push(MirrorTrouble::at("remove", &path, &error)),
        }
    }
    Ok(Some(plan))
}

/// What was written is the caller's to tell; what was removed is named here, so that a person who misses a file of
/// theirs finds out why.
fn log_removed(job: Uuid, repaired: &Repaired) {
    for path in &repaired.removed {
        tracing::warn!(job.id = %job, file.path = path, "mirror: removed a file that no row knows");
    }
}
