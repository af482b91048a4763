//! `connections.http_tools`: tools of an operator's own, over HTTP.

use crate::{ConfigRegistry, JobConfig, ModelEnv, Resolved, Tools, rules::validate::RuleViolation};
use plumbline_engine::{PhaseKind, Phases, Replay, ToolSpec};
use plumbline_tools::{
    Registry,
    http::{self, HttpMethod, Unfit},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// The entries, by their names.
pub(crate) const KEY: &str = "connections.http_tools";
/// What the names of tools begin with that are known only at run time.
const FOREIGN: [&str; 2] = ["http_", "mcp_"];
/// Most entries of a job type.
const MOST: usize = 64;
/// Longest name of an entry.
const LONGEST_NAME: usize = 16;
/// What the definitions of foreign tools may take of each request, in tokens; what takes more is loaded on demand.
const MOST_TOKENS: u32 = 4_000;

/// A tool of an operator's own: the model calls it as `http_NAME`, and the call is one HTTP request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpTool {
    /// What it does, for the model: one or two sentences.
    pub description: String,
    /// JSON Schema of its arguments: an object.
    pub parameters: Map<String, Value>,
    /// `POST`: the arguments are the JSON body. `GET`: they are the query.
    #[serde(default)]
    #[schemars(with = "String", extend("enum" = ["POST", "GET"]))]
    pub method: Method,
    /// Its address. No redirect is followed.
    pub url: String,
    /// Headers, each with the name of the environment variable that holds its value.
    #[serde(default)]
    pub headers_env: BTreeMap<String, String>,
    /// The phases that it is bound in.
    #[serde(default = "both")]
    #[schemars(with = "Vec<String>")]
    pub phases: Vec<PhaseKind>,
    /// `safe`: twice is the same as once. `keyed`: the server keeps to `Idempotency-Key`. `unsafe`: a call is sent once, and is in doubt
    /// where it finds no answer.
    #[serde(default)]
    #[schemars(with = "String", extend("enum" = ["safe", "keyed", "unsafe"]))]
    pub replay: ReplayClass,
    /// Seconds from the beginning of a request to the last byte of its answer.
    #[serde(default = "timeout_s")]
    #[schemars(range(min = 1, max = 3600))]
    pub timeout_s: u64,
    /// Most bytes of an answer that are read.
    #[serde(default = "max_result_bytes")]
    #[schemars(range(min = 1, max = 10_000_000))]
    pub max_result_bytes: u64,
    /// Whether its address may be one outside the public internet.
    #[serde(default)]
    pub allow_private: bool,
}

/// How the arguments are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// As a JSON body.
    #[default]
    Post,
    /// As the query.
    Get,
}

/// Whether a call may be sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplayClass {
    /// Twice is the same as once.
    Safe,
    /// The server keeps to the key of a call.
    Keyed,
    /// It is sent once.
    #[default]
    Unsafe,
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
        let binds = |kind| self.phases.contains(&kind);
        http::HttpTool {
            name: tool_name(name),
            description: self.description.clone(),
            parameters: Value::Object(self.parameters.clone()),
            method: match self.method {
                Method::Post => HttpMethod::Post,
                Method::Get => HttpMethod::Get,
            },
            url: self.url.clone(),
            headers_env: self.headers_env.clone(),
            phases: match (binds(PhaseKind::Strategic), binds(PhaseKind::Tactical)) {
                (true, true) => Phases::Both,
                (true, false) => Phases::Strategic,
                (false, true) => Phases::Tactical,
                (false, false) => Phases::Neither,
            },
            replay: match self.replay {
                ReplayClass::Safe => Replay::Safe,
                ReplayClass::Keyed => Replay::Keyed,
                ReplayClass::Unsafe => Replay::Unsafe,
            },
            timeout: Duration::from_secs(self.timeout_s),
            max_result_bytes: usize::try_from(self.max_result_bytes).unwrap_or(usize::MAX),
            allow_private: self.allow_private,
        }
    }
}

