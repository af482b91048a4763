//! `plumbline doctor`: checks the prerequisites of jobs, one line each; exit code 1 if a required check fails.
//! `--invariants` checks the invariants of the rows instead, `--call` also checks whether each model calls a tool.
//!
//! Each failed line ends with the remedy. A check that depends on a failed one is skipped: an unreachable database has
//! no schema to check.

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

/// One line per violation. A dead worker's jobs may wait at most for one lease and the next sweep.
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
