//! Converts a configuration to the settings of a model client.

use super::{DEFAULT_KEY_ENV, Llm, Secrets};
use plumbline_llm::{ModelConfig, Timeouts};
use std::time::Duration;

impl Llm {
    /// The configuration of a client.
    pub fn client_config(&self, secrets: &Secrets) -> ModelConfig {
        let api_key_env = self.api_key_env.clone().unwrap_or_else(|| DEFAULT_KEY_ENV.to_string());
        let total = Duration::from_secs(self.timeout_s);
        let mut config =
            ModelConfig::new(self.base_url.clone().unwrap_or_default(), self.model.clone().unwrap_or_default());
        config.api_key = secrets.for_address(&api_key_env, &config.base_url);
        config.api_key_env = api_key_env;
        config.profile = self.profile.for_client();
        config.api = self.api.chosen();
        config.tool_choice = self.tool_choice;
        config.stream = self.stream;
        config.service_tier = self.service_tier.clone();
        config.temperature = self.temperature;
        config.reasoning_level = self.reasoning_level.clone();
        config.parallel_tool_calls = self.parallel_tool_calls;
        config.output_cap = self.output_cap;
        let idle = Duration::from_secs(self.idle_timeout_s);
        config.timeouts = Timeouts { total, first_byte: total, idle, ..Timeouts::default() };
        config
    }
}

#[cfg(test)]
mod tests {
    use crate::{ConfigRegistry, ModelEnv, Secrets};
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
        let configs = ConfigRegistry::from_dir(folder.path()).unwrap();
        let resolved = configs.resolve("mine", &json!({}), &ModelEnv::default()).unwrap();
        let config = resolved.config.llm.client_config(&Secrets::default());
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
