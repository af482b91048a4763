//! Converts a configuration to the settings of a model's client, and reads the secrets of clients.

use plumbline_config::{DEFAULT_KEY_ENV, Llm, ProfileKeys, Secrets, WebSearch};
use plumbline_llm::{ApiKey, ModelConfig, Profile, Timeouts};
use std::time::Duration;

/// The configuration of a model's client.
pub fn client_config(llm: &Llm, secrets: &Secrets) -> ModelConfig {
    let api_key_env = llm.api_key_env.clone().unwrap_or_else(|| DEFAULT_KEY_ENV.to_string());
    let total = Duration::from_secs(llm.timeout_s);
    let mut config = ModelConfig::new(llm.base_url.clone().unwrap_or_default(), llm.model.clone().unwrap_or_default());
    config.api_key = secret(secrets, &api_key_env, &config.base_url);
    config.api_key_env = api_key_env;
    config.profile = profile(&llm.profile);
    config.api = llm.api.chosen();
    config.tool_choice = llm.tool_choice;
    config.stream = llm.stream;
    config.service_tier = llm.service_tier.clone();
    config.temperature = llm.temperature;
    config.reasoning_level = llm.reasoning_level.clone();
    config.parallel_tool_calls = llm.parallel_tool_calls;
    config.output_cap = llm.output_cap;
    let idle = Duration::from_secs(llm.idle_timeout_s);
    config.timeouts = Timeouts { total, first_byte: total, idle, ..Timeouts::default() };
    config
}

/// The known properties of a model.
fn profile(keys: &ProfileKeys) -> Profile {
    let plain = Profile::default();
    Profile {
        api: keys.api,
        tool_call_id: keys.tool_call_id.unwrap_or_default(),
        reasoning_field: keys.reasoning_field.clone(),
        reasoning_echo: keys.reasoning_echo.unwrap_or_default(),
        tool_choices: keys.tool_choices.clone().unwrap_or_default(),
        tools_in_summary: keys.tools_in_summary.unwrap_or(plain.tools_in_summary),
        user_after_tool: keys.user_after_tool.unwrap_or(plain.user_after_tool),
        system_in_middle: keys.system_in_middle.unwrap_or(plain.system_in_middle),
        stream_options: keys.stream_options.unwrap_or(plain.stream_options),
        signature_placeholder: keys.signature_placeholder.clone(),
        reports_whole_prompt: keys.reports_whole_prompt.unwrap_or(plain.reports_whole_prompt),
    }
}

/// The secret in a variable, for the host of an address; none if it is not set or belongs to another host.
pub fn secret(secrets: &Secrets, name: &str, address: &str) -> Option<ApiKey> {
    secrets.goes_to(name, address).then(|| read(name))?
}

/// The same for a search service.
pub fn search_secret(secrets: &Secrets, search: &WebSearch) -> Option<ApiKey> {
    let name = search.api_key_env.as_deref()?;
    secrets.goes_to_search(name, search).then(|| read(name))?
}

fn read(name: &str) -> Option<ApiKey> {
    std::env::var(name).ok().as_deref().and_then(ApiKey::new)
}

#[cfg(test)]
mod tests {
    use super::client_config;
    use plumbline_config::{ConfigRegistry, ModelEnv, Secrets};
    use plumbline_llm::{Api, Profile, ReasoningEcho, ToolCallIds};
    use serde_json::json;

    #[test]
    fn each_key_of_a_profile_reaches_the_client() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("mine")).unwrap();
        let profile = json!({
            "api": "messages", "tool_call_id": "alnum9", "reasoning_field": "thoughts", "reasoning_echo": "never",
            "tool_choices": ["auto"], "tools_in_summary": true, "user_after_tool": false, "system_in_middle": false,
            "stream_options": false, "signature_placeholder": "none",
            "reports_whole_prompt": false
        });
        let llm = json!({"model": "m", "base_url": "http://127.0.0.1:1/v1", "profile": profile});
        let file = json!({"$extends": "creator", "llm": llm}).to_string();
        std::fs::write(folder.path().join("mine/config.json"), file).unwrap();
        let configs = ConfigRegistry::load(Some(folder.path()), None).unwrap();
        let resolved = configs.resolve("mine", &json!({}), &ModelEnv::default()).unwrap();
        let config = client_config(&resolved.config.llm, &Secrets::default());
        let expected = Profile {
            api: Some(Api::Messages),
            tool_call_id: ToolCallIds::Alnum9,
            reasoning_field: Some("thoughts".into()),
            reasoning_echo: ReasoningEcho::Never,
            tool_choices: vec!["auto".into()],
            tools_in_summary: true,
            user_after_tool: false,
            system_in_middle: false,
            stream_options: false,
            signature_placeholder: Some("none".into()),
            reports_whole_prompt: false,
        };
        assert_eq!(config.profile, expected);
    }
}
