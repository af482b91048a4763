//! A job's talk with its model, over any protocol.

use crate::double::{Double, Said};
use crate::talk::{calling, message, now, request, result, tool};
use plumbline_engine::{Message, ModelRequest, Purpose, Reply, RequestMessage, Role, ToolSpec};
use plumbline_llm::{Api, Learnt, ModelClient, ModelConfig};
use serde_json::Value;

/// The stored data of every call.
pub(crate) const ARGUMENTS: &str = r#"{"path":"Grüße.md"}"#;

/// A job's conversation with its model, stored like the engine does: calls with its own ids.
pub(crate) struct Job {
    pub(crate) double: Double,
    pub(crate) client: ModelClient,
    pub(crate) learnt: Learnt,
    pub(crate) messages: Vec<Message>,
    pub(crate) tools: Vec<ToolSpec>,
}

impl Job {
    pub(crate) async fn new(api: Api, configure: impl FnOnce(&mut ModelConfig), script: Vec<Said>) -> Self {
        let double = Double::saying(api, script).await;
        let mut config = double.config();
        configure(&mut config);
        let messages = vec![message(1, Role::System, "You work."), message(2, Role::User, "Begin.")];
        let tools = vec![tool("read_file"), tool("todo_complete")];
        Self { client: ModelClient::new(config).unwrap(), double, learnt: Learnt::default(), messages, tools }
    }

    fn seq(&self) -> i64 {
        self.messages.len() as i64 + 1
    }

    pub(crate) async fn ask_with(&self, request: ModelRequest<'_>) -> Reply {
        let asked = self.client.call(request.clone(), || request.clone(), now, &self.learnt).await;
        asked.unwrap_or_else(|failure| panic!("{:?}: {}", self.double.api, failure.message))
    }

    /// A turn: the request ends with the todo list, and the answer is added to the history, with one result per call.
    pub(crate) async fn turn(&mut self) -> Reply {
        let mut asked = request(&self.messages, &self.tools);
        asked.messages.push(RequestMessage::User("the todo list".into()));
        let reply = self.ask_with(asked).await;
        let seq = self.seq();
        let ids: Vec<String> = (1..=reply.tool_calls.len()).map(|n| format!("call_{seq}_{n}")).collect();
        let calls: Vec<(&str, &str, &str)> =
            ids.iter().zip(&reply.tool_calls).map(|(id, call)| (id.as_str(), call.name.as_str(), ARGUMENTS)).collect();
        self.messages.push(Message { extra: reply.extra.clone(), ..calling(seq, &reply.content, &calls) });
        for id in &ids {
            self.messages.push(result(self.seq(), id, "what the tool says"));
        }
        if ids.is_empty() {
            self.messages.push(message(self.seq(), Role::User, "Use a tool."));
        }
        reply
    }

    pub(crate) async fn summary(&self) -> Reply {
        let mut asked = request(&self.messages, &[]);
        asked.purpose = Purpose::Summary;
        asked.messages.push(RequestMessage::User("Sum it up.".into()));
        self.ask_with(asked).await
    }

    pub(crate) fn last_request(&self) -> Value {
        serde_json::from_str(&self.double.seen().pop().unwrap()).unwrap()
    }
}
