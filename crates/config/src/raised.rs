//! `limits` given to `resume_job`: they override those keys of one job, beyond the operator's bound and up to the
//! ceiling. The database has checked keys and numbers, and the ceiling as last reported by a worker; the operator's
//! files at the time of the resume are authoritative.

use super::{
    ConfigRegistry, ModelEnv, Resolved,
    error::Problem,
    keys::prices,
    layers::{Kind, Layer},
    resolved::llms,
};
use crate::{
    layers::merge::merge,
    rules::{check, validate},
};
use serde_json::{Value, json};

/// The place of a problem.
const RAISED: &str = "the limits given to resume_job";

impl ConfigRegistry {
    /// The ceilings of this job type; an empty object if it has none, or its files are currently invalid.
    pub fn limits_ceiling(&self, job_type: &str, env: &ModelEnv) -> Value {
        match self.show(job_type, &json!({}), env) {
            Ok(resolved) => Value::Object(resolved.config.limits_ceiling),
            Err(_) => json!({}),
        }
    }
}

impl Resolved {
    /// The same configuration with the limits given to `resume_job`; null if none were given.
    ///
    /// # Errors
    /// A sentence, if a limit is above `ceiling`, is invalid, or contradicts the others.
    pub fn with_raised_limits(mut self, raised: &Value, ceiling: &Value) -> Result<Self, String> {
        if raised.is_null() {
            return Ok(self);
        }
        let wrong = |message: String| format!("{RAISED} cannot be used: {message}; resume it with others");
        first_problem(raised).map_or(Ok(()), |problem| Err(wrong(problem.message)))?;
        above(raised, ceiling, "limits").map_or(Ok(()), |sentence| Err(wrong(sentence)))?;
        let mut limits = serde_json::to_value(&self.config.limits).map_err(|error| wrong(error.to_string()))?;
        let had_no_budget = self.config.limits.cost_budget_usd.is_none();
        merge(&mut limits, raised);
        self.config.limits = serde_json::from_value(limits).map_err(|error| wrong(error.to_string()))?;
        let models = llms(&self.config).map_err(wrong)?;
        // Instead of the ceiling that the job began with, `ceiling` counts.
        let of_limits = |key: &String| key.starts_with("limits.");
        let of_old_ceiling = |key: &String| key.starts_with("limits_ceiling.");
        let uncounted = prices::warnings(&self).into_iter().next().filter(|_| had_no_budget);
        if let Some(rule) = uncounted {
            return Err(wrong(rule.message));
        }
        let mut broken = validate::broken_rules(&self.config, &models).into_iter();
        match broken.find(|rule| rule.keys.iter().any(of_limits) && !rule.keys.iter().any(of_old_ceiling)) {
            Some(rule) => Err(wrong(rule.message)),
            None => Ok(self),
        }
    }
}

fn first_problem(raised: &Value) -> Option<Problem> {
    check::layer(&Layer::synthetic(RAISED, json!({"limits": raised}), Kind::Row)).into_iter().next()
}

/// The first limit above its ceiling, as a sentence. "No limit" is above any ceiling.
fn above(raised: &Value, ceiling: &Value, path: &str) -> Option<String> {
    raised.as_object()?.iter().find_map(|(key, wanted)| {
        let (most, path) = (&ceiling[key], format!("{path}.{key}"));
        if most.is_object() {
            return above(wanted, most, &path);
        }
        let most = most.as_f64()?;
        let fits = wanted.as_f64().is_some_and(|wanted| wanted <= most);
        let wanted = if wanted.is_null() { "no limit".to_owned() } else { wanted.to_string() };
        (!fits).then(|| format!("`{path}` ({wanted}) is above the {most} of `limits_ceiling` of the job type"))
    })
}
