//! All configurations, and the resolution of one job's from them.

use super::{
    ConfigError, JobConfig, ModelEnv, OuterRules, Profiles, Resolved,
    error::{OVERRIDES, Problem},
    layers::{Kind, Layer, Layers, with_switches},
    resolved, secrets,
};
use crate::prompts::PromptSources;
use crate::{
    keys::{deliverables, http_tools, prices},
    layers::{
        files::{self, File, Files, config_stem},
        origin,
        origin::Origin,
        parse::parse,
        row_prices,
    },
    rules::{
        check,
        level::Level,
        levels::{self, Forbidden},
        nearest::advice,
        validate,
        violation::RuleViolation,
    },
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    path::{Path, PathBuf},
};

/// The base file of every job type.
const DEFAULTS: &str = "defaults";

/// The configuration and prompt files of a process, as read.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigRegistry {
    files: Files,
    prompts: Files,
    /// The operator's folders, which override the built-in files: for configurations, and for prompts.
    folders: (Option<PathBuf>, Option<PathBuf>),
    /// See [`Self::job_types`].
    served: Vec<String>,
    /// See [`Self::also_serving`].
    also: Option<String>,
    rules: OuterRules,
}

impl ConfigRegistry {
    /// The copies built into the binary.
    pub fn embedded() -> Self {
        let (files, prompts) = (files::built_in_configs(), files::built_in_prompts());
        Self { files, prompts, folders: (None, None), served: Vec::new(), also: None, rules: OuterRules::default() }
            .with_served()
    }

    /// The built-in files, overridden by a folder for configurations (`PLUMBLINE_CONFIG_DIR`) and one for prompts
    /// (`PLUMBLINE_PROMPTS_DIR`), if given.
    ///
    /// # Errors
    /// If a folder cannot be read.
    pub fn load(config_dir: Option<&Path>, prompts_dir: Option<&Path>) -> Result<Self, ConfigError> {
        let mut configs = Self::embedded();
        configs.folders = (config_dir.map(Path::to_owned), prompts_dir.map(Path::to_owned));
        if let Some(dir) = config_dir {
            files::overlay(&mut configs.files, dir, true)?;
        }
        if let Some(dir) = prompts_dir {
            files::overlay(&mut configs.prompts, dir, false)?;
        }
        Ok(configs.with_served())
    }

    /// The same files with the rules of the crates that act on a configuration: without them, it is not used for jobs.
    #[must_use]
    pub fn with_rules(self, rules: OuterRules) -> Self {
        Self { rules, ..self }
    }

    /// The same folders, read again.
    ///
    /// # Errors
    /// If a folder cannot be read.
    pub fn reread(&self) -> Result<Self, ConfigError> {
        let read = Self::load(self.folders.0.as_deref(), self.folders.1.as_deref())?.with_rules(self.rules);
        Ok(Self { also: self.also.clone(), ..read }.with_served())
    }

    /// The same files, with one more job type that a worker serves, e.g. a built-in one beside the operator's.
    #[must_use]
    pub fn also_serving(self, job_type: &str) -> Self {
        Self { also: Some(job_type.to_owned()), ..self }.with_served()
    }

    /// Whether any of it can change during the life of the process.
    pub fn has_folders(&self) -> bool {
        self.folders.0.is_some() || self.folders.1.is_some()
    }

    /// The known profiles of providers and models.
    ///
    /// # Errors
    /// If `providers.json` cannot be read.
    pub fn profiles(&self) -> Result<Profiles, ConfigError> {
        Ok(Profiles::of(&files::built_in_configs(), &self.files)?)
    }

    /// Names of the job types that a worker with these files serves, sorted: those in the operator's folder and those
    /// that their `on_complete` names; the built-in ones if there is no folder, or no job type in it.
    pub fn job_types(&self) -> Vec<&str> {
        self.served.iter().map(String::as_str).collect()
    }

