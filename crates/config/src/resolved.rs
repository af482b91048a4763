//! A completely resolved configuration, which a job keeps for its whole life.

use super::{
    ConfigError, ConfigRegistry, JobConfig, Llm, ModelEnv,
    error::{OVERRIDES, Problem},
};
use crate::keys::{http_tools, llm::SECTIONS};
use crate::layers::merge::{merge, merge_onto};
use crate::prompts::PromptSources;
use plumbline_engine::{Purpose, is_recorder};
use serde_json::{Map, Value, json};

/// One job's configuration and prompts.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The merged configuration.
    pub config: JobConfig,
    /// The texts before they are rendered for the bound tools.
    pub prompts: PromptSources,
    /// Whether `llm.base_url` came from the environment; see [`Self::with_endpoint_of`].
    pub endpoint_from_env: bool,
    /// Whether the type's files bind a tool that records requirements: a row that narrows `tools` does not affect this.
    pub records: bool,
    /// Whether the lists of the type's files name the tools known only at run time that are bound. If not, all of them
    /// are.
    pub lists_foreign: bool,
}

impl Resolved {
    /// The value stored with the job: the configuration and the prompts. Contains no secrets, because a configuration
    /// only names the variables that hold them. `foreign_tools` describe its tools that are known only at run time.
    pub fn to_stored(&self, foreign_tools: Vec<Value>) -> Value {
        let mut stored = json!({
            "config": self.config,
            "prompts": self.prompts,
            "endpoint_from_env": self.endpoint_from_env,
            "records": self.records,
        });
        if !foreign_tools.is_empty() {
            stored["lists_foreign"] = self.lists_foreign.into();
            stored["foreign_tools"] = foreign_tools.into();
        }
        stored
    }

    /// Stored settings with the tools known only at run time that `present` has, and its names of them in the lists: a
    /// retry takes the present ones. Everything else stays as stored.
    #[must_use]
    pub fn with_present_tools(mut stored: Value, present: &Value) -> Value {
        stored["config"]["connections"]["http_tools"] = present["config"]["connections"]["http_tools"].clone();
        http_tools::relist(&mut stored["config"]["tools"], &present["config"]["tools"]);
        for key in ["lists_foreign", "foreign_tools"] {
            match present.get(key) {
                Some(value) => stored[key] = value.clone(),
                None => drop(stored.as_object_mut().and_then(|stored| stored.remove(key))),
            }
        }
        stored
    }

    /// The same configuration with the endpoint of this process, if the job's also came from the environment.
    ///
    /// The rest of a stored configuration stays as it was when the job started. The endpoint belongs to the machine,
    /// not to the job: a job that continues on another machine, or after a local model server restarted on another
    /// port, must not wait for an address that no longer exists.
    #[must_use]
    pub fn with_endpoint_of(mut self, env: &ModelEnv) -> Self {
        if let (true, Some(base_url)) = (self.endpoint_from_env, &env.base_url) {
            self.config.llm.base_url = Some(base_url.clone());
        }
        self
    }

    /// The same configuration with the current `limits` of the job's row, so that a job paused by a budget continues
    /// after the budget in `jobs.config` is raised.
    ///
    /// # Errors
    /// If those limits are invalid; the sentence names the key.
    pub fn with_limits_of(mut self, overrides: &Value) -> Result<Self, ConfigError> {
        let Some(of_row) = overrides.get("limits").filter(|limits| !limits.is_null()) else {
            return Ok(self);
        };
        let wrong = |error: serde_json::Error| Problem::new(OVERRIDES, None, format!("`limits`: {error}"));
        let stored = serde_json::to_value(&self.config.limits).map_err(wrong)?;
        let mut limits = stored.clone();
        // A group that is `null` in the row has been reset in the stored configuration already.
        merge_onto(&mut limits, of_row, &stored);
        self.config.limits = serde_json::from_value(limits).map_err(wrong)?;
        Ok(self)
    }

