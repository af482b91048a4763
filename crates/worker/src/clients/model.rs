//! Model clients, one per distinct configuration, shared by all jobs of the process.

use super::ClientCache;
use crate::clock;
use plumbline_config::{Llm, Secrets};
use plumbline_engine::{
    Failure, FailureClass, Handler, ModelRequest, Phases, Purpose, Replay, Reply, RequestMessage, RequestRecord,
    ToolSpec,
};
use plumbline_job_setup::client_config;
use plumbline_llm::{Learnt, ModelClient, ModelClientError};
use serde_json::json;
use std::sync::Arc;

/// The clients made so far.
pub(crate) struct Models {
    secrets: Arc<Secrets>,
    clients: ClientCache<Arc<ModelClient>>,
}

impl Models {
    /// No clients yet; each will get the secret of its host.
    pub(crate) fn new(secrets: Arc<Secrets>) -> Self {
        Self { secrets, clients: ClientCache::default() }
    }

    /// The client for a configuration.
    ///
    /// # Errors
    /// A sentence, if no client can be created from it.
    pub(crate) fn client(&self, llm: &Llm) -> Result<Arc<ModelClient>, ModelClientError> {
        self.clients.try_get(llm, || Ok(Arc::new(ModelClient::new(client_config(llm, &self.secrets))?)))
    }
}

/// The failure of a call that could not be made. A person has to change an address; failing to set up a client is a
/// shortage of the machine, which is transient.
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
        learnt: false,
        jitter: 0.0,
        record,
    }
}

/// Requests a tool call from a model like a job; repeats the request if the endpoint requires another form.
///
/// # Errors
/// The failure, classified, with the operator's remedy.
pub async fn try_call(llm: &Llm, secrets: &Secrets) -> Result<Reply, Box<Failure>> {
    let tool = ToolSpec {
        name: "report".into(),
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
    let client =
        ModelClient::new(client_config(llm, secrets)).map_err(|error| Box::new(unusable(&request(), llm, &error)))?;
    let learnt = Learnt::default();
    loop {
        let lessons = learnt.lessons();
        let answered = client.call(request(), request, clock::now, &learnt).await;
        // Jobs adapt to the endpoint in the same way: the number of lessons is bounded by the number of request forms.
        if answered.is_ok() || learnt.lessons() == lessons {
            return answered;
        }
    }
}
