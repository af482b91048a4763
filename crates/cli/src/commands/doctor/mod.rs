//! `plumbline doctor`: what a job needs, one line each; exit code 1 when a needed thing fails. With `--invariants`
//! instead whether the rows keep to the rules that hold whatever happens, with `--call` also whether each model calls a tool.
//!
//! Each line that is not well ends with what to do. What can only be told once something else works is not asked: a
//! database that cannot be reached has no schema to complain about.

mod call;
mod database;
mod filled;
mod finding;
mod graph;
mod machine;
mod model;
mod types;

use crate::{arguments::DoctorArguments, environment, error::Failure};
use finding::{Finding, report};
use plumbline_store::Violation;

pub(crate) async fn run(arguments: DoctorArguments) -> Result<u8, Failure> {
    let findings = if arguments.invariants { invariants().await? } else { everything(arguments.call).await };
    report(&findings, arguments.json)
}

async fn everything(call: bool) -> Vec<Finding> {
    let mut findings = database::check().await;
    findings.push(machine::workspace(&environment::workspace_dir()));
    findings.extend(machine::timing());
    findings.extend(machine::http().await);
    let (of_types, configs) = types::check().await;
    findings.extend(of_types);
    if let (Some(configs), Ok(env)) = (&configs, environment::model_env()) {
        findings.extend(filled::findings(configs, &env));
    }
    findings.extend(model::check(configs.as_ref()).await);
    if let Some(configs) = &configs {
        if call {
            findings.extend(call::findings(configs).await);
        }
        findings.extend(model::secrets(configs));
        if let Ok(env) = environment::model_env() {
            findings.extend(graph::findings(configs, &env).await);
        }
    }
    findings
}

/// A violation a line. A dead worker's jobs may wait for one lease and the next sweep, no longer.
async fn invariants() -> Result<Vec<Finding>, Failure> {
    let timing = environment::timing()?;
    let store = environment::store().await?;
    let broken = store.invariants(timing.lease + timing.heartbeat * 2).await?;
    if broken.is_empty() {
        return Ok(vec![Finding::ok("invariants", "all hold")]);
    }
    let line =
        |one: &Violation| Finding::fail("invariants", format!("{} (job {}): {}", one.rule, one.job_id, one.found));
    Ok(broken.iter().map(line).collect())
}
