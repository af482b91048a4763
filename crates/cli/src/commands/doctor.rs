//! `plumbline doctor`: what a job needs, one line each; exit code 1 when a needed thing fails. With `--invariants`
//! instead whether the rows keep to the rules that hold whatever happens.

use crate::{arguments::DoctorArguments, environment, failure::Failure, output};
use chrono::Utc;
use plumbline_store::{Store, Violation};
use std::{path::Path, time::Duration};

/// Clocks that differ more than this confuse people who compare times; leases go by the database's clock alone.
const CLOCK_SKEW_S: i64 = 5;
/// Oldest Postgres with everything the schema uses, in the server's own numbering.
const LEAST_POSTGRES: i32 = 150_000;

enum Finding {
    Good(String),
    /// Works, but an operator should know.
    Note(String),
    Bad(String),
}

pub(crate) async fn run(arguments: DoctorArguments) -> Result<u8, Failure> {
    report(if arguments.invariants { invariants().await? } else { everything().await })
}

async fn everything() -> Vec<Finding> {
    let mut findings = database().await;
    findings.push(workspace(&environment::workspace_dir()));
    findings.push(configuration());
    findings.push(model().await);
    findings
}

/// A violation a line. A dead worker's jobs may wait for one lease and the next sweep, no longer.
async fn invariants() -> Result<Vec<Finding>, Failure> {
    let timing = environment::timing()?;
    let store = environment::store().await?;
    let broken = store.invariants(timing.lease + timing.heartbeat * 2).await?;
    if broken.is_empty() {
        return Ok(vec![Finding::Good("invariants: all hold".into())]);
    }
    let line = |one: &Violation| Finding::Bad(format!("{} (job {}): {}", one.rule, one.job_id, one.found));
    Ok(broken.iter().map(line).collect())
}

fn report(findings: Vec<Finding>) -> Result<u8, Failure> {
    let mut failed = false;
    for finding in findings {
        let line = match finding {
            Finding::Good(text) => format!("ok    {text}"),
            Finding::Note(text) => format!("note  {text}"),
            Finding::Bad(text) => {
                failed = true;
                format!("FAIL  {text}")
            }
        };
        output::print(&line)?;
    }
    Ok(u8::from(failed))
}

async fn database() -> Vec<Finding> {
    let store = match environment::database_url() {
        Err(_) => return vec![Finding::Bad("database: DATABASE_URL is not set".into())],
        Ok(url) => match environment::connect(&url).await {
            Err(failure) => return vec![Finding::Bad(format!("database: {failure}"))],
            Ok(store) => store,
        },
    };
    let mut findings = vec![server(&store).await];
    findings.push(match store.check_schema().await {
        Ok(()) => Finding::Good("schema: up to date".into()),
        Err(error) => Finding::Bad(format!("schema: {error}")),
    });
    if let Ok(counts) = store.queue_counts(None).await {
        let text = format!(
            "queue: {} runnable, {} later, {} running, {} live workers",
            counts.runnable, counts.later, counts.running, counts.live_workers
        );
        let unserved = counts.runnable > 0 && counts.live_workers == 0;
        findings.push(if unserved {
            Finding::Note(format!("{text}; no worker is running, start one with `plumbline worker`"))
        } else {
            Finding::Good(text)
        });
    }
    findings
}

async fn server(store: &Store) -> Finding {
    match store.health().await {
        Err(error) => Finding::Bad(format!("database: {error}")),
        Ok(health) if health.server_version_num < LEAST_POSTGRES => {
            Finding::Bad(format!("database: PostgreSQL {} is too old, 15 or newer is needed", health.server_version))
        }
        Ok(health) if health.read_only => {
            Finding::Bad("database: the server takes no writes (a standby?); connect to the primary".into())
        }
        Ok(health) => {
            let skew = (health.server_time - Utc::now()).num_seconds().abs();
            if skew > CLOCK_SKEW_S {
                Finding::Note(format!("database: its clock differs from this machine's by {skew} s"))
            } else {
                Finding::Good(format!("database: PostgreSQL {}", health.server_version))
            }
        }
    }
}

fn workspace(dir: &Path) -> Finding {
    let probe = dir.join(format!(".plumbline-doctor-{}", std::process::id()));
    let tried = std::fs::create_dir_all(dir)
        .and_then(|()| std::fs::write(&probe, b"ok"))
        .and_then(|()| std::fs::remove_file(&probe));
    match tried {
        Ok(()) => Finding::Good(format!("workspace: {} can be written", dir.display())),
        // The mirror is a view: jobs run without it.
        Err(error) => Finding::Note(format!(
            "workspace: {} cannot be written ({error}); jobs run, but their files are not shown there",
            dir.display()
        )),
    }
}

fn configuration() -> Finding {
    let mut catalog = plumbline_engine::tools::specs();
    catalog.extend(plumbline_effects::tools::catalog());
    match environment::configs() {
        Err(failure) => Finding::Bad(format!("configuration: {failure}")),
        Ok(configs) => match configs.check(&catalog).first() {
            None => Finding::Good(format!("configuration: {}", configs.job_types().join(", "))),
            Some(problem) => Finding::Bad(format!("configuration: {problem}")),
        },
    }
}

async fn model() -> Finding {
    let Some(base_url) = environment::var("OPENAI_BASE_URL") else {
        return Finding::Note(
            "model: OPENAI_BASE_URL is not set; set it, or `llm.base_url` in each job type's configuration".into(),
        );
    };
    match plumbline_effects::model::reachable(&base_url, Duration::from_secs(5)).await {
        Ok(()) => Finding::Good(format!("model: {base_url} answers")),
        Err(reason) => Finding::Bad(format!("model: {base_url} does not answer ({reason})")),
    }
}
