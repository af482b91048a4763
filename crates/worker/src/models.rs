//! Model clients, one per distinct configuration, shared by all jobs of the process.

use crate::{
    clock,
    config::{DEFAULT_KEY_ENV, Llm, OutputCap, Secrets},
};
use plumbline_effects::model::{Learnt, ModelClient, ModelClientError, ModelConfig, OutputCapField, Timeouts};
use plumbline_engine::{
    Failure, FailureClass, Handler, ModelRequest, Phases, Purpose, Replay, Reply, RequestMessage, RequestRecord,
    ToolSpec,
};
use serde_json::json;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// The clients made so far.
pub(crate) struct Models {
    secrets: Arc<Secrets>,
    clients: Mutex<HashMap<String, Arc<ModelClient>>>,
}

impl Models {
    /// None yet; each will be sent what belongs to its host.
    pub(crate) fn new(secrets: Arc<Secrets>) -> Self {
        Self { secrets, clients: Mutex::default() }
    }

    /// The client for a configuration.
    ///
    /// # Errors
    /// A sentence, when no client can be made from it.
    pub(crate) fn client(&self, llm: &Llm) -> Result<Arc<ModelClient>, ModelClientError> {
        let key = format!("{llm:?}");
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&key) {
            return Ok(client.clone());
        }
        let client = Arc::new(ModelClient::new(config(llm, &self.secrets))?);
        clients.insert(key, client.clone());
        Ok(client)
    }
}

/// The failure of a call that could not even be made. An address has to be changed by somebody; a client that cannot be set
/// up is a shortage of the machine, which passes.
pub(crate) fn unusable(request: &ModelRequest<'_>, llm: &Llm, error: &ModelClientError) -> Failure {
    let reason = error.to_string();
    let (class, hint) = match error {
        ModelClientError::BaseUrl { .. } => {
            (FailureClass::Permanent, "correct `llm` in the job type's configuration or the environment")
        }
        ModelClientError::Http(_) => {
            (FailureClass::Transient, "look for too many open files, and for the TLS certificates")
        }
    };
    let model = llm.model.clone().unwrap_or_default();
    let record = RequestRecord {
        error: Some(reason.clone()),
        ..RequestRecord::sent(model, request.purpose, request.attempt, clock::now())
    };
    Failure {
        class,
        message: reason,
        retry_after_s: None,
        hint: Some(hint.to_owned()),
        suspicion: None,
        jitter: 0.0,
        record,
    }
}

/// Asks a model to call a tool, as a job would ask it; again where the endpoint says that it is to be asked otherwise.
///
/// # Errors
/// The failure, classified, with what the operator can do.
pub async fn try_call(llm: &Llm, secrets: &Secrets) -> Result<Reply, Box<Failure>> {
    let tool = ToolSpec {
        name: "report",
        phases: Phases::Both,
        description: "Report that you are there.".into(),
        parameters: json!({"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}).into(),
        documentation: String::new(),
        handler: Handler::Local,
        replay: Replay::Safe,
        reads_only: true,
    };
    let request = || ModelRequest {
        purpose: Purpose::Tactical,
        messages: vec![
            RequestMessage::System("You work by calling tools.".into()),
            RequestMessage::User("Call the tool `report` with the word `ready`.".into()),
        ],
        tools: vec![&tool],
        max_output_tokens: llm.max_output_tokens,
        attempt: 1,
    };
    let client = ModelClient::new(config(llm, secrets)).map_err(|error| Box::new(unusable(&request(), llm, &error)))?;
    let learnt = Learnt::default();
    loop {
        let lessons = learnt.lessons();
        let answered = client.call(request(), request, clock::now, &learnt).await;
        // A job goes on as the endpoint says, too: there are no more lessons than ways of asking.
        if answered.is_ok() || learnt.lessons() == lessons {
            return answered;
        }
    }
}

/// What a client is made from.
pub(crate) fn config(llm: &Llm, secrets: &Secrets) -> ModelConfig {
    let api_key_env = llm.api_key_env.clone().unwrap_or_else(|| DEFAULT_KEY_ENV.to_string());
    let total = Duration::from_secs(llm.timeout_s);
    let mut config = ModelConfig::new(llm.base_url.clone().unwrap_or_default(), llm.model.clone().unwrap_or_default());
    config.api_key = secrets.for_address(&api_key_env, &config.base_url);
    config.api_key_env = api_key_env;
    config.profile = llm.profile.for_client();
    config.api = llm.api.chosen();
    config.tool_choice = llm.tool_choice;
    config.stream = llm.stream;
    config.service_tier = llm.service_tier.clone();
    config.temperature = llm.temperature;
    config.reasoning_level = llm.reasoning_level.clone();
    config.parallel_tool_calls = llm.parallel_tool_calls;
    config.output_cap = match llm.output_cap {
        OutputCap::MaxTokens => OutputCapField::MaxTokens,
        OutputCap::MaxCompletionTokens => OutputCapField::MaxCompletionTokens,
    };
    let idle = Duration::from_secs(llm.idle_timeout_s);
    config.timeouts = Timeouts { total, first_byte: total, idle, ..Timeouts::default() };
    config
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Configs, ModelEnv};
    use plumbline_effects::model::{Api, Profile, ReasoningEcho, ToolCallIds};
    use serde_json::json;

    #[test]
    fn each_key_of_a_profile_reaches_the_client() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("mine")).unwrap();
        let profile = json!({
            "api": "messages", "tool_call_id": "alnum9", "reasoning_field": "thoughts", "reasoning_echo": "never",
            "tool_choices": ["auto"], "tools_in_summary": true, "user_after_tool": false, "system_in_middle": false,
            "stream_options": false
        });
        let llm = json!({"model": "m", "base_url": "http://127.0.0.1:1/v1", "profile": profile});
        let file = json!({"$extends": "creator", "llm": llm}).to_string();
        std::fs::write(folder.path().join("mine/config.json"), file).unwrap();
        let configs = Configs::from_dir(folder.path()).unwrap();
        let resolved = configs.resolve("mine", &json!({}), &ModelEnv::default()).unwrap();
        let config = config(&resolved.config.llm, &Secrets::default());
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
        };
        assert_eq!(config.profile, expected);
    }
}
