//! `connections.http_tools`: an operator's own tools over HTTP.

use crate::{JobConfig, rules::violation::RuleViolation};
use plumbline_engine::{HttpMethod, PhaseKind, Replay};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The key of the entries.
pub const KEY: &str = "connections.http_tools";
/// Prefixes of the names of tools that are known only at run time.
const FOREIGN: [&str; 2] = ["http_", "mcp_"];

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
    pub method: HttpMethod,
    /// The address. Redirects are not followed.
    pub url: String,
    /// Headers, each with the name of the environment variable that holds its value.
    #[serde(default)]
    pub headers_env: BTreeMap<String, String>,
    /// The phases in which the tool is bound.
    #[serde(default = "both")]
    pub phases: Vec<PhaseKind>,
    /// `safe`: a repeated call is harmless. `keyed`: the server executes a call once per `Idempotency-Key`. `unsafe`: a
    /// call is sent once, and its outcome is unknown if no response arrives.
    #[serde(default)]
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

/// The name by which the model calls the tool of an entry.
pub fn tool_name(entry: &str) -> String {
    format!("http_{entry}")
}

/// The tools' names.
pub fn names(config: &JobConfig) -> BTreeSet<String> {
    entries(config).map(|(name, _)| tool_name(name)).collect()
}

/// The entries by name.
pub fn entries(config: &JobConfig) -> impl Iterator<Item = (&String, &HttpTool)> {
    config.connections.http_tools.iter().flatten()
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
pub fn is_foreign(name: &str) -> bool {
    FOREIGN.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a name in a list, with or without `*` at its end, matches a tool or another such name.
pub fn covers(pattern: &str, name: &str) -> bool {
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
