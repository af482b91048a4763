//! `plumbline trace`: requests, answers and effects of a job, step by step.
//!
//! Steps are read in pages and printed immediately, so that the first ones of a long job appear at once.

mod export;
mod text;

use crate::{arguments::TraceArguments, error::Failure, output, terminal::Look};
use plumbline_store::{Store, TracePage, TraceStep};
use uuid::Uuid;

/// Steps per page: a few hundred messages.
const PAGE: i64 = 50;

pub(crate) async fn run(arguments: TraceArguments) -> Result<u8, Failure> {
    let (store, job) = arguments.job.open().await?;
    if let Some(path) = &arguments.export {
        return export::run(&store, job, path).await;
    }
    let Some(detail) = store.job_detail(job).await? else {
        return Err(output::no_job(job));
    };
    let show = |step: &TraceStep| show(step, arguments.json, arguments.step.is_some());
    match arguments.step {
        Some(step) => one(&store, job, step, show).await?,
        None => {
            if detail.step == 0 && !arguments.json {
                output::print(&format!("job {job} is {} and has not taken a step yet", detail.status))?;
            }
            all(&store, job, show).await?;
        }
    }
    Ok(0)
}

async fn one(
    store: &Store,
    job: Uuid,
    step: i64,
    show: impl Fn(&TraceStep) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let page = TracePage { after: step.saturating_sub(1), until: step, limit: 1 };
    match store.trace(job, page).await?.first() {
        Some(step) => show(step),
        None => Err(Failure::new(format!("job {job} has no step {step}; `plumbline trace {job}` shows its steps"))),
    }
}

/// Up to the last step at the time it is reached, so that a running job's newest steps are included.
async fn all(store: &Store, job: Uuid, show: impl Fn(&TraceStep) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut after = 0;
    loop {
        let steps = store.trace(job, TracePage { after, until: i64::MAX, limit: PAGE }).await?;
        let Some(last) = steps.last() else {
            return Ok(());
        };
        after = last.step;
        for step in &steps {
            show(step)?;
        }
    }
}

fn show(step: &TraceStep, as_json: bool, full: bool) -> Result<(), Failure> {
    if as_json {
        let line = serde_json::to_string(step)
            .map_err(|error| Failure::new(format!("step {} could not be written as JSON: {error}", step.step)))?;
        return output::print(&line);
    }
    output::print(&text::render(step, full, Look::of_stdout()))
}
