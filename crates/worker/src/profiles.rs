//! What jobs of one configuration share: resolved once, and once in memory.
//!
//! Most jobs of a worker have the same configuration, and its prompts and tool definitions are larger than many a
//! conversation. So the first job with a configuration makes a [`Profile`] of it, and the others borrow that.

use crate::{
    config::{ConfigError, Forbidden, Llm, ModelEnv, Resolved},
    intake,
    job::engine_settings,
};
use plumbline_engine::{Purpose, Settings, SharedFiles};
use plumbline_store::StoredSettings;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// Profiles that no job uses any more are kept up to here, for the jobs that come next.
const KEPT: usize = 16;

/// A configuration, ready for use.
pub(crate) struct Profile {
    pub(crate) resolved: Resolved,
    pub(crate) settings: Arc<Settings>,
    /// What a job that starts with it stores.
    pub(crate) stored: StoredSettings,
    /// The files that jobs which start with it have in common.
    pub(crate) shared: Arc<SharedFiles>,
    strategic: Llm,
    tactical: Llm,
    summary: Llm,
}

impl Profile {
    fn new(resolved: Resolved, stored: &Value) -> Result<Self, String> {
        let settings = Arc::new(engine_settings(&resolved)?);
        let [strategic, tactical, summary] =
            [Purpose::Strategic, Purpose::Tactical, Purpose::Summary].map(|purpose| resolved.llm(purpose));
        let shared = intake::shared(&settings.tools);
        let stored = StoredSettings::from(stored);
        Ok(Self { resolved, settings, stored, shared, strategic, tactical, summary })
    }

    /// The model for requests of a purpose.
    pub(crate) fn llm(&self, purpose: Purpose) -> &Llm {
        match purpose {
            Purpose::Strategic => &self.strategic,
            Purpose::Tactical => &self.tactical,
            Purpose::Summary => &self.summary,
        }
    }
}

/// Why a job's configuration cannot be used.
#[derive(Debug)]
pub(crate) struct Unusable {
    /// The sentence for the user.
    pub(crate) sentence: String,
    /// Set where the row sets what it may not.
    pub(crate) forbidden: Option<Forbidden>,
}

impl From<ConfigError> for Unusable {
    fn from(error: ConfigError) -> Self {
        Self { sentence: error.to_string(), forbidden: error.forbidden }
    }
}

impl From<String> for Unusable {
    fn from(sentence: String) -> Self {
        Self { sentence, forbidden: None }
    }
}

/// Digest of everything a profile is made from.
type Key = [u8; 32];

/// The profiles made so far.
#[derive(Default)]
pub(crate) struct Profiles {
    known: Mutex<HashMap<Key, Arc<Profile>>>,
}

impl Profiles {
    /// The profile of a job that starts: `resolve` gives the configuration of its type under its own `overrides`.
    ///
    /// # Errors
    /// A sentence for the user: the configuration cannot be used.
    pub(crate) fn fresh(
        &self,
        job_type: &str,
        overrides: &Value,
        resolve: impl FnOnce() -> Result<Resolved, ConfigError>,
    ) -> Result<Arc<Profile>, Unusable> {
        self.of(key(&["fresh", job_type, &overrides.to_string()]), || {
            let resolved = resolve()?;
            let stored = resolved.to_stored();
            Ok(Profile::new(resolved, &stored)?)
        })
    }

    /// The profile of a job that goes on: as it was stored, at the endpoint of this process and under the limits that
    /// its row has now.
    ///
    /// # Errors
    /// As [`Self::fresh`].
    pub(crate) fn stored(&self, stored: Value, overrides: &Value, env: &ModelEnv) -> Result<Arc<Profile>, Unusable> {
        let limits = overrides.get("limits").unwrap_or(&Value::Null).to_string();
        self.of(key(&["stored", &stored.to_string(), &limits]), || {
            let resolved = Resolved::from_stored(&stored)
                .map(|resolved| resolved.with_endpoint_of(env))
                .and_then(|resolved| resolved.with_limits_of(overrides))?;
            Ok(Profile::new(resolved, &stored)?)
        })
    }

    /// Made under the lock: of a hundred jobs that start at once, the first does the work for all.
    fn of(&self, key: Key, make: impl FnOnce() -> Result<Profile, Unusable>) -> Result<Arc<Profile>, Unusable> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(profile) = known.get(&key) {
            return Ok(profile.clone());
        }
        let profile = Arc::new(make()?);
        if known.len() >= KEPT {
            known.retain(|_, profile| Arc::strong_count(profile) > 1);
        }
        known.insert(key, profile.clone());
        Ok(profile)
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
    use super::{KEPT, Profiles};
    use crate::config::{Configs, ModelEnv};
    use serde_json::{Value, json};
    use std::sync::Arc;

    fn env() -> ModelEnv {
        ModelEnv { model: Some("m".into()), base_url: Some("http://127.0.0.1:9/v1".into()), ..ModelEnv::default() }
    }

    fn fresh(profiles: &Profiles, overrides: &Value) -> Arc<super::Profile> {
        let resolve = || Configs::embedded().resolve("creator", overrides, &env());
        profiles.fresh("creator", overrides, resolve).unwrap()
    }

    #[test]
    fn jobs_of_one_configuration_share_a_profile_and_others_have_their_own() {
        let profiles = Profiles::default();
        let (plain, small) = (json!({}), json!({"limits": {"max_iterations": 7}}));
        let one = fresh(&profiles, &plain);
        assert!(Arc::ptr_eq(&one, &fresh(&profiles, &plain)));
        let other = fresh(&profiles, &small);
        assert_eq!((other.settings.limits.max_iterations, one.settings.limits.max_iterations), (7, 1000));
    }

    #[test]
    fn a_job_that_goes_on_has_its_stored_configuration_under_the_limits_of_its_row() {
        let profiles = Profiles::default();
        let stored = fresh(&profiles, &json!({})).resolved.to_stored();
        let goes_on = |overrides: Value| profiles.stored(stored.clone(), &overrides, &env()).unwrap();
        let as_it_was = goes_on(json!({"llm": {"temperature": 1.5}}));
        assert!(Arc::ptr_eq(&as_it_was, &goes_on(json!({}))), "only limits can still change");
        let raised = goes_on(json!({"limits": {"max_iterations": 9}}));
        assert_eq!((raised.settings.limits.max_iterations, as_it_was.settings.limits.max_iterations), (9, 1000));
    }

    #[test]
    fn profiles_that_nobody_uses_do_not_pile_up_and_used_ones_stay() {
        let profiles = Profiles::default();
        let used = fresh(&profiles, &json!({}));
        for n in 1..=(KEPT as u32 * 2) {
            fresh(&profiles, &json!({"limits": {"max_iterations": n}}));
        }
        assert!(profiles.known.lock().unwrap().len() <= KEPT);
        assert!(Arc::ptr_eq(&used, &fresh(&profiles, &json!({}))));
    }

    #[test]
    fn a_configuration_that_cannot_be_used_is_refused_each_time() {
        let profiles = Profiles::default();
        for _ in 0..2 {
            assert!(profiles.stored(json!({"config": 5}), &json!({}), &env()).is_err());
        }
    }
}
