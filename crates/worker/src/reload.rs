//! Reloads changed configurations, prompts and instructions for new jobs without a restart: changed files that validate
//! are used. Others are rejected, and the old ones stay in use.

use crate::{app::App, worker::registration};
use plumbline_bounds::blocking::on_files;
use plumbline_config::{ConfigRegistry, ModelEnv, Problem};
use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};
use tracing::{info, warn};

/// Changed files are read again after this time, so that a partially written file is not used.
const SETTLE: Duration = Duration::from_millis(250);

/// The current configurations.
#[derive(Debug)]
pub(crate) struct Live {
    now: RwLock<Arc<Served>>,
    env: ModelEnv,
    /// The job types that this worker is asked to run; all if not specified.
    asked: Option<Vec<String>>,
}

/// Configurations, and the job types that this worker serves with them.
#[derive(Debug)]
pub(crate) struct Served {
    /// Changes with the configurations.
    pub(crate) version: u64,
    /// For jobs that start now.
    pub(crate) configs: Arc<ConfigRegistry>,
    /// The job types that it claims.
    pub(crate) job_types: Vec<String>,
    /// The job types that it would claim if their files resolved, with the error: file, line and reason.
    pub(crate) broken: BTreeMap<String, String>,
}

impl Served {
    fn new(version: u64, configs: ConfigRegistry, env: &ModelEnv, asked: Option<&[String]>) -> Self {
        let is_asked = |job_type: &str| asked.is_none_or(|asked| asked.iter().any(|name| name == job_type));
        let mut broken = configs.broken(env);
        broken.retain(|job_type, _| is_asked(job_type));
        let known = configs.job_types().into_iter().filter(|name| is_asked(name) && !broken.contains_key(*name));
        let job_types = known.map(str::to_owned).collect();
        Self { version, configs: Arc::new(configs), job_types, broken }
    }

    /// The errors in the files, each sentence once; none if all job types resolve.
    pub(crate) fn trouble(&self) -> Option<String> {
        let sentences: HashSet<&str> = self.broken.values().map(String::as_str).collect();
        let mut sentences: Vec<&str> = sentences.into_iter().collect();
        sentences.sort_unstable();
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }
}

impl Live {
    /// Configurations with this environment, for a worker that is asked to run these job types.
    pub(crate) fn new(configs: ConfigRegistry, env: &ModelEnv, asked: Option<&[String]>) -> Self {
        let served = Served::new(0, configs, env, asked);
        Self { now: RwLock::new(Arc::new(served)), env: env.clone(), asked: asked.map(<[String]>::to_vec) }
    }

    /// The current configurations.
    pub(crate) fn now(&self) -> Arc<Served> {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn take(&self, configs: ConfigRegistry) {
        let next = Served::new(self.now().version + 1, configs, &self.env, self.asked.as_deref());
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
    }
}

/// Logs which job types this worker does not serve, and why.
pub(crate) fn log_broken_types(app: &App) {
    let served = app.live.now();
    for (job_type, reason) in &served.broken {
        warn!(job.r#type = job_type, reason, "not claiming jobs of this type: its configuration files do not resolve");
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
