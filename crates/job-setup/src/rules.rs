//! The rules that need the tools, and the configurations that are held against them.

use crate::{approval, deliverables, http_tools, patterns, settings, untrusted};
use plumbline_config::{ConfigError, ConfigRegistry, JobConfig, OuterRules, RuleViolation};
use plumbline_tools::{graph::check_address, web::Provider};
use std::{path::Path, sync::Arc};

/// The built-in files, overridden by a folder for configurations (`PLUMBLINE_CONFIG_DIR`) and one for prompts
/// (`PLUMBLINE_PROMPTS_DIR`), if given, with every rule.
///
/// # Errors
/// If a folder cannot be read.
pub fn configs(config_dir: Option<&Path>, prompts_dir: Option<&Path>) -> Result<ConfigRegistry, ConfigError> {
    let rules = OuterRules {
        broken,
        warnings: http_tools::warnings,
        unusable: |resolved| settings::settings(resolved, Arc::new(|_| 0)).err(),
    };
    Ok(ConfigRegistry::load(config_dir, prompts_dir)?.with_rules(rules))
}

fn broken(config: &JobConfig) -> Vec<RuleViolation> {
    let lists = [
        provider(config),
        graph(config),
        approval::broken(config),
        http_tools::broken(config),
        untrusted::broken(config),
    ];
    let patterns = [patterns::scan(config).err(), patterns::record_defaults(config).err()];
    let schemas = deliverables::contents(config).filter_map(Result::err);
    lists.into_iter().flatten().chain(patterns.into_iter().flatten()).chain(schemas).collect()
}

/// An address that leads to no graph.
fn graph(config: &JobConfig) -> Vec<RuleViolation> {
    let Some(neo4j) = &config.connections.neo4j else { return Vec::new() };
    let key = "connections.neo4j.uri";
    let refused = |reason: String| {
        let message = format!("`{key}` is not a usable address ({reason}); write it like http://localhost:7474");
        RuleViolation::new(&[key], message)
    };
    check_address(&neo4j.uri).err().map(refused).into_iter().collect()
}

/// An unknown search service, or one without an address.
fn provider(config: &JobConfig) -> Vec<RuleViolation> {
    let Some(search) = &config.connections.web_search else { return Vec::new() };
    let (key, base_url) = ("connections.web_search.provider", "connections.web_search.base_url");
    match Provider::from_word(&search.provider) {
        None => {
            let message = format!("`{key}` is `{}`; it must be searxng, tavily or brave", search.provider);
            vec![RuleViolation::new(&[key], message)]
        }
        Some(Provider::Searxng) if search.base_url.is_none() => {
            let message = format!("`{base_url}` is missing: searxng has no usual address");
            vec![RuleViolation::new(&[key, base_url], message)]
        }
        Some(_) => Vec::new(),
    }
}
