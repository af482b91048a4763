//! An operator's own tools over HTTP: their definitions, what is wrong with them, and where they are bound.

use plumbline_config::{
    HttpTool, JobConfig, Resolved, RuleViolation, Tools,
    http_tools::{KEY, covers, entries, is_foreign, tool_name},
};
use plumbline_engine::{Phases, ToolSpec};
use plumbline_tools::{
    Registry,
    http::{self, Unfit},
};
use serde_json::Value;
use std::{collections::BTreeSet, time::Duration};

/// Maximum entries of a job type.
const MOST: usize = 64;
/// Maximum length of an entry's name.
const LONGEST_NAME: usize = 16;
/// Maximum tokens of each request for the definitions of foreign tools; above it they are loaded on demand.
const MOST_TOKENS: u32 = 4_000;

/// The tools of a configuration that are known only at run time, without those whose schema is too large.
pub fn foreign_tools(config: &JobConfig) -> Registry {
    http::registry(entries(config).map(|(name, entry)| decided(name, entry)))
}

/// The value stored with a job.
pub fn to_stored(resolved: &Resolved) -> Value {
    resolved.to_stored(foreign_tools(&resolved.config).described())
}

/// An entry as the tools have it.
fn decided(name: &str, entry: &HttpTool) -> http::HttpTool {
    http::HttpTool {
        name: tool_name(name),
        description: entry.description.clone(),
        parameters: Value::Object(entry.parameters.clone()),
        method: entry.method,
        url: entry.url.clone(),
        headers_env: entry.headers_env.clone(),
        phases: Phases::Neither.with(&entry.phases),
        replay: entry.replay,
        timeout: Duration::from_secs(entry.timeout_s),
        max_result_bytes: usize::try_from(entry.max_result_bytes).unwrap_or(usize::MAX),
        allow_private: entry.allow_private,
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
        if let Err(Unfit::Broken(why)) = http::check(&decided(name, entry)) {
            say(&format!("{key}.parameters"), &why);
        }
    }
    broken
}

/// Omitted tools, with the key to correct.
pub(crate) fn warnings(config: &JobConfig) -> Vec<RuleViolation> {
    let left_out = |(name, entry): (&String, &HttpTool)| {
        let Err(Unfit::LeftOut(why)) = http::check(&decided(name, entry)) else { return None };
        let key = format!("{KEY}.{name}.parameters");
        let message = format!("`{key}` {why}: jobs go without {}; change the schema", tool_name(name));
        Some(RuleViolation::new(&[&key], message))
    };
    entries(config).filter_map(left_out).collect()
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
