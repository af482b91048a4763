//! `connections.http_tools`: an operator's own tools over HTTP.

use crate::{ConfigRegistry, JobConfig, ModelEnv, Resolved, Tools, rules::violation::RuleViolation};
use plumbline_engine::{HttpMethod, PhaseKind, Phases, Replay, ToolSpec};
use plumbline_tools::{
    Registry,
    http::{self, Unfit},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// The key of the entries.
pub(crate) const KEY: &str = "connections.http_tools";
/// Prefixes of the names of tools that are known only at run time.
const FOREIGN: [&str; 2] = ["http_", "mcp_"];
/// Maximum entries of a job type.
const MOST: usize = 64;
/// Maximum length of an entry's name.
const LONGEST_NAME: usize = 16;
/// Maximum tokens of each request for the definitions of foreign tools; above it they are loaded on demand.
const MOST_TOKENS: u32 = 4_000;

/// An operator's own tool: the model calls it as `http_NAME`, and the call is one HTTP request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpTool {
    /// What the tool does, for the model, in one or two sentences.
    pub description: String,
    /// JSON Schema of the arguments, which are an object.
    pub parameters: Map<String, Value>,
    /// `POST`: the arguments are the JSON body. `GET`: they are query parameters.
    #[serde(default)]
    #[schemars(with = "String", extend("enum" = ["POST", "GET"]))]
    pub method: HttpMethod,
    /// The address. Redirects are not followed.
    pub url: String,
    /// Headers, each with the name of the environment variable that holds its value.
    #[serde(default)]
    pub headers_env: BTreeMap<String, String>,
    /// The phases in which the tool is bound.
    #[serde(default = "both")]
    #[schemars(with = "Vec<String>")]
    pub phases: Vec<PhaseKind>,
    /// `safe`: a repeated call is harmless. `keyed`: the server executes a call once per `Idempotency-Key`. `unsafe`: a
    /// call is sent once, and its outcome is unknown if no response arrives.
    #[serde(default)]
    #[schemars(with = "String", extend("enum" = ["safe", "keyed", "unsafe"]))]
    pub replay: Replay,
    /// Seconds from the start of a request to the last byte of its response.
    #[serde(default = "timeout_s")]
    #[schemars(range(min = 1, max = 3600))]
    pub timeout_s: u64,
    /// Maximum bytes of a response that are read.
    #[serde(default = "max_result_bytes")]
    #[schemars(range(min = 1, max = 10_000_000))]
    pub max_result_bytes: u64,
    /// Whether the address may be outside the public internet.
    #[serde(default)]
    pub allow_private: bool,
}

fn both() -> Vec<PhaseKind> {
    vec![PhaseKind::Strategic, PhaseKind::Tactical]
}

fn timeout_s() -> u64 {
    60
}

fn max_result_bytes() -> u64 {
    1_000_000
}

impl HttpTool {
    fn decided(&self, name: &str) -> http::HttpTool {
        http::HttpTool {
            name: tool_name(name),
            description: self.description.clone(),
            parameters: Value::Object(self.parameters.clone()),
            method: self.method,
            url: self.url.clone(),
            headers_env: self.headers_env.clone(),
            phases: Phases::Neither.with(&self.phases),
            replay: self.replay,
            timeout: Duration::from_secs(self.timeout_s),
            max_result_bytes: usize::try_from(self.max_result_bytes).unwrap_or(usize::MAX),
            allow_private: self.allow_private,
        }
    }
}

fn tool_name(entry: &str) -> String {
    format!("http_{entry}")
}

/// The tools' names.
pub(crate) fn names(config: &JobConfig) -> BTreeSet<String> {
    entries(config).map(|(name, _)| tool_name(name)).collect()
}

fn entries(config: &JobConfig) -> impl Iterator<Item = (&String, &HttpTool)> {
    config.connections.http_tools.iter().flatten()
}

impl Resolved {
    /// The tools of this configuration that are known only at run time, without those whose schema is too large.
    pub fn foreign_tools(&self) -> Registry {
        http::registry(entries(&self.config).map(|(name, entry)| entry.decided(name)))
    }
}

