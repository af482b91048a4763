//! Rules between keys, which the type of a single key cannot express. Each violation is one sentence at the key to
//! change.

use crate::{
    JobConfig, Llm,
    keys::{deliverables, http_tools},
    resolved::FALLBACK,
    rules::{levels, violation::RuleViolation},
    secrets,
};
use plumbline_engine::Api;
use std::path::{Component, Path};

/// The contradictions in the configuration that this crate can see. `llms` are the models by purpose, fully merged.
pub(crate) fn broken_rules(config: &JobConfig, llms: &[(&'static str, Llm)]) -> Vec<RuleViolation> {
    let mut broken = Vec::new();
    phases(config, &mut broken);
    repeated_calls(config, &mut broken);
    tool_result(config, &mut broken);
    ceiling(config, &mut broken);
    document_roots(config, &mut broken);
    connections(config, &mut broken);
    broken.extend(http_tools::unknown(config));
    broken.extend(deliverables::broken(config));
    for (section, llm) in llms {
        // A fallback model may have a smaller window: the conversation is cut to it.
        let threshold = if section.starts_with(FALLBACK) { 0 } else { config.limits.context_threshold_tokens };
        model(section, llm, threshold, &mut broken);
    }
    broken
}

fn phases(config: &JobConfig, broken: &mut Vec<RuleViolation>) {
    let (min, max) = (config.phase_settings.min_todos, config.phase_settings.max_todos);
    if min > max {
        let message = format!(
            "`phase_settings.min_todos` ({min}) is above `phase_settings.max_todos` ({max}); lower one or raise the other"
        );
        broken.push(RuleViolation::new(&["phase_settings.min_todos", "phase_settings.max_todos"], message));
    }
}

fn repeated_calls(config: &JobConfig, broken: &mut Vec<RuleViolation>) {
    let calls = config.limits.repeated_calls;
    if !(calls.nudge <= calls.refuse && calls.refuse <= calls.replan) {
        let message = format!(
            "`limits.repeated_calls` must rise from nudge to refuse to replan, but it is {}, {}, {}",
            calls.nudge, calls.refuse, calls.replan
        );
        let key = |name: &str| format!("limits.repeated_calls.{name}");
        broken.push(RuleViolation::new(&[&key("nudge"), &key("refuse"), &key("replan")], message));
    }
}

fn tool_result(config: &JobConfig, broken: &mut Vec<RuleViolation>) {
    let (result, threshold) = (config.limits.max_tool_result_tokens, config.limits.context_threshold_tokens);
    if result >= threshold {
        let message = format!(
            "`limits.max_tool_result_tokens` ({result}) must be below `limits.context_threshold_tokens` ({threshold}), \
             or one result fills the context"
        );
        broken.push(RuleViolation::new(&["limits.max_tool_result_tokens", "limits.context_threshold_tokens"], message));
    }
}

/// A job's limits must start below the ceiling to which they may be raised. Groups of limits have no ceiling that a
/// start could exceed.
fn ceiling(config: &JobConfig, broken: &mut Vec<RuleViolation>) {
    let Ok(limits) = serde_json::to_value(&config.limits) else { return };
    for (name, most) in &config.limits_ceiling {
        let (limit, Some(ceiling)) = (&limits[name], most.as_f64()) else { continue };
        if limit.as_f64().is_some_and(|limit| limit > ceiling) {
            let message = format!(
                "`limits.{name}` ({limit}) is above the {most} of `limits_ceiling`, where no job may begin; lower it, or raise \
                 `limits_ceiling.{name}` in the job type"
            );
            let keys = ["limits", "limits_ceiling"].map(|section| format!("{section}.{name}"));
            broken.push(RuleViolation::new(&[&keys[0], &keys[1]], message));
        }
    }
}

/// A root with `..`, or `.` at its start, matches no `document_path`, and one without a name all of them.
fn document_roots(config: &JobConfig, broken: &mut Vec<RuleViolation>) {
    for (place, root) in config.document_roots.iter().flatten().enumerate() {
        // The intake reads slashes around it as no part of it.
        let names = Path::new(root.trim_matches('/'));
        if names.as_os_str().is_empty() || names.components().any(|part| !matches!(part, Component::Normal(_))) {
            let key = format!("document_roots.{place}");
            let message = format!(
                "`{key}` is `{root}`, which names no subfolder of the import folder; write one like `policies/`, or leave out \
                 `document_roots` to permit the whole import folder"
            );
            broken.push(RuleViolation::new(&[&key], message));
        }
    }
}

/// Warnings of entries of `addresses_allowed` that are no addresses: they permit nothing.
pub(crate) fn addresses_allowed(config: &JobConfig) -> Vec<RuleViolation> {
    let entries = config.addresses_allowed.iter().flatten().enumerate();
    let wrong = entries.filter(|(_, address)| !levels::is_address(address)).map(|(place, address)| {
        let key = format!("addresses_allowed.{place}");
        let message = format!(
            "`{key}` is `{address}`, which is no address and permits nothing; write one like `https://models.example.org/v1`"
        );
        RuleViolation::new(&[&key], message)
    });
    wrong.collect()
}

fn model(section: &str, llm: &Llm, threshold: u32, broken: &mut Vec<RuleViolation>) {
    if llm.model.as_ref().is_some_and(|name| name.trim().is_empty()) {
        let message =
            format!("`{section}.model` is empty; name a model, or take the key out so that PLUMBLINE_MODEL fills it");
        broken.push(RuleViolation::new(&[&format!("{section}.model")], message));
    }
    if !llm.profile.takes_effort(llm) {
        let (level, known) = (llm.reasoning_level.as_deref().unwrap_or_default(), llm.profile.efforts.as_deref());
        let message = format!(
            "`{section}.reasoning_level` is `{level}`, which the model does not take; it takes {}",
            known.unwrap_or_default().join(", ")
        );
        broken.push(RuleViolation::new(&[&format!("{section}.reasoning_level")], message));
    }
    temperature(section, llm, broken);
    let (window, answer) = (llm.context_window, llm.max_output_tokens);
    if answer >= window {
        let message = format!(
            "`{section}.max_output_tokens` ({answer}) must be below `{section}.context_window` ({window}), \
             or there is no room for the prompt"
        );
        broken.push(RuleViolation::new(
            &[&format!("{section}.max_output_tokens"), &format!("{section}.context_window")],
            message,
        ));
    } else if u64::from(threshold) + u64::from(answer) > u64::from(window) {
        let message = format!(
            "`limits.context_threshold_tokens` ({threshold}) and `{section}.max_output_tokens` ({answer}) together \
             exceed `{section}.context_window` ({window}); lower the threshold to {} or less",
            window - answer
        );
        let keys = [&format!("{section}.max_output_tokens"), &format!("{section}.context_window")];
        broken.push(RuleViolation::new(&["limits.context_threshold_tokens", keys[0], keys[1]], message));
    }
    address(&format!("{section}.base_url"), llm.base_url.as_deref(), broken);
    variable(&format!("{section}.api_key_env"), llm.api_key_env.as_deref(), broken);
}

/// With thinking, the messages dialect accepts only its default temperature, and refuses each request with another one.
/// <https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking#feature-compatibility>
fn temperature(section: &str, llm: &Llm, broken: &mut Vec<RuleViolation>) {
    const THEIR_OWN: f64 = 1.0;
    let by_messages = llm.api.chosen().or(llm.profile.api) == Some(Api::Messages);
    let thinks = llm.reasoning_level.as_deref().is_some_and(|level| level != "none");
    let Some(temperature) = llm.temperature.filter(|temperature| *temperature != THEIR_OWN) else { return };
    if by_messages && thinks {
        let message = format!(
            "`{section}.temperature` is {temperature} beside `{section}.reasoning_level`, but a model that is asked by messages \
             thinks at {THEIR_OWN} alone; take one of the two out"
        );
        let keys = ["temperature", "reasoning_level"].map(|key| format!("{section}.{key}"));
        broken.push(RuleViolation::new(&[&keys[0], &keys[1]], message));
    }
}

fn connections(config: &JobConfig, broken: &mut Vec<RuleViolation>) {
    let connections = &config.connections;
    if let Some(neo4j) = &connections.neo4j {
        credentials("connections.neo4j.uri", &neo4j.uri, broken);
    }
    if let Some(embeddings) = &connections.embeddings {
        address("connections.embeddings.base_url", Some(&embeddings.base_url), broken);
    }
    if let Some(search) = &connections.web_search {
        address("connections.web_search.base_url", search.base_url.as_deref(), broken);
    }
    for (name, tool) in connections.http_tools.iter().flatten() {
        address(&format!("{}.{name}.url", http_tools::KEY), Some(&tool.url), broken);
    }
    for (key, name, _) in secrets::of_services(config) {
        variable(&key, Some(&name), broken);
    }
}

fn address(key: &str, url: Option<&str>, broken: &mut Vec<RuleViolation>) {
    let Some(url) = url else { return };
    match url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")) {
        None => broken.push(RuleViolation::new(&[key], format!("`{key}` must begin with http:// or https://"))),
        Some(rest) if rest.starts_with(['/', '?', '#', ':']) || rest.trim().is_empty() => {
            broken.push(RuleViolation::new(
                &[key],
                format!("`{key}` names no host; write e.g. https://host.example/path"),
            ));
        }
        Some(rest) if !is_host_and_port(rest) => {
            broken.push(RuleViolation::new(
                &[key],
                format!("`{key}` has a space in its host or a wrong port; write e.g. https://host.example:8443/path"),
            ));
        }
        Some(_) => {}
    }
    credentials(key, url, broken);
}

/// Whether an address without its scheme can be called: nothing else of it is looked at before the first call.
fn is_host_and_port(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    let (_, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    // The colons of an IPv6 address are in its brackets.
    let port = host.rsplit_once(']').map_or(host, |(_, after)| after).split_once(':').map(|(_, port)| port);
    !host.contains(char::is_whitespace) && port.is_none_or(|port| port.is_empty() || port.parse::<u16>().is_ok())
}

/// Configurations are stored and shown, so an address must not contain a secret.
fn credentials(key: &str, url: &str, broken: &mut Vec<RuleViolation>) {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest).split(['/', '?', '#']).next().unwrap_or("");
    if authority.contains('@') {
        let message =
            format!("`{key}` contains user name or password; take them out, secrets come from the environment");
        broken.push(RuleViolation::new(&[key], message));
    }
}

/// The value may be the secret itself in place of its variable's name; the sentence does not repeat it.
fn variable(key: &str, name: Option<&str>, broken: &mut Vec<RuleViolation>) {
    let Some(name) = name else { return };
    let plain = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    if name.is_empty() || !plain || name.starts_with(|c: char| c.is_ascii_digit()) {
        let message = format!(
            "`{key}` must be the name of an environment variable (capital letters, digits, underscores), \
             not the secret itself"
        );
        broken.push(RuleViolation::new(&[key], message));
    }
}
