//! What a job may reach once it has read untrusted text.

use crate::approval;
use plumbline_config::{JobConfig, RuleViolation, http_tools};
use plumbline_engine::{ToolSpec, UntrustedRules};
use plumbline_tools::{
    reaches_out,
    web::{Provider, host_of},
};
use std::{collections::BTreeSet, sync::Arc};

/// The tool that queries the configured service.
const SEARCH: &str = "web_search";

/// Hosts that a job may always reach.
pub fn allowed_hosts(config: &JobConfig) -> Vec<String> {
    let web = config.connections.web.iter();
    web.flat_map(|web| &web.allowed_hosts).map(|host| host.to_ascii_lowercase()).collect()
}

/// The rules for the engine, for these tools.
pub(crate) fn untrusted(config: &JobConfig, tools: &[ToolSpec]) -> UntrustedRules {
    let hosts = allowed_hosts(config);
    let allowed = config.untrusted_allowed.as_deref().unwrap_or_default();
    let is_allowed = |name: &str| allowed.iter().any(|pattern| approval::names(pattern, name));
    let names = tools.iter().map(|tool| tool.name.as_str()).filter(|name| http_tools::is_foreign(name));
    let restricted: BTreeSet<String> = names.filter(|name| !is_allowed(name)).map(str::to_owned).collect();
    let searches_out = search_host(config).is_some_and(|host| !hosts.contains(&host));
    let reach = move |name: &str, arguments: &str| match name {
        SEARCH => searches_out,
        name if http_tools::is_foreign(name) => restricted.contains(name),
        name => reaches_out(name, arguments, &hosts),
    };
    UntrustedRules { mode: config.untrusted, reaches_out: Arc::new(reach) }
}

/// The host to which searches are sent.
fn search_host(config: &JobConfig) -> Option<String> {
    let search = config.connections.web_search.as_ref()?;
    let usual = || Provider::from_word(&search.provider)?.base_url();
    host_of(search.base_url.as_deref().or_else(usual)?)
}

/// Patterns of `untrusted_allowed` that match no foreign tool, and invalid hosts.
pub(crate) fn broken(config: &JobConfig) -> Vec<RuleViolation> {
    let own = http_tools::names(config);
    let is_known = |pattern: &str| {
        pattern.strip_suffix('*').is_some_and(|prefix| !prefix.contains('*')) && http_tools::is_foreign(pattern)
            || pattern == "*"
            || pattern.starts_with("mcp_")
            || own.contains(pattern)
    };
    let patterns = config.untrusted_allowed.iter().flatten().filter(|pattern| !is_known(pattern));
    let wrong = patterns.map(|pattern| {
        let message = format!(
            "`untrusted_allowed` has `{pattern}`; name an HTTP or MCP tool of this type, with `*` at the end of the name or not at all"
        );
        RuleViolation::new(&["untrusted_allowed"], message)
    });
    let is_host = |host: &str| host_of(&format!("http://{host}/")).is_some_and(|read| read.eq_ignore_ascii_case(host));
    let hosts = config.connections.web.iter().flat_map(|web| &web.allowed_hosts).filter(|host| !is_host(host));
    let no_host = hosts.map(|host| {
        let message =
            format!("`connections.web.allowed_hosts` has `{host}`; write a host's name alone, e.g. `www.example.org`");
        RuleViolation::new(&["connections.web.allowed_hosts"], message)
    });
    wrong.chain(no_host).collect()
}
