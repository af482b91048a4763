//! `approval`: which calls people decide on.

use super::{connections::WebAccess, http_tools, job::JobConfig};
use crate::{
    Resolved, catalog,
    rules::{nearest::advice, violation::RuleViolation},
};
use plumbline_engine::{ApprovalRules, Handler, ToolSpec, Untrusted};
use plumbline_tools::{Registry, approval::digest_of_arguments, digest::digest_of_tool};
use serde::Serialize;
use serde_json::{Value, json};
use std::{collections::BTreeSet, sync::Arc};

/// The key.
const KEY: &str = "approval";

/// The tools meant by `*` alone, besides those with the prefixes: tools that reach outside the job's own rows.
const REACHES_OUT: [&str; 3] = ["web_search", "fetch_page", "execute_cypher_query"];

/// The rules for calls without a person's approval that are read again at each claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallRules {
    approval: Option<Vec<String>>,
    untrusted: Untrusted,
    untrusted_allowed: Option<Vec<String>>,
    web: Option<WebAccess>,
}

impl Resolved {
    /// The form for the engine, of these tools.
    pub(crate) fn approval(&self, tools: &[ToolSpec], foreign: Registry) -> ApprovalRules {
        let patterns = self.config.approval.as_deref().unwrap_or_default();
        // The engine decides calls about the job itself.
        let outside = || tools.iter().filter(|tool| tool.handler != Handler::Engine);
        let is_asked = |tool: &&ToolSpec| patterns.iter().any(|pattern| names(pattern, &tool.name));
        let digest = |tool: &ToolSpec| {
            foreign.digest(&tool.name).unwrap_or_else(|| digest_of_tool(tool, &self.address(&tool.name)))
        };
        let tools = outside().map(|tool| (tool.name.clone(), digest(tool))).collect();
        ApprovalRules {
            asks_for: outside().filter(is_asked).map(|tool| tool.name.clone()).collect(),
            tools,
            read: Arc::new(move |name, arguments| digest_of_arguments(&foreign, name, arguments)),
            expires_s: self.config.limits.approval_expires_s,
        }
    }

    /// The same configuration with the current rules for calls from the files, which are read again at each claim.
    #[must_use]
    pub fn with_call_rules(mut self, rules: CallRules) -> Self {
        self.config.approval = rules.approval;
        self.config.untrusted = rules.untrusted;
        self.config.untrusted_allowed = rules.untrusted_allowed;
        self.config.connections.web = rules.web;
        self
    }

    /// The rules of this configuration for a job's calls.
    pub fn call_rules(&self) -> CallRules {
        CallRules {
            approval: self.config.approval.clone(),
            untrusted: self.config.untrusted,
            untrusted_allowed: self.config.untrusted_allowed.clone(),
            web: self.config.connections.web.clone(),
        }
    }

    /// The target of a tool: an approval is not valid for another one.
    fn address(&self, tool: &str) -> Value {
        let connections = &self.config.connections;
        match tool {
            "web_search" => connections
                .web_search
                .as_ref()
                .map(|search| json!([search.provider, search.base_url]))
                .unwrap_or_default(),
            "execute_cypher_query" | "get_graph_schema" | "integrate_requirement" => {
                connections.neo4j.as_ref().map(|graph| json!([graph.uri, graph.database])).unwrap_or_default()
            }
            _ => Value::Null,
        }
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
        .map(|wrong| RuleViolation::new(&[KEY], wrong))
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
