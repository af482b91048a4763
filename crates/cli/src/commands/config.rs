//! `plumbline config show` and `config check`.

use crate::{arguments::ConfigCommand, environment, error::Failure, output};
use plumbline_config::{ConfigRegistry, Origin};
use plumbline_engine::Phases;
use plumbline_job_setup::{ForeignTool, foreign_tools_by_type};
use serde_json::{Value, json};

pub(crate) fn run(command: ConfigCommand) -> Result<u8, Failure> {
    match command {
        ConfigCommand::Show { job_type, origin } => {
            let (configs, env) = (environment::configs()?, environment::model_env()?);
            match origin {
                true => output::print(&origins(&configs.origins(&job_type, &env)?))?,
                false => output::json(&configs.show(&job_type, &json!({}), &env)?.config)?,
            }
            Ok(0)
        }
        ConfigCommand::Check { dir, json } => {
            let configs = match dir {
                Some(dir) => environment::configs_of(&dir)?,
                None => environment::configs()?,
            };
            check(&configs, json)
        }
    }
}

/// One JSON object, a key a line, so that people and `grep` can read it as well.
fn origins(origins: &[Origin]) -> String {
    let line = |one: &Origin| format!("  {}: {}", json!(one.key), json!({"value": one.value, "origin": one.place}));
    let lines: Vec<String> = origins.iter().map(line).collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}

fn check(configs: &ConfigRegistry, as_json: bool) -> Result<u8, Failure> {
    let env = environment::model_env()?;
    let problems: Vec<String> = configs.check(&env).iter().map(ToString::to_string).collect();
    let job_types = configs.job_types();
    let warnings: Vec<String> = configs.warnings(&env).iter().map(ToString::to_string).collect();
    if !as_json {
        for warning in &warnings {
            output::print(&format!("warning: {warning}"))?;
        }
    }
    let tools = foreign_tools_by_type(configs, &env);
    if as_json {
        let tools: Vec<Value> = tools.iter().map(tool_json).collect();
        output::json(&json!({ "job_types": job_types, "problems": problems, "warnings": warnings, "tools": tools }))?;
        return ended(&problems);
    }
    for tool in &tools {
        output::print(&tool_line(tool))?;
    }
    if problems.is_empty() {
        let valid = if job_types.len() == 1 { "job type is valid" } else { "job types are valid" };
        output::print(&format!("{} {valid}: {}", job_types.len(), job_types.join(", ")))?;
    } else {
        output::print(&problems.join("\n"))?;
    }
    ended(&problems)
}

/// A tool as the model will see it.
fn tool_line(tool: &ForeignTool) -> String {
    let demand = if tool.is_deferred { ", loaded on demand" } else { "" };
    let ForeignTool { job_type, spec, tokens, .. } = tool;
    format!(
        "tool: {job_type}: {} ({}{demand}), {tokens} tokens: {} {}",
        spec.name,
        phases(spec.phases),
        spec.description,
        spec.parameters
    )
}

fn tool_json(tool: &ForeignTool) -> Value {
    let ForeignTool { job_type, spec, tokens, is_deferred } = tool;
    json!({
        "job_type": job_type, "name": spec.name, "description": spec.description, "schema": *spec.parameters,
        "phases": phases(spec.phases), "replay": spec.replay.as_str(), "tokens": tokens, "deferred": is_deferred,
    })
}

fn phases(phases: Phases) -> &'static str {
    match phases {
        Phases::Strategic => "strategic",
        Phases::Tactical => "tactical",
        Phases::Both => "strategic and tactical",
        Phases::Neither => "no phase",
    }
}

fn ended(problems: &[String]) -> Result<u8, Failure> {
    match problems.len() {
        0 => Ok(0),
        1 => {
            Err(Failure::new("the configurations have one error, printed on stdout with its file and line; correct it"))
        }
        many => Err(Failure::new(format!(
            "the configurations have {many} errors, printed on stdout with file and line; correct them"
        ))),
    }
}
