//! Changed configurations, prompts and instructions reach new jobs without a restart: the files are read anew, and what has
//! changed and validates is taken. What does not is refused, and the old stays.

use crate::{app::App, worker::registration};
use plumbline_bounds::blocking::on_files;
use plumbline_config::{ConfigRegistry, ModelEnv, Problem};
use plumbline_engine::ToolSpec;
use std::{
    collections::HashSet,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};
use tracing::{info, warn};

/// Files that change are looked at once more after this, so that none is taken half written.
const SETTLE: Duration = Duration::from_millis(250);

/// The configurations of now.
#[derive(Debug)]
pub(crate) struct Live {
    now: RwLock<(u64, Arc<ConfigRegistry>)>,
}

impl Live {
    pub(crate) fn new(configs: ConfigRegistry) -> Self {
        Self { now: RwLock::new((0, Arc::new(configs))) }
    }

    /// The configurations for jobs that start now.
    pub(crate) fn now(&self) -> Arc<ConfigRegistry> {
        self.read().1
    }

    /// The same with their number, which changes with them.
    pub(crate) fn read(&self) -> (u64, Arc<ConfigRegistry>) {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn take(&self, configs: ConfigRegistry) {
        let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
        *now = (now.0 + 1, Arc::new(configs));
    }
}

/// Looks at the files for as long as the worker lives.
pub(crate) async fn watch(app: Arc<App>) {
    if !app.live.now().has_folders() {
        return;
    }
    loop {
        tokio::time::sleep(app.options.timing.heartbeat).await;
        look(&app).await;
    }
}

async fn look(app: &Arc<App>) {
    let before = app.live.now();
    let Some(read) = reread(&before).await else { return };
    match read {
        Err(error) => refuse(app, error),
        Ok(found) if found == *before => {
            if app.health.refuses_files(None) {
                info!("the configuration files are again those in use");
            }
        }
        Ok(found) => match new_problems(&before, &found, &app.options.model_env) {
            problems if problems.is_empty() => take(app, found).await,
            problems => refuse(app, problems.join("; ")),
        },
    }
}

/// The files as they are, unless they are being written.
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

/// What is wrong with the new files and was not with those in use: a type that was broken before keeps no other from being
/// mended.
fn new_problems(before: &ConfigRegistry, found: &ConfigRegistry, env: &ModelEnv) -> Vec<String> {
    let catalog = catalog();
    let problems =
        |configs: &ConfigRegistry| configs.check(&catalog, env).iter().map(Problem::to_string).collect::<Vec<_>>();
    let known: HashSet<String> = problems(before).into_iter().collect();
    problems(found).into_iter().filter(|problem| !known.contains(problem)).collect()
}

fn catalog() -> Vec<ToolSpec> {
    let mut catalog = plumbline_engine::tools::specs();
    catalog.extend(plumbline_tools::catalog());
    catalog
}

fn refuse(app: &App, reason: String) {
    if app.health.refuses_files(Some(reason.clone())) {
        warn!(reason, "changed configuration files are refused; jobs start with those of before");
    }
}

async fn take(app: &Arc<App>, found: ConfigRegistry) {
    app.secrets.learn_anew(&found, &app.options.model_env);
    app.live.take(found);
    app.health.refuses_files(None);
    info!(job_types = app.live.now().job_types().join(", "), "changed configuration files are in use for new jobs");
    // What this worker can run may be more now, or less; where the database is away, the next registration says it.
    if let Err(error) = registration::write(app).await {
        warn!(%error, "the worker's job types could not be written");
    }
}
