//! `plumbline prune`: deletes ended jobs with their rows and folders. A folder on another machine, or one that cannot
//! be removed here, is left to the workers (see `deleted_jobs`), and counted.

use crate::{
    arguments::PruneArguments,
    environment,
    error::Failure,
    output::{self, counted, thousands},
    terminal::printable,
};
use plumbline_mirror::Mirror;
use plumbline_store::{KeptJobs, Prunable, Retention, Store};
use serde_json::json;

pub(crate) async fn run(arguments: PruneArguments) -> Result<u8, Failure> {
    let store = environment::store().await?;
    let PruneArguments { older_than, status: statuses, also_pending, dry_run, json } = arguments;
    let retention = Retention { older_than, statuses, also_pending };
    let found = store.prunable(&retention).await?;
    let kept = store.kept(&retention).await?;
    if found.is_empty() || dry_run {
        match json {
            true => output::json(&json!({
                "would_delete": found, "deleted_jobs": 0, "deleted_folders": 0, "left_behind": 0, "kept": kept,
            }))?,
            false if found.is_empty() => output::print("nothing to delete: no prunable job ended that long ago")?,
            false => output::print(&format!("would delete {}", describe(&found)))?,
        }
        return if json { Ok(0) } else { say_kept(&kept) };
    }
    let mirror = Mirror::new(environment::workspace_dir());
    let pruned = prune(&store, &retention, &mirror).await?;
    if json {
        output::json(&json!({
            "deleted_jobs": pruned.jobs, "deleted_folders": pruned.folders, "left_behind": pruned.elsewhere + pruned.stuck,
            "kept": kept,
        }))?;
    } else {
        output::print(&format!("deleted {} and {}", counted(pruned.jobs, "job"), counted(pruned.folders, "folder")))?;
        say_kept(&kept)?;
    }
    pruned.warn();
    Ok(0)
}

/// Old jobs that are kept, one line per reason.
fn say_kept(kept: &[KeptJobs]) -> Result<u8, Failure> {
    for KeptJobs { reason, jobs } in kept {
        let why = match reason.as_str() {
            "followed" => "a follow-up job has not ended",
            "validating" => "a validator holds requirements",
            _ => "requirements are pending validation; run a validator, or delete them too with --also-pending",
        };
        output::print(&format!("kept {}: {why}", counted(*jobs, "job")))?;
    }
    Ok(0)
}

#[derive(Default)]
struct Pruned {
    jobs: i64,
    folders: i64,
    /// Jobs that ran and have no folder here.
    elsewhere: i64,
    /// Folders that could not be removed, with the error of the last one; their rows are deleted anyway.
    stuck: i64,
    trouble: Option<String>,
}

impl Pruned {
    /// The remaining folders, and who removes them.
    fn warn(&self) {
        if self.elsewhere > 0 {
            eprintln!(
                "plumbline: warning: {} had no folder under PLUMBLINE_WORKSPACE_DIR on this machine; workers on other \
                 machines remove theirs within minutes",
                counted(self.elsewhere, "deleted job")
            );
        }
        if let Some(trouble) = &self.trouble {
            eprintln!(
                "plumbline: warning: {} could not be removed from here ({}); a worker with this volume tries again",
                counted(self.stuck, "folder"),
                printable(trouble, false)
            );
        }
    }
}

/// The rows first: a folder is derived from them, and one left by an interrupted prune is harmless.
async fn prune(store: &Store, retention: &Retention, mirror: &Mirror) -> Result<Pruned, Failure> {
    let mut pruned = Pruned::default();
    loop {
        let jobs = store.prune(retention).await?;
        if jobs.is_empty() {
            return Ok(pruned);
        }
        for job in jobs {
            pruned.jobs += 1;
            match mirror.remove(job.id).await {
                Ok(true) => pruned.folders += 1,
                Ok(false) => pruned.elsewhere += i64::from(job.ran),
                Err(error) => {
                    pruned.stuck += 1;
                    pruned.trouble = Some(format!("{}: {error}", mirror.path(job.id).display()));
                }
            }
        }
    }
}

fn describe(found: &[Prunable]) -> String {
    let jobs: i64 = found.iter().map(|group| group.jobs).sum();
    let steps: i64 = found.iter().map(|group| group.steps).sum();
    let by_status: Vec<String> =
        found.iter().map(|group| format!("{} {}", thousands(group.jobs), group.status)).collect();
    let oldest = found.iter().map(|group| group.oldest).min().map(|at| at.format("%Y-%m-%d").to_string());
    format!(
        "{} ({}) with {}; the oldest ended on {}",
        counted(jobs, "job"),
        by_status.join(", "),
        counted(steps, "step"),
        oldest.unwrap_or_default()
    )
}
