//! Approvals of single calls. A call that needs approval is requested by a row, and made only with it.

use crate::ToolCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

/// SHA-256.
pub type Digest = [u8; 32];

/// Reads the arguments of a call (name, JSON text): their digest, or why the call cannot be asked for, in a sentence.
pub type ArgumentsReader = Arc<dyn Fn(&str, &str) -> Result<Digest, String> + Send + Sync>;

/// `approval` of the configuration, as far as it is decided here.
#[derive(Clone)]
pub struct ApprovalRules {
    /// Tools that are asked for before each call.
    pub asks_for: BTreeSet<String>,
    /// What each tool is that the outside carries out: the digest of its name, description, schema and address.
    pub tools: BTreeMap<String, Digest>,
    /// Reads arguments; pure.
    pub read: ArgumentsReader,
    /// Seconds after which a call that was asked for expires.
    pub expires_s: u64,
}

/// No call is asked for.
impl Default for ApprovalRules {
    fn default() -> Self {
        let (asks_for, tools) = (BTreeSet::new(), BTreeMap::new());
        Self { asks_for, tools, read: Arc::new(|_, _| Ok(Digest::default())), expires_s: 86_400 }
    }
}

impl fmt::Debug for ApprovalRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalRules").field("asks_for", &self.asks_for).finish_non_exhaustive()
    }
}

/// How far the asking for a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// It waits for a decision.
    Pending,
    /// It may be made, once.
    Approved,
    /// It may not be made.
    Rejected,
    /// Its time is over.
    Expired,
    /// It was made, or is being made.
    Executed,
    /// Its job ended, or it is no longer what was decided on.
    Void,
}

/// A row of `approvals` whose call has no outcome yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// The call's id.
    pub call_id: String,
    /// Its tool.
    pub tool: String,
    /// What the tool was when it was asked for.
    pub tool_sha256: Digest,
    /// What its arguments were.
    pub arguments_sha256: Digest,
    /// How far it has come.
    pub state: ApprovalState,
    /// The call as it is sent, where a person has changed its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<ToolCall>,
    /// Why it was decided so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
}

/// A call that is asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AskedCall {
    /// The call's id.
    pub call_id: String,
    /// Its tool.
    pub tool: String,
    /// What the tool is now, in hexadecimal digits.
    #[serde(serialize_with = "as_hex")]
    pub tool_sha256: Digest,
    /// What the model wants it to be made with.
    pub arguments: Value,
    /// The digest of the arguments, in hexadecimal digits.
    #[serde(serialize_with = "as_hex")]
    pub arguments_sha256: Digest,
    /// The arguments for people to read, nothing of them hidden.
    pub shown: String,
    /// Why it is asked for again: what a person made of its arguments does not fit.
    pub reason: Option<String>,
}

/// What becomes of a row of `approvals` in a step.
#[derive(Clone, Debug, PartialEq)]
pub enum ApprovalChange {
    /// These calls are asked for, and the job waits. An approved row of one of them is void.
    Asked {
        /// The calls, in their order.
        calls: Vec<AskedCall>,
        /// Seconds after which they expire.
        expires_s: u64,
    },
    /// The call leaves. The step is refused unless the row is approved, not past its time and of these digests.
    Executed {
        /// The call's id.
        call_id: String,
        /// What the tool is now.
        tool_sha256: Digest,
        /// What the model's arguments are now.
        arguments_sha256: Digest,
        /// What is sent in their place, where a person has changed them.
        edited_sha256: Option<Digest>,
    },
    /// An approved call is answered without having been made.
    Closed {
        /// The call's id.
        call_id: String,
        /// Why.
        reason: String,
    },
    /// A call that has left is answered.
    Answered {
        /// The call's id.
        call_id: String,
        /// How it came out.
        outcome: CallOutcome,
    },
}

/// How a call came out that was made by an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum CallOutcome {
    /// It has a result.
    #[serde(rename = "ok")]
    Ok,
    /// It has failed.
    #[serde(rename = "error")]
    Error,
    /// Nobody knows whether it was made.
    #[serde(rename = "in doubt")]
    InDoubt,
}

/// The rows that a run knows, the newest of a call last.
#[derive(Debug, Default)]
pub(crate) struct Approvals(Vec<Approval>);

impl From<Vec<Approval>> for Approvals {
    fn from(rows: Vec<Approval>) -> Self {
        Self(rows)
    }
}

impl Approvals {
    /// The newest row of a call.
    pub(crate) fn of_call(&self, call_id: &str) -> Option<&Approval> {
        self.0.iter().rev().find(|row| row.call_id == call_id)
    }

    pub(crate) fn set_state(&mut self, call_id: &str, state: ApprovalState) {
        if let Some(row) = self.0.iter_mut().rev().find(|row| row.call_id == call_id) {
            row.state = state;
        }
    }

    /// The decision against a call with the same tool and arguments.
    pub(crate) fn rejected(&self, tool: &str, arguments: &Digest) -> Option<&Approval> {
        let is_same = |row: &&Approval| row.tool == tool && row.arguments_sha256 == *arguments;
        self.0.iter().filter(is_same).find(|row| row.state == ApprovalState::Rejected)
    }

    /// Whether a call is made by an approval: it is sent once.
    pub(crate) fn is_approved(&self, call_id: &str) -> bool {
        let state = self.of_call(call_id).map(|row| row.state);
        matches!(state, Some(ApprovalState::Approved | ApprovalState::Executed))
    }

    /// The call as a person has changed it, and who did.
    pub(crate) fn edited(&self, call_id: &str) -> Option<(&ToolCall, &str)> {
        let row = self.of_call(call_id)?;
        Some((row.edited.as_ref()?, row.decided_by.as_deref().unwrap_or("a person")))
    }
}

fn as_hex<S: serde::Serializer>(digest: &Digest, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{}", Hex(digest)))
}

struct Hex<'a>(&'a Digest);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