    /// All job types with files, sorted: the types that `$extends` and `on_complete` may name.
    fn all_types(&self) -> Vec<&str> {
        let types = self.files.keys().filter_map(|path| config_stem(path)?.0.strip_suffix("/config"));
        let mut types: Vec<&str> = types.collect();
        types.dedup();
        types
    }

    fn with_served(mut self) -> Self {
        let all = self.all_types();
        let is_own = |name: &&str| {
            self.files
                .iter()
                .any(|(path, file)| !file.is_built_in && path.split_once('/').is_some_and(|(dir, _)| dir == *name))
        };
        let own: Vec<&str> = all.iter().copied().filter(is_own).collect();
        let mut served: BTreeSet<String> =
            if own.is_empty() { all.iter() } else { own.iter() }.map(|&name| name.to_owned()).collect();
        served.extend(self.also.clone());
        let mut looked_at: Vec<String> = served.iter().cloned().collect();
        while let Some(name) = looked_at.pop() {
            let follower = self.follower(&name).filter(|follower| all.contains(&follower.as_str()));
            looked_at.extend(follower.filter(|follower| served.insert(follower.clone())));
        }
        self.served = served.into_iter().collect();
        self
    }

    /// The job type that `on_complete` of a job type's files names; none if they do not parse.
    fn follower(&self, job_type: &str) -> Option<String> {
        let merged = Layers::new(self.chain(job_type).ok()?, &ModelEnv::default()).merged();
        merged["on_complete"]["enqueue"].as_str().map(str::to_owned)
    }

    /// The configuration of one job: `defaults`, the environment, the type's files, and the job's own `config` as the
    /// top layer.
    ///
    /// # Errors
    /// Every reason why the job cannot run, one sentence each: an unknown type, invalid files or overrides, no model or
    /// endpoint configured.
    pub fn resolve(&self, job_type: &str, overrides: &Value, env: &ModelEnv) -> Result<Resolved, ConfigError> {
        let resolved = self.show(job_type, overrides, env)?;
        let without_model = resolved::without_model(&resolved.config);
        ConfigError::unless_empty(without_model).map_err(|error| ConfigError { lacks_model: true, ..error })?;
        ConfigError::unless_empty(prices::budget_without_prices(&resolved).into_iter().collect())?;
        Ok(resolved)
    }

    /// Like [`Self::resolve`], but a model need not be configured: for inspecting a configuration.
    ///
    /// # Errors
    /// As for [`Self::resolve`], except for the model.
    pub fn show(&self, job_type: &str, overrides: &Value, env: &ModelEnv) -> Result<Resolved, ConfigError> {
        let row = Layer::synthetic(OVERRIDES, overrides_object(overrides)?, Kind::Row);
        let (files, profiles) = (Layers::new(self.chain(job_type)?, env), self.profiles()?);
        let below = files.clone().with_profile(&profiles).merged();
        let layers = files.with_row(row).with_profile(&profiles).with_row_prices(&below, &profiles);
        // The layer of the profile repeats `llm.profile` of the files.
        let written = layers.iter().filter(|layer| layer.kind != Kind::Profile);
        ConfigError::unless_empty(written.flat_map(check::layer).collect())?;
        levels::check(&layers, env)?;
        let config = self.typed(job_type, &layers, env)?;
        let endpoint_from_env =
            env.base_url.is_some() && config.llm.base_url == env.base_url && layers.leaves_endpoint_open();
        let files = layers.without_row();
        let records = resolved::binds_recorder(&files["tools"]);
        let lists_foreign = http_tools::are_listed(&files["tools"]);
        let prompts = self.prompt_sources(job_type)?;
        let resolved = Resolved { config, prompts, endpoint_from_env, records, lists_foreign };
        row_prices::check(&resolved, &below)?;
        Ok(resolved)
    }

