//! `plumbline eval`: compares what runs found with a gold list.

mod rows;
mod table;

use super::replay;
use crate::{arguments::EvalArguments, environment, error::Failure, output};
use plumbline_tools::evaluation::{Evaluation, Gold, Run, evaluate};
use serde_json::json;
use std::path::Path;

pub(crate) async fn run(arguments: EvalArguments) -> Result<u8, Failure> {
    let gold = gold(&arguments.gold)?;
    let mut runs = Vec::new();
    if !arguments.jobs.is_empty() {
        let store = environment::store().await?;
        for job in &arguments.jobs {
            let id = job.find(&store).await?;
            runs.push(rows::run(id.to_string(), &replay::of_job(&store, id).await?));
        }
    }
    for file in &arguments.recordings {
        runs.push(rows::run(file.display().to_string(), &replay::of_file(file)?));
    }
    let of = |run: &Run| evaluate(&gold, run, arguments.recall_only);
    let found: Vec<Evaluation> = runs.iter().map(of).collect();
    match arguments.json {
        true => output::json(&json!({ "runs": found }))?,
        false => output::print(&table::of(&found))?,
    }
    Ok(0)
}

fn gold(file: &Path) -> Result<Vec<Gold>, Failure> {
    let name = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::new(format!("the gold list {name} could not be read ({error}); check its path")))?;
    Gold::read(&text).map_err(|error| Failure::usage(format!("{name}: {error}")))
}
