//! Conversations with the server by the worker's own model client.

use plumbline_engine::{
    Failure, History, Message, MessageKind, ModelRequest, Purpose, Reply, RequestMessage, Role, ToolCall, ToolSpec,
};
use plumbline_llm::{Api, Learnt, ModelClient, ModelConfig};

/// All protocols; the server speaks each.
pub(crate) const APIS: [Api; 3] = [Api::Chat, Api::Responses, Api::Messages];

/// Time until the server has closed a connection after a stream.
const AFTER_A_STREAM: std::time::Duration = std::time::Duration::from_millis(200);

/// Every tool of the worker.
pub(crate) fn tools() -> Vec<ToolSpec> {
    plumbline_tools::catalog().into_iter().chain(plumbline_engine::tools::specs()).collect()
}

/// A conversation that grows as a job's does.
pub(crate) struct Talk {
    client: ModelClient,
    learnt: Learnt,
    messages: Vec<Message>,
    tools: Vec<ToolSpec>,
    most: u32,
}

impl Talk {
    /// One with these tools and answers of so many tokens at most.
    pub(crate) fn new(config: ModelConfig, tools: Vec<ToolSpec>, most: u32) -> Self {
        let client = ModelClient::new(config).expect("the configuration is right");
        let messages = vec![message(1, Role::System, "You work."), message(2, Role::User, "Begin.")];
        Self { client, learnt: Learnt::default(), messages, tools, most }
    }

    /// Says this to the model before it is asked again.
    pub(crate) fn say(&mut self, text: &str) {
        self.messages.push(message(self.next(), Role::User, text));
    }

    /// Makes one request; the todo list is the last message and is not stored.
    pub(crate) async fn ask(&self) -> Result<Reply, Box<Failure>> {
        // Shortly after a stream the server closes its keep-alive connection: a request within that time is lost, and a
        // worker would retry it. Between two requests of a worker there is a commit.
        tokio::time::sleep(AFTER_A_STREAM).await;
        self.ask_at_once().await
    }

    /// The same of a server that has streamed nothing just now.
    pub(crate) async fn ask_at_once(&self) -> Result<Reply, Box<Failure>> {
        let history: History = self.messages.iter().collect();
        let request = || ModelRequest {
            purpose: Purpose::Tactical,
            messages: history
                .iter()
                .map(RequestMessage::Stored)
                .chain([RequestMessage::User("The todo list.".into())])
                .collect(),
            tools: self.tools.iter().collect(),
            max_output_tokens: self.most,
            attempt: 1,
        };
        self.client.call(request(), request, chrono::Utc::now, &self.learnt).await
    }

    /// A turn: the answer goes into the history, with a result a call.
    pub(crate) async fn turn(&mut self) -> Result<Reply, Box<Failure>> {
        let reply = self.ask().await?;
        let seq = self.next();
        let calls = reply.tool_calls.iter().enumerate().map(|(at, call)| ToolCall {
            id: format!("call_{seq}_{at}"),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        });
        let calls: Vec<ToolCall> = calls.collect();
        let ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
        let extra = reply.extra.clone();
        self.messages.push(Message { tool_calls: calls, extra, ..message(seq, Role::Assistant, &reply.content) });
        for id in ids {
            self.messages.push(Message { tool_call_id: Some(id), ..message(self.next(), Role::Tool, "Done.") });
        }
        Ok(reply)
    }

    fn next(&self) -> i64 {
        self.messages.len() as i64 + 1
    }
}

fn message(seq: i64, role: Role, content: &str) -> Message {
    let kind = match role {
        Role::System => MessageKind::System,
        Role::User => MessageKind::Opening,
        Role::Assistant => MessageKind::Reply,
        Role::Tool => MessageKind::ToolResult,
    };
    Message {
        seq,
        role,
        kind,
        content: content.into(),
        tool_calls: Vec::new(),
        tool_call_id: None,
        extra: serde_json::Map::new(),
        tokens: 0,
        step: 0,
        cleared: false,
    }
}
