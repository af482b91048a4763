//! The configurations in use, and the job types that this worker serves with them.

use parking_lot::RwLock;
use plumbline_config::{ConfigRegistry, ModelEnv};
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

/// The current configurations.
#[derive(Debug)]
pub(crate) struct Live {
    now: RwLock<Arc<Served>>,
    env: ModelEnv,
    /// The job types that this worker is asked to run; all if not specified.
    asked: Option<Vec<String>>,
}

/// Configurations, and the job types that this worker serves with them.
#[derive(Debug)]
pub(crate) struct Served {
    /// Changes with the configurations.
    pub(crate) version: u64,
    /// For jobs that start now.
    pub(crate) configs: Arc<ConfigRegistry>,
    /// The job types that it claims.
    pub(crate) job_types: Vec<String>,
    /// The job types that it would claim if their files resolved, with the error: file, line and reason.
    pub(crate) broken: BTreeMap<String, String>,
    /// The job types that it is asked to run, and of which it has no files.
    pub(crate) unknown: Vec<String>,
}

impl Served {
    fn new(version: u64, configs: ConfigRegistry, env: &ModelEnv, asked: Option<&[String]>) -> Self {
        let is_asked = |job_type: &str| asked.is_none_or(|asked| asked.iter().any(|name| name == job_type));
        let mut broken = configs.broken(env);
        broken.retain(|job_type, _| is_asked(job_type));
        let known = configs.job_types().into_iter().filter(|name| is_asked(name) && !broken.contains_key(*name));
        let job_types = known.map(str::to_owned).collect();
        let has_files = |name: &str| configs.job_types().contains(&name);
        let unknown = asked.unwrap_or_default().iter().filter(|name| !has_files(name)).cloned().collect();
        Self { version, configs: Arc::new(configs), job_types, broken, unknown }
    }

    /// The errors in the files, each sentence once; none if all job types resolve.
    pub(crate) fn trouble(&self) -> Option<String> {
        let sentences: HashSet<&str> = self.broken.values().map(String::as_str).collect();
        let mut sentences: Vec<&str> = sentences.into_iter().collect();
        sentences.sort_unstable();
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }
}

impl Live {
    /// Configurations with this environment, for a worker that is asked to run these job types.
    pub(crate) fn new(configs: ConfigRegistry, env: &ModelEnv, asked: Option<&[String]>) -> Self {
        let served = Served::new(0, configs, env, asked);
        Self { now: RwLock::new(Arc::new(served)), env: env.clone(), asked: asked.map(<[String]>::to_vec) }
    }

    /// The current configurations.
    pub(crate) fn now(&self) -> Arc<Served> {
        self.now.read().clone()
    }

    pub(crate) fn take(&self, configs: ConfigRegistry) {
        let next = Served::new(self.now().version + 1, configs, &self.env, self.asked.as_deref());
        *self.now.write() = Arc::new(next);
    }
}
