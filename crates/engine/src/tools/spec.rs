//! A tool's specification for the engine, as data. Tools that affect the job itself are handled in
//! [`crate::transition`]; all others run outside and return [`crate::vocabulary::ToolReturn`]s.

use crate::{PhaseKind, TokenCounter};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::HashMap,
    fmt,
    ops::Deref,
    sync::{Arc, OnceLock},
};

/// A tool as offered to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// The name the model calls.
    pub name: String,
    /// The phases in which it is bound; checked in the request and again when executed.
    pub phases: Phases,
    /// One or two sentences for the request.
    pub description: String,
    /// JSON Schema of the arguments, an object schema.
    pub parameters: Schema,
    /// Full documentation, Markdown, for `tools/<tool>.md`; the model reads it on demand.
    pub documentation: String,
    /// Its executor.
    pub handler: Handler,
    /// Whether it may run again after a crash.
    pub replay: Replay,
    /// Whether it is read-only: a call whose result was cleared may be repeated.
    pub reads_only: bool,
}

/// A JSON Schema with its text, which is part of every request and is therefore serialized only once.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    value: Value,
    text: Arc<str>,
}

impl Schema {
    /// The schema as JSON without white space.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl From<Value> for Schema {
    fn from(value: Value) -> Self {
        let text = value.to_string().into();
        Self { value, text }
    }
}

impl Deref for Schema {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.value
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The tools of a configuration, in the fixed order of the request. The tokens of their definitions are counted at the
/// first use, once for all jobs that share them.
#[derive(Clone, Debug, Default)]
pub struct Toolset {
    specs: Vec<ToolSpec>,
    tokens: OnceLock<HashMap<String, u32>>,
}

impl Toolset {
    /// Tokens of one tool's definition in a request.
    pub(crate) fn tokens(&self, tool: &ToolSpec, count: &TokenCounter) -> u32 {
        let counted = || self.specs.iter().map(|tool| (tool.name.clone(), tool.tokens(|text| count(text)))).collect();
        self.tokens.get_or_init(counted).get(&tool.name).copied().unwrap_or(0)
    }
}

impl ToolSpec {
    /// Tokens of its definition in a request.
    pub fn tokens(&self, count: impl Fn(&str) -> u32) -> u32 {
        // The envelope around name, description and schema is about ten tokens.
        count(&self.description) + count(self.parameters.text()) + 10
    }
}

impl From<Vec<ToolSpec>> for Toolset {
    fn from(specs: Vec<ToolSpec>) -> Self {
        Self { specs, tokens: OnceLock::new() }
    }
}

impl FromIterator<ToolSpec> for Toolset {
    fn from_iter<I: IntoIterator<Item = ToolSpec>>(specs: I) -> Self {
        specs.into_iter().collect::<Vec<_>>().into()
    }
}

impl Deref for Toolset {
    type Target = [ToolSpec];

    fn deref(&self) -> &[ToolSpec] {
        &self.specs
    }
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

    /// These phases and those of more kinds.
    #[must_use]
    pub fn with(self, kinds: &[PhaseKind]) -> Self {
        let has = |kind| self.contains(kind) || kinds.contains(&kind);
        match (has(PhaseKind::Strategic), has(PhaseKind::Tactical)) {
            (true, true) => Self::Both,
            (true, false) => Self::Strategic,
            (false, true) => Self::Tactical,
            (false, false) => Self::Neither,
        }
    }
}

/// The executor of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handler {
    /// The engine itself: pure decisions over todos, plan, memory and completion.
    Engine,
    /// The tools crate, only on the job's own rows and files: committed with its turn.
    Local,
    /// The tools crate, with external effects or a long run time: the intent is committed first.
    External,
}

/// How the arguments of an operator's tool over HTTP are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(inline, transform = crate::plain_words)]
pub enum HttpMethod {
    /// In the query.
    Get,
    /// As a JSON body.
    #[default]
    Post,
}

/// Whether a tool may run again after its worker died during a call.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[schemars(inline, transform = crate::plain_words)]
pub enum Replay {
    /// Running twice is the same as running once.
    Safe,
    /// Safe with the idempotency key `job id : tool call id`.
    Keyed,
    /// Not safe: after a crash the model is told "interrupted, outcome unknown".
    #[default]
    Unsafe,
}

impl Replay {
    /// The word used in configurations.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
