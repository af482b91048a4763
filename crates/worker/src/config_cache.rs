//! Data shared by jobs with the same configuration: resolved once, and once in memory.
//!
//! Most jobs of a worker have the same configuration, and its prompts and tool definitions are larger than many
//! conversations. So the first job with a configuration creates its [`ResolvedConfig`], and the others share it.

use crate::run::intake;
use parking_lot::Mutex;
use plumbline_config::{CallRules, ConfigError, Forbidden, Llm, ModelEnv, Resolved};
use plumbline_documents::candidates::Scan;
use plumbline_engine::{Purpose, Settings, SharedFiles};
use plumbline_job_setup::{engine_settings, foreign_tools, inspection, record_defaults, scan, to_stored};
use plumbline_store::StoredSettings;
use plumbline_tools::{Inspection, RecordDefaults, Registry};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::{collections::HashMap, sync::Arc};

/// Maximum unused configurations that are kept for later jobs.
const KEPT: usize = 16;

/// A configuration, ready for use.
pub(crate) struct ResolvedConfig {
    pub(crate) resolved: Resolved,
    pub(crate) settings: Arc<Settings>,
    /// The settings that a job stores when it starts with it.
    pub(crate) stored: StoredSettings,
    /// The files shared by jobs that start with it.
    pub(crate) shared: Arc<SharedFiles>,
    /// The checks of a job's files before it completes.
    pub(crate) inspection: Inspection,
    /// Finds the candidates in its documents.
    pub(crate) scan: Scan,
    /// Values of its records that a call omits.
    pub(crate) record_defaults: RecordDefaults,
    /// Its tools known only at run time.
    pub(crate) tools: Registry,
    strategic: Llm,
    tactical: Llm,
    summary: Llm,
    fallbacks: Vec<[Llm; 3]>,
}

impl ResolvedConfig {
    fn new(resolved: Resolved, stored: &Value) -> Result<Self, ConfigError> {
        let settings = Arc::new(engine_settings(&resolved, &[intake::WORKSPACE_FORM])?);
        let [strategic, tactical, summary] =
            [Purpose::Strategic, Purpose::Tactical, Purpose::Summary].map(|purpose| resolved.llm(purpose));
        let shared = intake::shared(&settings.tools);
        let stored = StoredSettings::from(stored);
        Ok(Self {
            settings,
            stored,
            shared,
            inspection: inspection(&resolved.config)?,
            scan: scan(&resolved.config)?,
            record_defaults: record_defaults(&resolved.config)?,
            tools: foreign_tools(&resolved.config),
            strategic,
            tactical,
            summary,
            fallbacks: resolved.fallbacks(),
            resolved,
        })
    }

    /// The model for requests of a purpose: the job's own, or an entry of `llm.fallback`.
    pub(crate) fn llm(&self, purpose: Purpose, fallback: Option<usize>) -> &Llm {
        let other = fallback.and_then(|place| self.fallbacks.get(place));
        match (purpose, other) {
            (Purpose::Strategic, Some([llm, _, _]))
            | (Purpose::Tactical, Some([_, llm, _]))
            | (Purpose::Summary, Some([_, _, llm])) => llm,
            (Purpose::Strategic, None) => &self.strategic,
            (Purpose::Tactical, None) => &self.tactical,
            (Purpose::Summary, None) => &self.summary,
        }
    }
}

/// Why a job's configuration cannot be used.
#[derive(Debug)]
pub(crate) struct Unusable {
    /// The sentence for the user.
    pub(crate) sentence: String,
    /// Set if the row sets something that it must not.
    pub(crate) forbidden: Option<Forbidden>,
    /// Whether the only cause is a limit given to `resume_job`: the job waits for another one, with its work kept.
    pub(crate) is_raised_limit: bool,
    /// Whether only a model is missing, which another worker may have.
    pub(crate) lacks_model: bool,
}

/// The `limits` given to `resume_job` for one job, and the ceiling of its type.
#[derive(Debug, Default)]
pub(crate) struct LimitOverride {
    /// Null if none were given.
    pub(crate) limits: Value,
    pub(crate) ceiling: Value,
}

impl LimitOverride {
    fn over(&self, resolved: Resolved) -> Result<Resolved, Unusable> {
        let raised = resolved.with_raised_limits(&self.limits, &self.ceiling);
        raised.map_err(|sentence| Unusable { sentence, forbidden: None, is_raised_limit: true, lacks_model: false })
    }
}

impl From<ConfigError> for Unusable {
    fn from(error: ConfigError) -> Self {
        Self {
            sentence: error.to_string(),
            lacks_model: error.lacks_model,
            forbidden: error.forbidden,
            is_raised_limit: false,
        }
    }
}

/// Digest of all inputs of a configuration.
type Key = [u8; 32];

/// The configurations resolved so far.
#[derive(Default)]
pub(crate) struct ConfigCache {
    known: Mutex<HashMap<Key, Arc<ResolvedConfig>>>,
}

