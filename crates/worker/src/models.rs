//! Model clients, one per distinct configuration, shared by all jobs of the process.

use crate::{
    clock,
    config::{DEFAULT_KEY_ENV, Llm, OutputCap, Secrets},
};
use plumbline_effects::model::{ModelClient, ModelClientError, ModelConfig, OutputCapField, Timeouts};
use plumbline_engine::{Failure, FailureClass, ModelRequest, RequestRecord};
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
    let record = RequestRecord {
        model: llm.model.clone().unwrap_or_default(),
        purpose: request.purpose,
        prompt_tokens: 0,
        cached_tokens: 0,
        completion_tokens: 0,
        estimated: false,
        duration_ms: 0,
        attempt: request.attempt,
        error: Some(reason.clone()),
        raw_usage: None,
        created_at: clock::now(),
    };
    Failure { class, message: reason, retry_after_s: None, hint: Some(hint.to_owned()), jitter: 0.0, record }
}

/// What a client is made from.
pub(crate) fn config(llm: &Llm, secrets: &Secrets) -> ModelConfig {
    let api_key_env = llm.api_key_env.clone().unwrap_or_else(|| DEFAULT_KEY_ENV.to_string());
    let total = Duration::from_secs(llm.timeout_s);
    let mut config = ModelConfig::new(llm.base_url.clone().unwrap_or_default(), llm.model.clone().unwrap_or_default());
    config.api_key = secrets.for_address(&api_key_env, &config.base_url);
    config.api_key_env = api_key_env;
    config.temperature = llm.temperature;
    config.reasoning_level = llm.reasoning_level.clone();
    config.parallel_tool_calls = llm.parallel_tool_calls;
    config.output_cap = match llm.output_cap {
        OutputCap::MaxTokens => OutputCapField::MaxTokens,
        OutputCap::MaxCompletionTokens => OutputCapField::MaxCompletionTokens,
    };
    config.timeouts = Timeouts { total, first_byte: total, ..Timeouts::default() };
    config
}