    /// The current configuration of a job that has started, as far as its row still obeys the levels. Files that became
    /// invalid do not affect it: the job continues with the stored configuration.
    ///
    /// # Errors
    /// A key that the row sets but must not set.
    pub fn present(&self, job_type: &str, overrides: &Value, env: &ModelEnv) -> Result<Option<Resolved>, ConfigError> {
        match self.show(job_type, overrides, env) {
            Err(error) if error.forbidden.is_some() => Err(error),
            present => Ok(present.ok()),
        }
    }

    /// All errors in the files of the job types with this environment, including tool names and prompts; a model need
    /// not be configured. An error in a file shared by several types is listed once.
    pub fn check(&self, env: &ModelEnv) -> Vec<Problem> {
        let mut seen = HashSet::new();
        let problems = self.served.iter().flat_map(|job_type| self.problems_of(job_type, env));
        problems.filter(|problem| seen.insert(problem.to_string())).collect()
    }

    /// The job types whose files do not resolve with this environment, each with the sentence that names file, line and
    /// reason, as in [`Self::check`]. A model need not be configured.
    pub fn broken(&self, env: &ModelEnv) -> BTreeMap<String, String> {
        let broken = |job_type: &String| {
            let error = ConfigError::unless_empty(self.problems_of(job_type, env)).err()?;
            Some((job_type.clone(), error.to_string()))
        };
        self.served.iter().filter_map(broken).collect()
    }

    fn problems_of(&self, job_type: &str, env: &ModelEnv) -> Vec<Problem> {
        let placed = |error: ConfigError| {
            let layers = Layers::new(self.chain(job_type).unwrap_or_default(), env);
            error.problems.into_iter().map(|problem| placed(problem, job_type, &layers)).collect()
        };
        match self.show(job_type, &json!({}), env) {
            Err(error) => error.problems,
            Ok(resolved) => (self.rules.unusable)(&resolved).map_or_else(Vec::new, placed),
        }
    }

    /// The values of `defaults`, for [`super::schema_json`].
    ///
    /// # Errors
    /// If the file does not parse.
    pub fn defaults(&self) -> Result<Value, ConfigError> {
        Ok(Layers::new(self.chain("defaults")?, &ModelEnv::default()).merged())
    }

    /// The source of each value of a job type's configuration: every leaf key, dotted, its value, and the file with its
    /// line, or the variable.
    ///
    /// # Errors
    /// As for [`Self::show`].
    pub fn origins(&self, job_type: &str, env: &ModelEnv) -> Result<Vec<Origin>, ConfigError> {
        let resolved = self.show(job_type, &json!({}), env)?;
        let layers = Layers::new(self.chain(job_type)?, env).with_profile(&self.profiles()?);
        let places = layers.of_places().merged();
        let config = serde_json::to_value(&resolved.config)
            .map_err(|error| Problem::new(job_type, None, format!("cannot be shown: {error}")))?;
        Ok(origin::all(&config, &places))
    }

    /// The values that the operator's own files and the environment set for a job type; empty if they do not parse.
    pub(crate) fn set_by_operator(&self, job_type: &str, env: &ModelEnv) -> Value {
        self.chain(job_type).map(|files| Layers::new(files, env).bounds()).unwrap_or_default()
    }

    /// Settings in the files that are allowed but do not have the intended effect.
    pub fn warnings(&self, env: &ModelEnv) -> Vec<Problem> {
        let shown = |job_type: &str| {
            let resolved = self.show(job_type, &json!({}), env).ok()?;
            let layers = Layers::new(self.chain(job_type).ok()?, env);
            let profiles = self.profiles().ok()?;
            let below = layers.clone().with_profile(&profiles).merged();
            let warnings = prices::warnings(&resolved).into_iter().chain(deliverables::warnings(&resolved));
            let warnings = warnings.chain(validate::addresses_allowed(&resolved.config));
            let warnings = warnings.chain((self.rules.warnings)(&resolved.config));
            let warnings = warnings.chain(row_prices::warnings(&resolved, &below, &profiles));
            Some(warnings.map(|rule| layers.blame(&rule.keys, rule.message)).collect::<Vec<_>>())
        };
        let mut warnings: Vec<Problem> = self.job_types().into_iter().filter_map(shown).flatten().collect();
        warnings.dedup();
        warnings
    }

