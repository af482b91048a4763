//! Digests of a request: enough to notice that it would differ, and in which part.

use plumbline_config::{Llm, Secrets};
use plumbline_engine::{ModelRequest, RequestMessage};
use plumbline_job_setup::client_config;
use plumbline_llm::request_body;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Fingerprints of a request: the first 16 hexadecimal digits of a SHA-256 each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestDigest {
    /// The bytes of the body.
    pub body: String,
    /// The tool definitions, in order.
    pub tools: String,
    /// The part for this request only: the active todo list, or the request for a summary.
    pub made: String,
    /// Which stored messages are included, by `seq`, and which of them only as a note.
    pub shown: String,
}

impl RequestDigest {
    /// Of a request to a model.
    pub(crate) fn of(llm: &Llm, request: &ModelRequest<'_>) -> Self {
        let (mut tools, mut made, mut shown) = (Sha256::new(), Sha256::new(), Sha256::new());
        for tool in &request.tools {
            tools.update(format!("{}\n{}\n{}\n", tool.name, tool.description, tool.parameters));
        }
        for message in &request.messages {
            match message {
                RequestMessage::Stored(message) => shown.update(format!("{} {}\n", message.seq(), message.cleared())),
                RequestMessage::System(text) | RequestMessage::User(text) => made.update(text),
            }
        }
        let body = Sha256::new_with_prefix(request_body(&client_config(llm, &Secrets::default()), request));
        Self { body: hex(body), tools: hex(tools), made: hex(made), shown: hex(shown) }
    }

    /// A request's body with one line per value and per line of text, for a readable diff.
    pub(crate) fn text(llm: &Llm, request: &ModelRequest<'_>) -> String {
        let body = request_body(&client_config(llm, &Secrets::default()), request);
        let value: serde_json::Value = serde_json::from_slice(body.as_ref()).unwrap_or_default();
        let pretty = serde_json::to_string_pretty(&value).unwrap_or_default();
        pretty.replace("\\n", "\n")
    }

    /// The part in which two requests differ.
    pub(crate) fn part_that_differs(&self, other: &Self) -> Option<&'static str> {
        if self.body == other.body {
            return None;
        }
        Some(match other {
            other if self.tools != other.tools => "its tool definitions",
            other if self.shown != other.shown => "which messages it shows",
            other if self.made != other.made => "its todo list or question",
            _ => "its form",
        })
    }
}

fn hex(digest: Sha256) -> String {
    hex::encode(&digest.finalize()[..8])
}
