//! All effects that the engine can request. The enum is closed on purpose: a new effect breaks every driver at compile
//! time.

use crate::{
    conversation::{MessageRef, ToolCall},
    tools::ToolSpec,
    vocabulary::{exit::JobExit, request::Purpose},
};
use chrono::{DateTime, Utc};
use std::ops::Deref;
use strum::{EnumDiscriminants, EnumIter, IntoStaticStr};
use uuid::Uuid;

/// What to do next.
#[derive(Debug, EnumDiscriminants)]
#[strum_discriminants(name(EffectKind), derive(EnumIter, IntoStaticStr, PartialOrd, Ord))]
#[strum_discriminants(strum(serialize_all = "snake_case"), doc = "Which effect it is.")]
pub enum Effect<'a> {
    /// Gather the job's documents and first files.
    Intake,
    /// Extract the text of a document and cut it into passages.
    Prepare {
        /// The document, a path under `input/`.
        document: &'a str,
    },
    /// Look up the findings of an earlier job over versions of the same documents.
    Carry {
        /// That job.
        previous: Uuid,
    },
    /// Call the model.
    CallModel(ModelRequest<'a>),
    /// Run these calls, in order, and return one result each. May be empty: then return none. Each sees the effects of
    /// the calls before it, including uncommitted ones.
    RunTools {
        /// The calls that the outside executes or checks.
        calls: Vec<OutsideCall<'a>>,
        /// Whether the changes so far must be committed before the first call runs, because one of them has external
        /// effects. Otherwise the model's answer and the results are in one commit.
        commit_first: bool,
    },
    /// Wait until this time.
    Wait {
        /// The time.
        until: DateTime<Utc>,
    },
    /// The job leaves this worker. Commit and drop the run.
    Exit(&'a JobExit),
}

/// A call for the outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutsideCall<'a> {
    /// The call.
    pub call: &'a ToolCall,
    /// The check to make instead of executing it, if the engine executes it itself.
    pub check: Option<&'a Check>,
    /// Whether it must not be repeated: a failure does not tell whether it was executed.
    pub once: bool,
    /// Whether the identical call was refused before with the statement that it is accepted when repeated.
    pub again: bool,
}

impl Deref for OutsideCall<'_> {
    type Target = ToolCall;

    fn deref(&self) -> &ToolCall {
        self.call
    }
}

/// A check by the outside before the engine executes one of its own calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// The deliverables, required and named: an error if a condition is not met, otherwise the counts, a
    /// [`Inspected`](crate::Inspected).
    Deliverables {
        /// Whether the ids of requirements that they name are looked up.
        requirements: bool,
        /// Whether to look up the sentences of the documents that their quotes touch, which are a product of the
        /// return.
        sentences: bool,
        /// Whether all requirements are compared with their quotes again; changes of their tags are products of the
        /// return.
        compares: bool,
    },
    /// The text of a passage that a refusal to close its todo shows.
    Passage {
        /// The passage.
        number: i32,
        /// The file with its text.
        path: String,
    },
}

/// A request as neutral data; the adapter converts it to the provider's form.
#[derive(Clone, Debug)]
pub struct ModelRequest<'a> {
    /// Its purpose.
    pub purpose: Purpose,
    /// The messages in order, the active todo list included. [`MessageRef::visible_content`] is the text to send.
    pub messages: Vec<RequestMessage<'a>>,
    /// The bound tools in their fixed order; empty for a summary.
    pub tools: Vec<&'a ToolSpec>,
    /// Cap for the answer, in tokens.
    pub max_output_tokens: u32,
    /// The number of this attempt at the same request, from 1.
    pub attempt: i32,
}

/// A message of a request: from the history, or created only for this request.
#[derive(Clone, Debug)]
pub enum RequestMessage<'a> {
    /// A stored one.
    Stored(MessageRef<'a>),
    /// A `system` message created for this request.
    System(String),
    /// A `user` message created for this request: the todo list, or the request for a summary.
    User(String),
}