    fn typed(&self, job_type: &str, layers: &Layers, env: &ModelEnv) -> Result<JobConfig, ConfigError> {
        ConfigError::unless_empty(layers.iter_own().filter_map(|layer| other_type(layer, job_type)).collect())?;
        let mut merged = layers.merged();
        merged["job_type"] = json!(job_type);
        self.profiles()?.know_fallbacks(&mut merged, &layers.defaults());
        ConfigError::unless_empty(layers.blame_all_missing(&check::missing(&merged)))?;
        let config: JobConfig = serde_json::from_value(merged)
            .map_err(|error| layers.blame(&[], format!("does not describe a job type: {error}")))?;
        let llms = resolved::llms(&config).map_err(|error| layers.blame(&["llm_by_purpose".into()], error))?;
        let mut broken = validate::broken_rules(&config, &llms);
        broken.extend((self.rules.broken)(&config));
        broken.extend(secrets::refused(&config, &llms, env).into_iter().map(RuleViolation::refused_variable));
        broken.extend(levels::unknown_keys(&config).into_iter().map(RuleViolation::unknown_opened));
        broken.extend(self.unknown_follower(&config));
        ConfigError::unless_empty(broken.into_iter().map(|rule| layers.blame(&rule.keys, rule.message)).collect())?;
        Ok(config)
    }

    fn unknown_follower(&self, config: &JobConfig) -> Option<RuleViolation> {
        let follower = config.on_complete.enqueue.as_deref()?;
        let known = self.all_types();
        (!known.contains(&follower)).then(|| {
            let advice = advice(follower, &known);
            let message = format!("`on_complete.enqueue` names the unknown job type `{follower}`; {advice}");
            RuleViolation::new(&["on_complete.enqueue"], message)
        })
    }

    /// The files of the `$extends` chain, most general first.
    fn chain(&self, job_type: &str) -> Result<Vec<Layer>, ConfigError> {
        let mut layers = Vec::new();
        let mut visited: Vec<String> = Vec::new();
        let mut next = Some(job_type.to_owned());
        while let Some(name) = next {
            let Some((file, format)) = self.config_file(&name)? else {
                return Err(self.unknown_type(&name, layers.last()).into());
            };
            let kind = if name == DEFAULTS { Kind::Defaults } else { Kind::Type };
            visited.push(name);
            let (value, lines) = parse(file, format)?;
            let is_operators = !file.is_built_in;
            let mut layer = Layer { name: file.shown.clone(), value: with_switches(value), lines, is_operators, kind };
            next = take_extends(&mut layer)?;
            if let Some(again) = next.as_ref().filter(|name| visited.contains(name)) {
                let round = format!("{} → {again}", visited.join(" → "));
                let message = format!("`$extends` goes round in a circle ({round}); take one of the links out");
                return Err(Problem::new(layer.name, layer.lines.of("$extends"), message).into());
            }
            layers.push(layer);
        }
        layers.reverse();
        Layers::disinherit(&mut layers, "on_complete");
        Ok(layers)
    }

    fn unknown_type(&self, name: &str, extended_by: Option<&Layer>) -> Problem {
        let mut known = self.all_types();
        match extended_by {
            Some(layer) => {
                known.insert(0, DEFAULTS);
                let message = format!("`$extends` names `{name}`, which does not exist; {}", advice(name, &known));
                Problem::new(&layer.name, layer.lines.of("$extends"), message)
            }
            None => {
                let message = format!("there is no job type `{name}`; {}", advice(name, &known));
                Problem::new("job_type", None, message)
            }
        }
    }