/// A tool that is known only at run time, as a job type's model sees it.
#[derive(Clone, Debug)]
pub struct ForeignTool {
    /// The job type.
    pub job_type: String,
    /// The definition that is sent; its phases are those in which it is bound.
    pub spec: ToolSpec,
    /// The size of its definition in each request, in tokens of the type's model.
    pub tokens: u32,
    /// Whether it is loaded only on demand.
    pub is_deferred: bool,
}

impl ConfigRegistry {
    /// All job types' tools that are known only at run time. Types that cannot be resolved have none.
    pub fn foreign_tools(&self, env: &ModelEnv) -> Vec<ForeignTool> {
        self.job_types().into_iter().flat_map(|job_type| self.foreign_tools_of(job_type, env)).collect()
    }

    fn foreign_tools_of(&self, job_type: &str, env: &ModelEnv) -> Vec<ForeignTool> {
        let shown = self.show(job_type, &json!({}), env).ok();
        let Some(resolved) = shown.filter(|resolved| resolved.config.connections.http_tools.is_some()) else {
            return Vec::new();
        };
        let Ok(settings) = resolved.engine_settings(&[]) else { return Vec::new() };
        let foreign = settings.tools.iter().filter(|tool| is_foreign(&tool.name));
        let shown = |tool: &ToolSpec| ForeignTool {
            job_type: job_type.to_owned(),
            tokens: tool.tokens(|text| (settings.count_tokens)(text)),
            is_deferred: settings.deferred.contains(&tool.name),
            spec: tool.clone(),
        };
        foreign.map(shown).collect()
    }
}

/// Invalid entries, and addresses that are not called.
pub(crate) fn broken(config: &JobConfig) -> Vec<RuleViolation> {
    let mut broken = Vec::new();
    let count = entries(config).count();
    if count > MOST {
        let message = format!("`{KEY}` has {count} tools, more than {MOST}; take some out");
        broken.push(RuleViolation::new(&[KEY], message));
    }
    for (name, entry) in entries(config) {
        let key = format!("{KEY}.{name}");
        let mut say = |key: &str, wrong: &str| broken.push(RuleViolation::new(&[key], format!("`{key}` {wrong}")));
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_plain) {
            say(&key, "must be named by 1 to 16 small letters and digits; the tool is then `http_` and the name");
            continue;
        }
        if entry.description.trim().is_empty() {
            say(
                &format!("{key}.description"),
                "is empty; say what the tool does, for the model reads nothing else of it",
            );
        }
        if entry.phases.is_empty() {
            say(&format!("{key}.phases"), "is empty; name `strategic`, `tactical` or both, or take the key out");
        }
        if let Some(header) = entry.headers_env.keys().find(|header| !http::may_be_sent(header)) {
            say(
                &format!("{key}.headers_env"),
                &format!("has `{header}`, which is no header that an entry may set; take it out"),
            );
        }
        if !entry.allow_private && http::literal_private_address(&entry.url).is_some() {
            say(
                &format!("{key}.url"),
                "is an address outside the public internet; set `allow_private` beside it, if that is meant",
            );
        }
        if let Err(Unfit::Broken(why)) = http::check(&entry.decided(name)) {
            say(&format!("{key}.parameters"), &why);
        }
    }
    broken
}

/// Omitted tools, with the key to correct.
pub(crate) fn warnings(config: &JobConfig) -> Vec<RuleViolation> {
    let left_out = |(name, entry): (&String, &HttpTool)| {
        let Err(Unfit::LeftOut(why)) = http::check(&entry.decided(name)) else { return None };
        let key = format!("{KEY}.{name}.parameters");
        let message = format!("`{key}` {why}: jobs go without {}; make the schema smaller", tool_name(name));
        Some(RuleViolation::new(&[&key], message))
    };
    entries(config).filter_map(left_out).collect()
}

