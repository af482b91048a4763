//! All effects that the engine can request. The enum is closed on purpose: a new effect breaks every driver at compile
//! time.

use crate::{
    conversation::{MessageRef, ToolCall},
    tools::ToolSpec,
    vocabulary::change::{JobExit, Purpose},
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
    /// Run these calls, in order, and return one result each. May be empty: then return none. Each sees what the calls
    /// before it did, also as far as that is not committed.
    RunTools {
        /// The calls that the outside has to carry out, or to look at.
        calls: Vec<OutsideCall<'a>>,
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

/// A call for the outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutsideCall<'a> {
    /// The call.
    pub call: &'a ToolCall,
    /// What to look at in place of carrying it out, where the engine does that itself.
    pub check: Option<&'a Check>,
    /// Whether it may not be made twice: a failure does not tell whether it was carried out.
    pub once: bool,
    /// Whether this very call was refused before with the word that, made again, it is taken.
    pub again: bool,
}

impl Deref for OutsideCall<'_> {
    type Target = ToolCall;

    fn deref(&self) -> &ToolCall {
        self.call
    }
}

/// What the outside looks at before the engine carries one of its own calls out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// The files that the job owes and delivers: an error where something is not as it must be, else what was counted, a
    /// [`LookedInto`](crate::LookedInto).
    Deliverables {
        /// Whether the ids of requirements that they name are looked up.
        requirements: bool,
        /// Whether it is looked up which sentences of the documents their quotes touch, which are a product of the return.
        sentences: bool,
    },
    /// The text of a passage that a refusal to close its todo shows.
    Passage {
        /// The passage.
        number: i32,
        /// The file with its text.
        path: String,
    },
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