    fn config_file(&self, name: &str) -> Result<Option<(&File, crate::layers::files::Format)>, Problem> {
        let stem = if name == DEFAULTS { name.to_owned() } else { format!("{name}/config") };
        let mut found = self.files.iter().filter_map(|(path, file)| {
            config_stem(path).filter(|(known, _)| *known == stem).map(|(_, format)| (file, format))
        });
        let first = found.next();
        match found.next() {
            Some((second, _)) => {
                Err(Problem::new(&second.shown, None, format!("`{name}` is configured twice; keep one file")))
            }
            None => Ok(first),
        }
    }

    /// The prompts, with the instructions of the type or of the nearest type that it extends.
    fn prompt_sources(&self, job_type: &str) -> Result<PromptSources, ConfigError> {
        let instructions = self.instructions(job_type)?;
        PromptSources::gather(
            |name| self.prompts.get(name).map(|file| Ok((file.shown.as_str(), file.text()?))),
            instructions,
        )
        .map_err(ConfigError::from)
    }

    fn instructions(&self, job_type: &str) -> Result<String, ConfigError> {
        let mut next = Some(job_type.to_owned());
        // The chain was followed before, so it has no cycle.
        while let Some(name) = next {
            if let Some(file) = self.files.get(&format!("{name}/instructions.md")) {
                return Ok(file.text()?.to_owned());
            }
            let Some((file, format)) = self.config_file(&name)? else { break };
            next = parse(file, format)?.0["$extends"].as_str().map(str::to_owned);
        }
        let file = self.config_file(job_type)?.and_then(|(file, _)| file.shown.rsplit_once('/'));
        let folder = file.map_or_else(|| format!("configs/{job_type}"), |(folder, _)| folder.to_owned());
        let message = format!("job type `{job_type}` has no instructions; write {folder}/instructions.md");
        Err(Problem::new("instructions.md", None, message).into())
    }
}

fn take_extends(layer: &mut Layer) -> Result<Option<String>, Problem> {
    let Some(map) = layer.value.as_object_mut() else { return Ok(None) };
    map.remove("$schema");
    match map.remove("$extends") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => Ok(Some(name)),
        Some(_) => {
            let message = "`$extends` must be `\"defaults\"` or the name of a job type";
            Err(Problem::new(&layer.name, layer.lines.of("$extends"), message))
        }
    }
}

fn overrides_object(overrides: &Value) -> Result<Value, ConfigError> {
    match overrides {
        Value::Null => Ok(json!({})),
        Value::Object(map) if map.contains_key("$extends") || map.contains_key("$schema") => {
            let key = if map.contains_key("$extends") { "$extends" } else { "$schema" };
            let sentence =
                format!("`{key}` has level operator and works in configuration files only; choose the job_type");
            Err((Forbidden { key: key.to_owned(), level: Level::Operator }, sentence).into())
        }
        Value::Object(_) => Ok(with_switches(overrides.clone())),
        _ => Err(Problem::new(OVERRIDES, None, "must be a JSON object with the keys of a configuration").into()),
    }
}

/// A layer with the `job_type` of another type: a copied file, or a job that claims another type.
fn other_type(layer: &Layer, job_type: &str) -> Option<Problem> {
    let said = layer.value.get("job_type")?.as_str().filter(|said| *said != job_type)?;
    let message = format!("`job_type` is `{said}`, but the job's type is `{job_type}`; correct it or leave it out");
    Some(Problem::new(&layer.name, layer.lines.of("job_type"), message))
}

/// Sets the file of a problem found in a resolved configuration, which no longer knows the files.
fn placed(problem: Problem, job_type: &str, layers: &Layers) -> Problem {
    match problem.file.as_str() {
        key if key.starts_with("tools.") => layers.blame(&[key.to_owned()], problem.message),
        "instructions.md" => problem.in_file(&format!("{job_type}/instructions.md")),
        _ => problem,
    }
}