fn tool_name(entry: &str) -> String {
    format!("http_{entry}")
}

/// The names of the tools.
pub(crate) fn names(config: &JobConfig) -> BTreeSet<String> {
    entries(config).map(|(name, _)| tool_name(name)).collect()
}

fn entries(config: &JobConfig) -> impl Iterator<Item = (&String, &HttpTool)> {
    config.connections.http_tools.iter().flatten()
}

impl Resolved {
    /// The tools of this configuration that are known only at run time. Those whose schema is too large are left out.
    pub fn foreign_tools(&self) -> Registry {
        http::registry(entries(&self.config).map(|(name, entry)| entry.decided(name)).collect()).0
    }
}

/// A tool that is known only at run time, as the model of a job type sees it.
#[derive(Clone, Debug)]
pub struct ForeignTool {
    /// The job type.
    pub job_type: String,
    /// What is sent of it; the phases are those that it is bound in.
    pub spec: ToolSpec,
    /// What its definition takes of each request, in tokens of the type's model.
    pub tokens: u32,
    /// Whether it is loaded on demand alone.
    pub is_deferred: bool,
}

impl ConfigRegistry {
    /// The tools of all job types that are known only at run time. Types that do not resolve have none.
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

/// Entries that are no tools, and addresses that are not called.
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

/// Tools that are left out, with the key to correct.
pub(crate) fn warnings(config: &JobConfig) -> Vec<(Vec<String>, String)> {
    let left_out = |(name, entry): (&String, &HttpTool)| {
        let Err(Unfit::LeftOut(why)) = http::check(&entry.decided(name)) else { return None };
        let key = format!("{KEY}.{name}.parameters");
        Some((
            vec![key.clone()],
            format!("`{key}` {why}: jobs go without {}; make the schema smaller", tool_name(name)),
        ))
    };
    entries(config).filter_map(left_out).collect()
}

/// Keys, variables and addresses of the entries.
pub(crate) fn secrets(config: &JobConfig) -> Vec<(String, &str, &str)> {
    entries(config)
        .flat_map(|(name, entry)| {
            let key = move |header: &String| format!("{KEY}.{name}.headers_env.{header}");
            entry.headers_env.iter().map(move |(header, variable)| (key(header), variable.as_str(), entry.url.as_str()))
        })
        .collect()
}

/// Whether a name in a list is one of a tool that is known only at run time, or a pattern of such.
pub(crate) fn is_foreign(name: &str) -> bool {
    FOREIGN.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a name in a list, with `*` at its end or without, stands for a tool or for another such name.
pub(crate) fn covers(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) if is_foreign(pattern) => name.strip_suffix('*').unwrap_or(name).starts_with(prefix),
        _ => pattern == name,
    }
}

/// Whether lists, as a configuration has them, say which foreign tools are bound. Where none does, all are.
pub(crate) fn are_listed(tools: &Value) -> bool {
    let binding = tools.as_object().into_iter().flatten().filter(|(list, _)| *list != "deferred");
    binding.filter_map(|(_, names)| names.as_array()).flatten().filter_map(Value::as_str).any(is_foreign)
}

/// The lists with the foreign tools in them: patterns written out, those that no list names bound as their entries say, and all of
/// them loaded on demand where their definitions take too much of each request.
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

/// Writes the tools in the place of patterns. A tool that is left out is in no list.
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

/// Names in the lists that no entry has.
pub(crate) fn unknown(config: &JobConfig) -> Vec<RuleViolation> {
    let known = names(config);
    let is_unknown = |name: &&str| is_foreign(name) && !known.iter().any(|tool| covers(name, tool));
    let say = |name: &str| {
        let message = format!("`tools` names `{name}`, and no entry of `{KEY}` is called so; correct one of the two");
        RuleViolation::new(&["tools"], message)
    };
    config.tools.all().filter(is_unknown).map(say).collect()
}