/// The entries' keys, variables and addresses.
pub(crate) fn secrets(config: &JobConfig) -> Vec<(String, &str, &str)> {
    entries(config)
        .flat_map(|(name, entry)| {
            let key = move |header: &String| format!("{KEY}.{name}.headers_env.{header}");
            entry.headers_env.iter().map(move |(header, variable)| (key(header), variable.as_str(), entry.url.as_str()))
        })
        .collect()
}

/// Whether a name in a list belongs to a tool that is known only at run time, or is a pattern for such tools.
pub(crate) fn is_foreign(name: &str) -> bool {
    FOREIGN.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a name in a list, with or without `*` at its end, matches a tool or another such name.
pub(crate) fn covers(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) if is_foreign(pattern) => name.strip_suffix('*').unwrap_or(name).starts_with(prefix),
        _ => pattern == name,
    }
}

/// Whether a configuration's lists name the foreign tools that are bound. If none does, all are bound.
pub(crate) fn are_listed(tools: &Value) -> bool {
    let binding = tools.as_object().into_iter().flatten().filter(|(list, _)| *list != "deferred");
    binding.filter_map(|(_, names)| names.as_array()).flatten().filter_map(Value::as_str).any(is_foreign)
}

/// Replaces the foreign names in lists with those in other lists.
pub(crate) fn relist(lists: &mut Value, present: &Value) {
    for (list, names) in lists.as_object_mut().into_iter().flatten() {
        let Some(names) = names.as_array_mut() else { continue };
        let is_foreign = |name: &Value| name.as_str().is_some_and(is_foreign);
        names.retain(|name| !is_foreign(name));
        names.extend(present[list].as_array().into_iter().flatten().filter(|name| is_foreign(name)).cloned());
    }
}

/// The lists with the foreign tools: patterns are expanded, tools that no list names are bound as their entries say,
/// and all are loaded on demand if their definitions take too much of each request.
pub(crate) fn laid_out(mut lists: Tools, specs: &[ToolSpec], listed: bool, count: &dyn Fn(&str) -> u32) -> Tools {
    let Tools { workspace, strategic, tactical, domain, deferred } = &mut lists;
    for list in [&mut *workspace, strategic, tactical, domain, deferred] {
        write_out(list, specs);
    }
    if !listed {
        let others = specs.iter().filter(|tool| !deferred.contains(&tool.name));
        domain.extend(others.map(|tool| tool.name.clone()));
    }
    let mut bound = [workspace, strategic, tactical, domain];
    let is_bound = |tool: &&ToolSpec| bound.iter().any(|list| list.contains(&tool.name));
    let foreign: Vec<&ToolSpec> = specs.iter().filter(is_bound).collect();
    if foreign.iter().map(|tool| tool.tokens(count)).sum::<u32>() > MOST_TOKENS {
        for list in &mut bound {
            list.retain(|name| !is_foreign(name));
        }
        deferred.extend(foreign.iter().map(|tool| tool.name.clone()));
    }
    lists
}

/// Replaces patterns with tools. An omitted tool is in no list.
fn write_out(list: &mut Vec<String>, specs: &[ToolSpec]) {
    let mut written: Vec<String> = Vec::new();
    for name in list.drain(..) {
        match is_foreign(&name) {
            true => written.extend(specs.iter().filter(|tool| covers(&name, &tool.name)).map(|tool| tool.name.clone())),
            false => written.push(name),
        }
    }
    let mut seen = BTreeSet::new();
    written.retain(|name| !is_foreign(name) || seen.insert(name.clone()));
    *list = written;
}

/// Names in the lists without an entry.
pub(crate) fn unknown(config: &JobConfig) -> Vec<RuleViolation> {
    let known = names(config);
    let is_unknown = |name: &&str| is_foreign(name) && !known.iter().any(|tool| covers(name, tool));
    let say = |name: &str| {
        let message = format!("`tools` names `{name}`, and no entry of `{KEY}` is called so; correct one of the two");
        RuleViolation::new(&["tools"], message)
    };
    config.tools.all().filter(is_unknown).map(say).collect()
}
