//! What the engine knows of a tool: a specification, as data. Tools that decide something about the job itself are
//! handled in [`crate::apply`]; all others run outside and come back as [`crate::outcome::ToolReturn`]s.

use crate::PhaseKind;
use serde_json::Value;

/// A tool as offered to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// The name the model calls.
    pub name: &'static str,
    /// Where it is bound; checked in the request and again when executed.
    pub phases: Phases,
    /// One or two sentences for the request.
    pub description: String,
    /// JSON Schema of the arguments, an object schema.
    pub parameters: Value,
    /// Full documentation, Markdown, for `tools/<tool>.md`; the model reads it when it needs it.
    pub documentation: String,
    /// Who carries it out.
    pub handler: Handler,
    /// Whether it may run again after a crash.
    pub replay: Replay,
}

/// The phases a tool is bound in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phases {
    /// Strategic phases only.
    Strategic,
    /// Tactical phases only.
    Tactical,
    /// Both.
    Both,
    /// Neither: switched off by the configuration.
    Neither,
}

impl Phases {
    /// Whether the tool is bound in phases of this kind.
    pub fn contains(self, kind: PhaseKind) -> bool {
        match self {
            Self::Both => true,
            Self::Neither => false,
            Self::Strategic => kind == PhaseKind::Strategic,
            Self::Tactical => kind == PhaseKind::Tactical,
        }
    }
}

/// Who carries a tool out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handler {
    /// The engine itself: pure decisions over todos, plan, memory and completion.
    Engine,
    /// The effects crate, on the job's own rows and files only: lands in the commit of its turn.
    Local,
    /// The effects crate, touching the outside or working long: the intent is committed first.
    Outside,
}

/// Whether a tool may run again when a worker died while it was in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    /// Running twice is the same as running once.
    Safe,
    /// Safe with the idempotency key `job id : tool call id`.
    Keyed,
    /// Not safe: after a crash the model is told "interrupted, outcome unknown".
    Unsafe,
}
