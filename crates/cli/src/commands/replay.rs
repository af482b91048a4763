//! `plumbline replay`: recorded jobs done again by this version, without a model.

use crate::{
    arguments::ReplayArguments,
    environment,
    failure::Failure,
    output::{self, thousands},
};
use plumbline_worker::replay::{self, Recording, Replayed};
use serde_json::json;
use std::path::Path;
use uuid::Uuid;

pub(crate) async fn run(arguments: ReplayArguments) -> Result<u8, Failure> {
    let program = environment::program()?;
    let several = arguments.recordings.len() > 1;
    let mut code = 0;
    for name in &arguments.recordings {
        let recording = read(name).await?;
        let replayed = replay::replay(&recording, &program)
            .await
            .map_err(|error| Failure::new(format!("{name} cannot be replayed: {error}")))?;
        if arguments.json {
            output::json_line(&json!({
                "recording": name, "job": recording.job.id, "steps": replayed.steps, "requests": replayed.requests,
                "difference": replayed.difference,
            }))?;
        } else {
            let said = sentence(&replayed);
            output::print(&if several { format!("{name}: {said}") } else { said })?;
        }
        code = code.max(u8::from(replayed.difference.is_some()));
    }
    Ok(code)
}

/// A job by its id, or a recording by its file.
async fn read(name: &str) -> Result<Recording, Failure> {
    match Uuid::parse_str(name) {
        Ok(job) => of_job(job).await,
        Err(_) => of_file(Path::new(name)),
    }
}

/// The recording of a job in the database.
pub(super) async fn of_job(job: Uuid) -> Result<Recording, Failure> {
    let rows = environment::store().await?.recording(job).await?;
    rows.map(Recording::of).ok_or_else(|| output::no_job(job))
}

fn of_file(path: &Path) -> Result<Recording, Failure> {
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
        None => format!("{}, {}, no difference", count(replayed.steps, "step"), count(replayed.requests, "request")),
    }
}

fn count(number: usize, thing: &str) -> String {
    let digits = thousands(i64::try_from(number).unwrap_or(i64::MAX));
    format!("{digits} {thing}{}", if number == 1 { "" } else { "s" })
}
