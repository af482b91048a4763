//! `plumbline replay`: runs recorded jobs with this version, without a model.

use crate::{
    arguments::ReplayArguments,
    environment,
    error::Failure,
    job_ref::JobRef,
    output::{self, counted},
};
use plumbline_replay::{OtherConfig, Recording, Replayed};
use plumbline_store::Store;
use serde_json::json;
use std::path::Path;
use uuid::Uuid;

pub(crate) async fn run(arguments: ReplayArguments) -> Result<u8, Failure> {
    let program = environment::program()?;
    let (configs, env) =
        (arguments.config.as_deref().map(environment::configs_of).transpose()?, environment::model_env()?);
    let several = arguments.recordings.len() > 1;
    let mut code = 0;
    for name in &arguments.recordings {
        let recording = read(name).await?;
        let replayed = match &configs {
            None => plumbline_replay::replay(&recording, &program).await,
            Some(configs) => {
                plumbline_replay::replay_under(&recording, &program, OtherConfig { configs, env: &env }).await
            }
        };
        let replayed = replayed.map_err(|error| Failure::new(format!("{name} cannot be replayed: {error}")))?;
        if arguments.json {
            output::json_line(&json!({
                "recording": name, "job": recording.job.id, "steps": replayed.steps, "requests": replayed.requests,
                "difference": replayed.difference,
            }))?;
        } else {
            let said = sentence(&replayed);
            output::print(&if several { format!("{name}: {said}") } else { said })?;
            let diff = replayed.difference.as_ref().map(|difference| difference.diff.as_str()).unwrap_or_default();
            if configs.is_some() && !diff.is_empty() {
                output::print(diff)?;
            }
        }
        code = code.max(u8::from(replayed.difference.is_some()));
    }
    Ok(code)
}

/// A job by its id or a prefix of it, or a recording by its file.
async fn read(name: &str) -> Result<Recording, Failure> {
    let path = Path::new(name);
    match (Uuid::parse_str(name), name.parse::<JobRef>()) {
        (Err(_), Ok(_)) if path.exists() => of_file(path),
        (_, Ok(job)) => {
            let store = environment::store().await?;
            of_job(&store, job.find(&store).await?).await
        }
        (_, Err(_)) => of_file(path),
    }
}

/// The recording of a job in the database.
pub(super) async fn of_job(store: &Store, job: Uuid) -> Result<Recording, Failure> {
    let rows = store.recording(job).await?;
    rows.map(Recording::of).ok_or_else(|| output::no_job(job))
}

/// The recording in a file.
pub(super) fn of_file(path: &Path) -> Result<Recording, Failure> {
    let text = std::fs::read(path).map_err(|error| {
        Failure::new(format!(
            "the recording {} could not be read ({error}); give a job's id, or a file that `plumbline trace JOB \
             --export FILE` wrote",
            path.display()
        ))
    })?;
    Recording::from_json(&text)
        .map_err(|error| Failure::new(format!("the recording {} cannot be read: {error}", path.display())))
}

fn sentence(replayed: &Replayed) -> String {
    match &replayed.difference {
        Some(difference) => difference.to_string(),
        None => {
            format!("{}, {}, no difference", counted(replayed.steps, "step"), counted(replayed.requests, "request"))
        }
    }
}