impl ConfigCache {
    /// The configuration of a job that starts: `resolve` returns the configuration of its type with its own
    /// `overrides`, from the files of this version. The stored configuration does not contain `raised`, which applies
    /// only to this job and not to its forks.
    ///
    /// # Errors
    /// A sentence for the user, if the configuration cannot be used.
    pub(crate) fn resolve(
        &self,
        (version, job_type): (u64, &str),
        overrides: &Value,
        raised: &LimitOverride,
        resolve: impl FnOnce() -> Result<Resolved, ConfigError>,
    ) -> Result<Arc<ResolvedConfig>, Unusable> {
        let (version, raised_limits) = (version.to_string(), raised.limits.to_string());
        let known =
            ["resolved", &version, job_type, &overrides.to_string(), &raised_limits, &raised.ceiling.to_string()];
        self.of(key(&known), || {
            let resolved = resolve()?;
            let stored = to_stored(&resolved);
            Ok(ResolvedConfig::new(raised.over(resolved)?, &stored)?)
        })
    }

    /// The configuration of a job that continues: the stored one, with the endpoint of this process, the current limits
    /// of its row, `raised` over them, and the current rules of the files for calls, if there are any.
    ///
    /// # Errors
    /// Like [`Self::resolve`].
    pub(crate) fn restore(
        &self,
        stored: Value,
        overrides: &Value,
        raised: &LimitOverride,
        rules: Option<CallRules>,
        env: &ModelEnv,
    ) -> Result<Arc<ResolvedConfig>, Unusable> {
        let limits = overrides.get("limits").unwrap_or(&Value::Null).to_string();
        let (raised_limits, ceiling) = (raised.limits.to_string(), raised.ceiling.to_string());
        let known = ["stored", &stored.to_string(), &limits, &raised_limits, &ceiling, &json!(rules).to_string()];
        self.of(key(&known), || {
            let resolved = Resolved::from_stored(&stored)
                .map(|resolved| resolved.with_endpoint_of(env))
                .and_then(|resolved| resolved.with_limits_of(overrides))?;
            let resolved = match rules {
                Some(rules) => resolved.with_call_rules(rules),
                None => resolved,
            };
            Ok(ResolvedConfig::new(raised.over(resolved)?, &stored)?)
        })
    }

    /// Created under the lock: of a hundred jobs that start at once, the first does the work for all.
    fn of(
        &self,
        key: Key,
        make: impl FnOnce() -> Result<ResolvedConfig, Unusable>,
    ) -> Result<Arc<ResolvedConfig>, Unusable> {
        let mut known = self.known.lock();
        if let Some(config) = known.get(&key) {
            return Ok(config.clone());
        }
        let config = Arc::new(make()?);
        if known.len() >= KEPT {
            known.retain(|_, config| Arc::strong_count(config) > 1);
        }
        known.insert(key, config.clone());
        Ok(config)
    }
}

fn key(parts: &[&str]) -> Key {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::{ConfigCache, KEPT, LimitOverride};
    use plumbline_config::{ConfigRegistry, ModelEnv};
    use plumbline_job_setup::to_stored;
    use serde_json::{Value, json};
    use std::sync::Arc;

    fn env() -> ModelEnv {
        ModelEnv { model: Some("m".into()), base_url: Some("http://127.0.0.1:9/v1".into()), ..ModelEnv::default() }
    }

    fn fresh(configs: &ConfigCache, overrides: &Value) -> Arc<super::ResolvedConfig> {
        let resolve = || ConfigRegistry::embedded().resolve("creator", overrides, &env());
        configs.resolve((0, "creator"), overrides, &LimitOverride::default(), resolve).unwrap()
    }

    #[test]
    fn jobs_of_one_configuration_share_a_profile_and_others_have_their_own() {
        let configs = ConfigCache::default();
        let (plain, small) = (json!({}), json!({"limits": {"max_iterations": 7}}));
        let one = fresh(&configs, &plain);
        assert!(Arc::ptr_eq(&one, &fresh(&configs, &plain)));
        let other = fresh(&configs, &small);
        assert_eq!((other.settings.limits.max_iterations, one.settings.limits.max_iterations), (7, 1000));
    }

    #[test]
    fn a_resumed_job_has_its_stored_configuration_under_the_limits_of_its_row() {
        let configs = ConfigCache::default();
        let stored = to_stored(&fresh(&configs, &json!({})).resolved);
        let goes_on = |overrides: Value| {
            configs.restore(stored.clone(), &overrides, &LimitOverride::default(), None, &env()).unwrap()
        };
        let as_it_was = goes_on(json!({"llm": {"temperature": 1.5}}));
        assert!(Arc::ptr_eq(&as_it_was, &goes_on(json!({}))), "only limits can still change");
        let raised = goes_on(json!({"limits": {"max_iterations": 9}}));
        assert_eq!((raised.settings.limits.max_iterations, as_it_was.settings.limits.max_iterations), (9, 1000));
    }

    #[test]
    fn unused_profiles_do_not_pile_up_and_used_ones_stay() {
        let configs = ConfigCache::default();
        let used = fresh(&configs, &json!({}));
        for n in 1..=(KEPT as u32 * 2) {
            fresh(&configs, &json!({"limits": {"max_iterations": n}}));
        }
        assert!(configs.known.lock().len() <= KEPT);
        assert!(Arc::ptr_eq(&used, &fresh(&configs, &json!({}))));
    }

    #[test]
    fn a_configuration_that_cannot_be_used_is_refused_each_time() {
        let configs = ConfigCache::default();
        for _ in 0..2 {
            assert!(
                configs.restore(json!({"config": 5}), &json!({}), &LimitOverride::default(), None, &env()).is_err()
            );
        }
    }
}
