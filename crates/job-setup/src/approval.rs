//! Which calls people decide on.

use crate::catalog;
use plumbline_config::{JobConfig, RuleViolation, advice, http_tools};
use plumbline_engine::{ApprovalRules, Handler, ToolSpec};
use plumbline_tools::{Registry, approval::digest_of_arguments, digest::digest_of_tool};
use serde_json::{Value, json};
use std::{collections::BTreeSet, sync::Arc};

/// The tools meant by `*` alone, besides those with the prefixes: tools that reach outside the job's own rows.
const REACHES_OUT: [&str; 3] = ["web_search", "fetch_page", "execute_cypher_query"];

/// The form for the engine, of these tools.
pub(crate) fn approval(config: &JobConfig, tools: &[ToolSpec], foreign: Registry) -> ApprovalRules {
    let patterns = config.approval.as_deref().unwrap_or_default();
    // The engine decides calls about the job itself.
    let outside = || tools.iter().filter(|tool| tool.handler != Handler::Engine);
    let is_asked = |tool: &&ToolSpec| patterns.iter().any(|pattern| names(pattern, &tool.name));
    let digest = |tool: &ToolSpec| {
        foreign.digest(&tool.name).unwrap_or_else(|| digest_of_tool(tool, &address(config, &tool.name)))
    };
    let tools = outside().map(|tool| (tool.name.clone(), digest(tool))).collect();
    ApprovalRules {
        asks_for: outside().filter(is_asked).map(|tool| tool.name.clone()).collect(),
        tools,
        read: Arc::new(move |name, arguments| digest_of_arguments(&foreign, name, arguments)),
        expires_s: config.limits.approval_expires_s,
    }
}

/// The target of a tool: an approval is not valid for another one.
fn address(config: &JobConfig, tool: &str) -> Value {
    let connections = &config.connections;
    match tool {
        "web_search" => {
            connections.web_search.as_ref().map(|search| json!([search.provider, search.base_url])).unwrap_or_default()
        }
        "execute_cypher_query" | "get_graph_schema" | "integrate_requirement" => {
            connections.neo4j.as_ref().map(|graph| json!([graph.uri, graph.database])).unwrap_or_default()
        }
        _ => Value::Null,
    }
}

/// Whether a pattern names a tool.
pub(crate) fn names(pattern: &str, tool: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some("") => REACHES_OUT.contains(&tool) || http_tools::is_foreign(tool),
        Some(prefix) => tool.starts_with(prefix),
        None => tool == pattern,
    }
}

/// Patterns without a match, and tools that cannot require approval.
pub(crate) fn broken(config: &JobConfig) -> Vec<RuleViolation> {
    let patterns = config.approval.as_deref().unwrap_or_default();
    if patterns.is_empty() {
        return Vec::new();
    }
    let (catalog, own) = (catalog(), http_tools::names(config));
    patterns
        .iter()
        .filter_map(|pattern| problem_of(pattern, &catalog, &own))
        .map(|wrong| RuleViolation::new(&["approval"], wrong))
        .collect()
}

fn problem_of(pattern: &str, catalog: &[ToolSpec], own: &BTreeSet<String>) -> Option<String> {
    if pattern.is_empty() || pattern.strip_suffix('*').unwrap_or(pattern).contains('*') {
        return Some(format!("`approval` has `{pattern}`; name a tool, with `*` at the end of the name or not at all"));
    }
    if pattern.ends_with('*') || pattern.starts_with("mcp_") || own.contains(pattern) {
        return None;
    }
    match catalog.iter().find(|tool| tool.name == pattern) {
        Some(tool) if tool.handler == Handler::Engine => Some(format!(
            "`approval` names `{pattern}`, which decides about the job itself; people decide on its end with `autonomy: review`"
        )),
        Some(_) => None,
        None => {
            let known = catalog.iter().map(|tool| &tool.name).chain(own).map(String::as_str);
            let known: Vec<&str> = known.collect();
            Some(format!("`approval` names the unknown tool `{pattern}`; {}", advice(pattern, &known)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_star_at_the_end_matches_any_end_and_alone_all_tools_that_reach_out() {
        for (pattern, named, other) in [
            ("*", "fetch_page", "write_file"),
            ("*", "http_pay", "read_file"),
            ("http_*", "http_pay", "fetch_page"),
            ("fetch_page", "fetch_page", "fetch_pages"),
            ("execute*", "execute_cypher_query", "fetch_page"),
        ] {
            assert!(names(pattern, named) && !names(pattern, other), "{pattern}");
        }
    }
}
