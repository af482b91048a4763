//! The configuration files, one line per job type: whether its files resolve, by the same code as a worker's claim, and
//! whether its jobs have a model.

use super::finding::Finding;
use crate::environment;
use plumbline_config::{ConfigRegistry, ModelEnv};
use plumbline_engine::Purpose;
use serde_json::json;

/// The default type of rows without one, unless configured.
const DEFAULT: &str = "creator";

/// The findings, and the files if they are readable.
pub(super) async fn check() -> (Vec<Finding>, Option<ConfigRegistry>) {
    match environment::configs().and_then(|configs| Ok((configs, environment::model_env()?))) {
        Err(failure) => (vec![Finding::fail("configuration", failure.to_string())], None),
        Ok((configs, env)) => {
            let broken = configs.broken(&env);
            let default = default_job_type().await;
            let line = |job_type: &str| match broken.get(job_type) {
                Some(reason) => Finding::fail("job type", format!("{job_type}: {reason}")),
                None => of_type(&configs, &env, job_type, job_type == default),
            };
            let mut findings: Vec<Finding> = configs.job_types().into_iter().map(line).collect();
            findings.extend(without_default(&configs, &default));
            (findings, Some(configs))
        }
    }
}

async fn default_job_type() -> String {
    let of_database = async || {
        let store = environment::connect(&environment::database_url().ok()?).await.ok()?;
        store.default_job_type().await.ok()
    };
    match environment::default_job_type() {
        Some(job_type) => job_type,
        None => of_database().await.unwrap_or_else(|| DEFAULT.to_owned()),
    }
}

fn of_type(configs: &ConfigRegistry, env: &ModelEnv, job_type: &str, is_default: bool) -> Finding {
    match configs.resolve(job_type, &json!({}), env) {
        Ok(resolved) => {
            let llm = resolved.llm(Purpose::Tactical);
            let (model, address) = (llm.model.unwrap_or_default(), llm.base_url.unwrap_or_default());
            Finding::ok("job type", format!("{job_type} uses {model} at {address}"))
        }
        Err(error) if is_default => {
            let text = format!("{job_type}, the default job type: {error}");
            Finding::fail("job type", text)
        }
        Err(error) => Finding::note("job type", format!("{job_type}: {error}")),
    }
}

fn without_default(configs: &ConfigRegistry, default: &str) -> Option<Finding> {
    let text = || {
        format!(
            "the default job type `{default}` is not in these files: a worker with these files does not claim rows \
             without a job type; set PLUMBLINE_DEFAULT_JOB_TYPE for `plumbline migrate` and `plumbline enqueue`"
        )
    };
    (!configs.job_types().contains(&default)).then(|| Finding::note("job type", text()))
}
