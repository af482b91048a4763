//! `plumbline config show` and `config check`.

use crate::{arguments::ConfigCommand, environment, failure::Failure, output};
use plumbline_worker::config::Configs;
use serde_json::json;

pub(crate) fn run(command: ConfigCommand) -> Result<u8, Failure> {
    match command {
        ConfigCommand::Show { job_type } => {
            let resolved = environment::configs()?.show(&job_type, &json!({}), &environment::model_env()?)?;
            output::json(&resolved.config)?;
            Ok(0)
        }
        ConfigCommand::Check { dir, json } => {
            let configs = match dir {
                Some(dir) => Configs::from_dir(&dir)?,
                None => environment::configs()?,
            };
            check(&configs, json)
        }
    }
}

fn check(configs: &Configs, as_json: bool) -> Result<u8, Failure> {
    let mut catalog = plumbline_engine::tools::specs();
    catalog.extend(plumbline_effects::tools::catalog());
    let problems = configs.check(&catalog);
    if as_json {
        let list: Vec<String> = problems.iter().map(ToString::to_string).collect();
        output::json(&json!({ "job_types": configs.job_types(), "problems": list }))?;
        return Ok(u8::from(!problems.is_empty()));
    }
    for problem in &problems {
        output::print(&problem.to_string())?;
    }
    if problems.is_empty() {
        output::print(&format!(
            "{} job types are in order: {}",
            configs.job_types().len(),
            configs.job_types().join(", ")
        ))?;
    }
    Ok(u8::from(!problems.is_empty()))
}
