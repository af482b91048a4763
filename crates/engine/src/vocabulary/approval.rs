//! Approvals of single calls. A row requests approval of a call, which is made only if approved.

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

/// Parses the arguments of a call (name, JSON text): their digest, or a sentence that says why the call cannot be
/// requested.
pub type ArgumentsReader = Arc<dyn Fn(&str, &str) -> Result<Digest, String> + Send + Sync>;

/// The parts of `approval` in the configuration that the engine needs.
#[derive(Clone)]
pub struct ApprovalRules {
    /// Tools for which each call needs approval.
    pub asks_for: BTreeSet<String>,
    /// The identity of each external tool: the digest of its name, description, schema and address.
    pub tools: BTreeMap<String, Digest>,
    /// Parses arguments; pure.
    pub read: ArgumentsReader,
    /// Seconds after which a requested call expires.
    pub expires_s: u64,
}

/// No call needs approval.
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

/// The state of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// It waits for a decision.
    Pending,
    /// The call may be made, once.
    Approved,
    /// The call must not be made.
    Rejected,
    /// It has expired.
    Expired,
    /// The call was made, or is being made.
    Executed,
    /// The job ended, or the call is no longer the one that was decided on.
    Void,
}

/// A row of `approvals` whose call has no outcome yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// The call's id.
    pub call_id: String,
    /// Its tool.
    pub tool: String,
    /// The identity of the tool at the time of the request.
    pub tool_sha256: Digest,
    /// The digest of its arguments at that time.
    pub arguments_sha256: Digest,
    /// Its state.
    pub state: ApprovalState,
    /// The call as it is sent, if a person has edited its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<ToolCall>,
    /// The reason for the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
}

/// A call for which approval is requested.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AskedCall {
    /// The call's id.
    pub call_id: String,
    /// Its tool.
    pub tool: String,
    /// The current identity of the tool, in hexadecimal digits.
    #[serde(serialize_with = "as_hex")]
    pub tool_sha256: Digest,
    /// The model's arguments.
    pub arguments: Value,
    /// The digest of the arguments, in hexadecimal digits.
    #[serde(serialize_with = "as_hex")]
    pub arguments_sha256: Digest,
    /// The arguments in a form for people, with no hidden characters.
    pub shown: String,
    /// Why approval is requested again: the arguments edited by a person do not fit.
    pub reason: Option<String>,
}

/// A change of a row of `approvals` in a step.
#[derive(Clone, Debug, PartialEq)]
pub enum ApprovalChange {
    /// Approval of these calls is requested, and the job waits. An approved row of one of them becomes void.
    Asked {
        /// The calls, in order.
        calls: Vec<AskedCall>,
        /// Seconds after which they expire.
        expires_s: u64,
    },
    /// The call is sent. The step is refused unless the row is approved, not expired and has these digests.
    Executed {
        /// The call's id.
        call_id: String,
        /// The current identity of the tool.
        tool_sha256: Digest,
        /// The digest of the model's current arguments.
        arguments_sha256: Digest,
        /// The digest of the arguments sent instead, if a person has edited them.
        edited_sha256: Option<Digest>,
    },
    /// An approved call is answered without being made.
    Closed {
        /// The call's id.
        call_id: String,
        /// Why.
        reason: String,
    },
    /// A call that was sent is answered.
    Answered {
        /// The call's id.
        call_id: String,
        /// Its outcome.
        outcome: CallOutcome,
    },
}

/// The outcome of an approved call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum CallOutcome {
    /// It has a result.
    #[serde(rename = "ok")]
    Ok,
    /// It has failed.
    #[serde(rename = "error")]
    Error,
    /// It is unknown whether it was made.
    #[serde(rename = "in doubt")]
    InDoubt,
}

/// The rows that a run has, the newest of a call last.
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

    /// Whether a call is made because of an approval: it is sent once.
    pub(crate) fn is_approved(&self, call_id: &str) -> bool {
        let state = self.of_call(call_id).map(|row| row.state);
        matches!(state, Some(ApprovalState::Approved | ApprovalState::Executed))
    }

    /// A call as it is sent: with the arguments edited by a person, if any.
    pub(crate) fn sent<'a>(&'a self, call: &'a ToolCall) -> &'a ToolCall {
        self.edited(&call.id).map_or(call, |(edited, _)| edited)
    }

    /// The call as edited by a person, and who edited it.
    pub(crate) fn edited(&self, call_id: &str) -> Option<(&ToolCall, &str)> {
        let row = self.of_call(call_id)?;
        Some((row.edited.as_ref()?, row.decided_by.as_deref().unwrap_or("a person")))
    }
}

fn as_hex<S: serde::Serializer>(digest: &Digest, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hex::encode(digest))
}
