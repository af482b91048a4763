//! `plumbline prune`: ended jobs leave, with their rows and their folders.

use crate::{
    arguments::PruneArguments,
    environment,
    failure::Failure,
    output::{self, thousands},
};
use plumbline_store::{Prunable, Retention, Store};
use plumbline_worker::mirror::Mirror;
use serde_json::json;

pub(crate) async fn run(arguments: PruneArguments) -> Result<u8, Failure> {
    let store = environment::store().await?;
    let statuses = arguments.status.iter().map(|status| status.as_str().to_owned()).collect();
    let retention = Retention { older_than: arguments.older_than, statuses, also_pending: arguments.also_pending };
    let found = store.prunable(&retention).await?;
    if arguments.json && (found.is_empty() || arguments.dry_run) {
        output::json(&json!({ "would_delete": found, "deleted_jobs": 0, "deleted_folders": 0 }))?;
        return Ok(0);
    }
    if found.is_empty() {
        output::print(
            "nothing to delete: no job ended that long ago, or what follows it has not ended, or its requirements wait for a \
             validator (--also-pending deletes them too)",
        )?;
        return Ok(0);
    }
    if arguments.dry_run {
        output::print(&format!("would delete {}", describe(&found)))?;
        return Ok(0);
    }
    let mirror = Mirror::new(environment::workspace_dir());
    let pruned = prune(&store, &retention, &mirror).await?;
    if arguments.json {
        output::json(&json!({ "deleted_jobs": pruned.jobs, "deleted_folders": pruned.folders }))?;
    } else {
        output::print(&format!("deleted {} and {}", count(pruned.jobs, "job"), count(pruned.folders, "folder")))?;
    }
    if let Some(sentence) = pruned.left_behind {
        return Err(Failure::new(sentence));
    }
    Ok(0)
}

#[derive(Default)]
struct Pruned {
    jobs: i64,
    folders: i64,
    /// A folder that could not be deleted, with the reason; the rows are gone all the same.
    left_behind: Option<String>,
}

/// The rows first: a folder is a view of them, and one that stays for an interrupted prune does no harm.
async fn prune(store: &Store, retention: &Retention, mirror: &Mirror) -> Result<Pruned, Failure> {
    let mut pruned = Pruned::default();
    loop {
        let jobs = store.prune(retention).await?;
        if jobs.is_empty() {
            return Ok(pruned);
        }
        for job in jobs {
            pruned.jobs += 1;
            match mirror.remove(job).await {
                Ok(removed) => pruned.folders += i64::from(removed),
                Err(error) => {
                    pruned.left_behind = Some(format!(
                        "the folder {} of a deleted job could not be removed ({error}); delete it by hand",
                        mirror.path(job).display()
                    ));
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
        count(jobs, "job"),
        by_status.join(", "),
        count(steps, "step"),
        oldest.unwrap_or_default()
    )
}

fn count(number: i64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(number), if number == 1 { "" } else { "s" })
}
