//! Which values of the job types the environment fills, and which a job type sets itself; budgets without prices.

use super::finding::Finding;
use plumbline_config::{ConfigRegistry, ModelEnv};

/// The variables that fill keys.
const FILLING: [(&str, &str); 3] = [
    ("PLUMBLINE_MODEL", "llm.model"),
    ("OPENAI_BASE_URL", "llm.base_url"),
    ("PLUMBLINE_MAX_ITERATIONS", "limits.max_iterations"),
];

/// One line per variable that is set, then one per warning about the configurations.
pub(super) fn findings(configs: &ConfigRegistry, env: &ModelEnv) -> Vec<Finding> {
    let is_set = [env.model.is_some(), env.base_url.is_some(), env.max_iterations.is_some()];
    let set = FILLING.into_iter().zip(is_set).filter(|(_, is_set)| *is_set);
    let lines = set.map(|((variable, key), _)| line(configs, env, variable, key));
    let warnings = configs.warnings(env);
    lines.chain(warnings.iter().map(|warning| Finding::note("configuration", warning.to_string()))).collect()
}

fn line(configs: &ConfigRegistry, env: &ModelEnv, variable: &str, key: &str) -> Finding {
    let (mut filled, mut own) = (Vec::new(), Vec::new());
    for job_type in configs.job_types() {
        // Another check reports types that do not resolve.
        let Ok(origins) = configs.origins(job_type, env) else { continue };
        let Some(origin) = origins.into_iter().find(|origin| origin.key == key) else { continue };
        match origin.place.contains(variable) {
            true => filled.push(job_type.to_owned()),
            false => own.push(format!("{job_type} has its own ({})", origin.place)),
        }
    }
    let fills = match filled.is_empty() {
        true => format!("{variable} sets `{key}` for no job type"),
        false => format!("{variable} sets `{key}` for {}", filled.join(", ")),
    };
    let own = own.into_iter().map(|own| format!("; {own}")).collect::<String>();
    Finding::ok("environment", fills + &own)
}
