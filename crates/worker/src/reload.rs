//! Reloads changed configurations, prompts and instructions for new jobs without a restart: changed files that validate
//! are used. Others are rejected, and the old ones stay in use.

use crate::{app::App, worker::registration};
use plumbline_bounds::blocking::on_files;
use plumbline_config::{ConfigRegistry, ModelEnv, Problem};
use std::{collections::HashSet, sync::Arc, time::Duration};
use tracing::{info, warn};

/// Changed files are read again after this time, so that a partially written file is not used.
const SETTLE: Duration = Duration::from_millis(250);

/// Logs which job types this worker does not serve, and why.
pub(crate) fn log_broken_types(app: &App) {
    let served = app.live.now();
    for (job_type, reason) in &served.broken {
        warn!(job.r#type = job_type, reason, "not claiming jobs of this type: its configuration files do not resolve");
    }
    for job_type in &served.unknown {
        let known = served.configs.job_types().join(", ");
        warn!(
            job.r#type = job_type,
            known, "not claiming jobs of this type: --job-types names it, and it has no files"
        );
    }
    app.health.serves(served.job_types.is_empty(), served.trouble());
}

/// Checks the files for as long as the worker lives.
pub(crate) async fn watch(app: Arc<App>) {
    if !app.live.now().configs.has_folders() {
        return;
    }
    loop {
        tokio::time::sleep(app.options.timing.heartbeat).await;
        look(&app).await;
    }
}

async fn look(app: &Arc<App>) {
    let before = app.live.now().configs.clone();
    let Some(read) = reread(&before).await else { return };
    match read {
        Err(error) => refuse(app, error),
        Ok(found) if found == *before => {
            if app.health.refuses_files(None) {
                info!("configuration files match those in use again");
            }
        }
        Ok(found) => match new_problems(&before, &found, &app.options.model_env) {
            problems if problems.is_empty() => take(app, found).await,
            problems => refuse(app, problems.join("; ")),
        },
    }
}

/// The current files, unless they are being written.
async fn reread(before: &Arc<ConfigRegistry>) -> Option<Result<ConfigRegistry, String>> {
    let read = || {
        let before = before.clone();
        async move {
            let read = on_files(move || before.reread().map_err(|error| error.to_string())).await;
            read.unwrap_or_else(|error| Err(format!("the files could not be read ({error})")))
        }
    };
    let first = read().await;
    if first.as_ref().is_ok_and(|found| found == &**before) {
        return Some(first);
    }
    tokio::time::sleep(SETTLE).await;
    let second = read().await;
    (first == second).then_some(second)
}

/// Errors in the new files that those in use do not have: a type that was broken before does not prevent fixes of
/// another.
fn new_problems(before: &ConfigRegistry, found: &ConfigRegistry, env: &ModelEnv) -> Vec<String> {
    let problems = |configs: &ConfigRegistry| configs.check(env).iter().map(Problem::to_string).collect::<Vec<_>>();
    let known: HashSet<String> = problems(before).into_iter().collect();
    problems(found).into_iter().filter(|problem| !known.contains(problem)).collect()
}

fn refuse(app: &App, reason: String) {
    if app.health.refuses_files(Some(reason.clone())) {
        warn!(reason, "rejected changed configuration files; new jobs keep using the previous ones");
    }
}

async fn take(app: &Arc<App>, found: ConfigRegistry) {
    app.secrets.relearn(&found, &app.options.model_env);
    app.live.take(found);
    app.health.refuses_files(None);
    log_broken_types(app);
    info!(job_types = app.live.now().job_types.join(", "), "reloaded configuration files; new jobs use them");
    // This worker may now serve more job types, or fewer; if the database is unavailable, the next registration writes
    // it.
    if let Err(error) = registration::write(app).await {
        warn!(%error, "could not update the worker's job types");
    }
    if let Err(error) = app.store.retry_waiting_for(plumbline_config::NO_MODEL).await {
        warn!(%error, "could not retry jobs that wait for a model; they are retried at their next scheduled time");
    }
}