    /// Parses the value of [`Self::to_stored`]. A key added by a newer version gets its built-in default.
    ///
    /// # Errors
    /// If the value was not written by this or an older version.
    pub fn from_stored(stored: &Value) -> Result<Self, ConfigError> {
        let unreadable = |reason: String| {
            let message = format!("cannot be read ({reason}); it was written by a newer version or changed by hand");
            ConfigError::from(Problem::new("the job's stored configuration", None, message))
        };
        let mut config = ConfigRegistry::embedded().defaults()?;
        // Absent optional keys are stored as `null`, which removes a default here too.
        merge(&mut config, &stored["config"]);
        // For a configuration stored before this field existed, the tools decide.
        let records = stored["records"].as_bool().unwrap_or_else(|| binds_recorder(&config["tools"]));
        let lists_foreign =
            stored["lists_foreign"].as_bool().unwrap_or_else(|| http_tools::are_listed(&config["tools"]));
        Ok(Self {
            records,
            lists_foreign,
            config: serde_json::from_value(config).map_err(|error| unreadable(error.to_string()))?,
            prompts: serde_json::from_value(stored["prompts"].clone())
                .map_err(|error| unreadable(error.to_string()))?,
            endpoint_from_env: stored["endpoint_from_env"] == json!(true),
        })
    }

    /// The model for requests of a purpose: `llm` with the part of `llm_by_purpose` merged over it.
    pub fn llm(&self, purpose: Purpose) -> Llm {
        purpose_llm(&self.config, purpose).expect("the parts were merged and read once when the job was resolved")
    }
}

/// Whether lists of tools in a configuration name one that records requirements.
pub(crate) fn binds_recorder(tools: &Value) -> bool {
    let lists = tools.as_object().into_iter().flat_map(Map::values).filter_map(Value::as_array);
    lists.flatten().filter_map(Value::as_str).any(is_recorder)
}

fn purpose_llm(config: &JobConfig, purpose: Purpose) -> serde_json::Result<Llm> {
    with_part(&config.llm, config.llm_by_purpose.of(purpose))
}

pub(crate) fn with_part(llm: &Llm, part: &Map<String, Value>) -> serde_json::Result<Llm> {
    let mut whole = serde_json::to_value(llm)?;
    // The profile of a model does not apply to another.
    if ["model", "base_url"].iter().any(|key| part.get(*key).is_some_and(|own| *own != whole[*key])) {
        whole["profile"] = json!({});
    }
    // A provider counts separately for each model and key.
    if ["model", "base_url", "api_key_env"].iter().any(|key| part.get(*key).is_some_and(|own| *own != whole[*key])) {
        whole["limits"] = json!({});
    }
    merge(&mut whole, &Value::Object(part.clone()));
    serde_json::from_value(whole)
}

/// The sections of fallback models: without their own key, and with one.
pub(crate) const FALLBACK: &str = "llm.fallback";
pub(crate) const FALLBACK_WITH_KEY: &str = "llm.fallback.llm";

/// Every model of a configuration with its section; the error's sentence names the section.
pub(crate) fn llms(config: &JobConfig) -> Result<Vec<(&'static str, Llm)>, String> {
    let mut llms = vec![("llm", config.llm.clone())];
    for (section, purpose) in SECTIONS {
        let llm = purpose_llm(config, purpose).map_err(|error| format!("`{section}` over `llm`: {error}"))?;
        if llm != config.llm {
            llms.push((section, llm));
        }
    }
    for (place, entry) in config.llm.fallback.iter().enumerate() {
        let llm = with_part(&config.llm, &entry.llm)
            .map_err(|error| format!("`llm.fallback[{place}].llm` over `llm`: {error}"))?;
        let names_key = entry.llm.get("api_key_env").is_some_and(Value::is_string);
        llms.push((if names_key { FALLBACK_WITH_KEY } else { FALLBACK }, llm));
    }
    Ok(llms)
}

/// The beginning of the sentences about a missing model.
pub const NO_MODEL: &str = "llm: no model";

/// The missing settings that a job needs for its model.
pub(crate) fn without_model(config: &JobConfig) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut ask = |missing: bool, what: &str, key: &str, variable: &str| {
        if missing {
            let message =
                format!("no {what} is configured for job type `{}`; set {variable} or `llm.{key}`", config.job_type);
            problems.push(Problem::new("llm", None, message));
        }
    };
    ask(config.llm.model.is_none(), "model", "model", "PLUMBLINE_MODEL");
    ask(config.llm.base_url.is_none(), "model endpoint", "base_url", "OPENAI_BASE_URL");
    problems
}
