//! Calls that people decide on. A call that needs approval parks the job, together with the calls of the same answer
//! that will need it too; once all are decided, the rest of the answer is executed in order, each approved call once.

use super::fate::{DENIED, Fate, UNKNOWN};
use crate::{
    Approval, ApprovalChange, ApprovalRules, ApprovalState, AskedCall, CallOutcome, Run, ToolCall, Untrusted,
    UntrustedRules, canonical, run::AnswerCall, visible, vocabulary::Approvals,
};
use serde_json::Value;

/// The answer to a call whose row expired, before or after its approval.
pub(super) const EXPIRED: &str = "not carried out: this call needs a person's approval, and its time was over before it was approved and \
                       carried out. Go on without it, or say in the notes what is missing.";
/// The answer to a call that differs from the approved one.
const ANOTHER: &str = "not carried out: the tool or the arguments are not those that were approved. Call it again, and it is asked \
                       for again.";

/// The beginning of the text for the model, after the result, about a call that was made with edited arguments.
pub const EDITED: &str = "(The arguments of this call were changed by ";

/// The rules on calls that people decide on, and the decisions so far.
pub(super) struct People<'a> {
    approvals: &'a Approvals,
    rules: &'a ApprovalRules,
    untrusted: &'a UntrustedRules,
    /// Whether the job has read untrusted text.
    has_read: bool,
    /// Whether the next call is dispatched.
    is_dispatched: bool,
}

impl<'a> People<'a> {
    pub(super) fn of(run: &'a Run) -> Self {
        Self {
            approvals: &run.calls().approvals,
            rules: &run.settings().approval,
            untrusted: &run.settings().untrusted,
            has_read: run.state().untrusted_step.is_some(),
            is_dispatched: run.state().stage.has_dispatched(),
        }
    }

    /// The fate of an external call, by people's decisions.
    pub(super) fn fate(&self, item: &AnswerCall) -> Fate {
        let call = &item.call;
        let Some(row) = self.approvals.of_call(&call.id) else { return self.unasked(item, false, None) };
        match row.state {
            ApprovalState::Approved => self.approved(item, row),
            // A call is in doubt only in a claim that did not make it; this claim makes it.
            ApprovalState::Executed if self.is_dispatched => Fate::Outside,
            ApprovalState::Executed => Fate::Refused(UNKNOWN.into()),
            ApprovalState::Rejected => Fate::Refused(rejected(row)),
            ApprovalState::Expired => Fate::Refused(EXPIRED.into()),
            ApprovalState::Pending => self.unasked(item, true, None),
            ApprovalState::Void => self.unasked(item, false, None),
        }
    }

    /// An approval applies to a tool and arguments that have not changed since. Arguments edited by a person are
    /// validated against the schema here, because the database function does not know it.
    fn approved(&self, item: &AnswerCall, row: &Approval) -> Fate {
        let (rules, call) = (self.rules, &item.call);
        let is_same = rules.tools.get(&call.name) == Some(&row.tool_sha256)
            && (rules.read)(&call.name, &call.arguments) == Ok(row.arguments_sha256);
        if !is_same {
            return Fate::Refused(ANOTHER.into());
        }
        match row.edited.as_ref().map(|edited| (rules.read)(&edited.name, &edited.arguments)) {
            Some(Ok(_)) if row.edited.as_ref().is_some_and(|edited| self.is_denied(edited)) => {
                Fate::Refused(DENIED.into())
            }
            Some(Err(why)) => self.unasked(item, true, Some(format!("the changed arguments do not fit: {why}"))),
            Some(Ok(_)) | None => Fate::Outside,
        }
    }

    /// A call without a decision: approval is requested if the rules, or an existing row, require it.
    fn unasked(&self, item: &AnswerCall, stands: bool, reason: Option<String>) -> Fate {
        let (rules, call) = (self.rules, &item.call);
        let is_asked = || stands || rules.asks_for.contains(&call.name) || self.reaches_out_of(Untrusted::Ask, call);
        let Some(tool_sha256) = rules.tools.get(&call.name).filter(|_| is_asked()) else {
            return Fate::Outside;
        };
        let arguments_sha256 = match (rules.read)(&call.name, &call.arguments) {
            Ok(digest) => digest,
            Err(why) => return Fate::Refused(why),
        };
        if let Some(before) = self.approvals.rejected(&call.name, &arguments_sha256) {
            return Fate::Refused(format!(
                "refused: this call, with the same arguments, was asked for before in this job, and {}",
                rejected(before)
            ));
        }
        let arguments = Value::Object(item.parsed.fields.clone());
        Fate::Asked(Box::new(AskedCall {
            call_id: call.id.clone(),
            tool: call.name.clone(),
            tool_sha256: *tool_sha256,
            arguments_sha256,
            shown: visible(&canonical(&arguments)),
            arguments,
            reason,
        }))
    }

    /// Whether a call is refused because of text that the job has read.
    pub(super) fn is_denied(&self, call: &ToolCall) -> bool {
        self.reaches_out_of(Untrusted::Deny, call)
    }

    /// Whether a call reaches beyond a job that has read untrusted text, and the configuration has this mode for such
    /// calls.
    fn reaches_out_of(&self, mode: Untrusted, call: &ToolCall) -> bool {
        let rules = self.untrusted;
        self.has_read && rules.mode == mode && (rules.reaches_out)(&call.name, &call.arguments)
    }
}

impl Approvals {
    /// The dispatch of an approved call, which sets its row to `executed`.
    pub(super) fn execution(&self, call: &ToolCall, rules: &ApprovalRules) -> Option<ApprovalChange> {
        let row = self.of_call(&call.id).filter(|row| row.state == ApprovalState::Approved)?;
        let edited_sha256 = row.edited.as_ref().and_then(|edited| (rules.read)(&edited.name, &edited.arguments).ok());
        let (tool_sha256, arguments_sha256) = (row.tool_sha256, row.arguments_sha256);
        let call_id = call.id.clone();
        Some(ApprovalChange::Executed { call_id, tool_sha256, arguments_sha256, edited_sha256 })
    }

    /// A call is answered: its row records the outcome, and no row stays open.
    pub(super) fn settle(&mut self, call_id: &str, answer: &str, outcome: CallOutcome) -> Option<ApprovalChange> {
        let id = call_id.to_owned();
        let change = match self.of_call(call_id)?.state {
            ApprovalState::Approved => ApprovalChange::Closed { call_id: id, reason: answer.to_owned() },
            ApprovalState::Executed => ApprovalChange::Answered { call_id: id, outcome },
            ApprovalState::Pending | ApprovalState::Rejected | ApprovalState::Expired | ApprovalState::Void => {
                return None;
            }
        };
        self.set_state(call_id, ApprovalState::Void);
        Some(change)
    }

    /// The text for the model about a call that was made with edited arguments.
    pub(super) fn edit_note(&self, call: &ToolCall) -> Option<String> {
        let (edited, by) = self.edited(&call.id)?;
        Some(format!("{EDITED}{by}, who approved it. It was made with {}.)", edited.arguments))
    }
}

fn rejected(row: &Approval) -> String {
    let by = row.decided_by.as_deref().unwrap_or("a person");
    let reason = row.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    format!(
        "rejected by {by}{reason}. Do not ask for it again with the same arguments; find another way, or do without it."
    )
}
