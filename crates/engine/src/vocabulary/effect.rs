//! Everything the outside may be asked to do. The enum is closed on purpose: a new effect breaks every driver at
//! compile time.

use crate::{
    conversation::{MessageRef, ToolCall},
    tools::ToolSpec,
    vocabulary::change::{JobExit, Purpose},
};
use chrono::{DateTime, Utc};
use uuid::Uuid;

/// What to do next.
#[derive(Debug)]
pub enum Effect<'a> {
    /// Gather the job's documents and first files.
    Intake,
    /// Take the text out of a document and cut it into passages.
    Prepare {
        /// The document, a path under `input/`.
        document: &'a str,
    },
    /// Look up what an earlier job over versions of the same documents found.
    Carry {
        /// That job.
        previous: Uuid,
    },
    /// Ask the model.
    CallModel(ModelRequest<'a>),
    /// Run these calls, in order, and return one result each. May be empty: then return none.
    RunTools {
        /// The calls that the outside has to carry out.
        calls: Vec<&'a ToolCall>,
        /// Whether what was decided so far must be committed before the first call runs, because one of them touches
        /// the outside. Otherwise the model's answer and the results land in one commit.
        commit_first: bool,
    },
    /// Do nothing until then.
    Wait {
        /// The moment to go on.
        until: DateTime<Utc>,
    },
    /// Nothing more: the job leaves this worker. Commit and forget the run.
    Exit(&'a JobExit),
}

/// A request as neutral data; the adapter gives it the provider's form.
#[derive(Clone, Debug)]
pub struct ModelRequest<'a> {
    /// What it is for.
    pub purpose: Purpose,
    /// The messages in order, the active todo list included. [`MessageRef::visible_content`] is the text to send.
    pub messages: Vec<RequestMessage<'a>>,
    /// The bound tools in their fixed order; empty for a summary.
    pub tools: Vec<&'a ToolSpec>,
    /// Cap for the answer, in tokens.
    pub max_output_tokens: u32,
    /// Which try at the same request this is, from 1.
    pub attempt: i32,
}

/// A message of a request: from the history, or made for this request alone.
#[derive(Clone, Debug)]
pub enum RequestMessage<'a> {
    /// A stored one.
    Stored(MessageRef<'a>),
    /// A `system` message made for this request.
    System(String),
    /// A `user` message made for this request: the todo list, or the question for a summary.
    User(String),
}
