//! `approval` and `untrusted`: the rules for a job's calls, which are read again at each claim.

use super::connections::WebAccess;
use crate::Resolved;
use plumbline_engine::Untrusted;
use serde::Serialize;

/// The rules for calls without a person's approval that are read again at each claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallRules {
    approval: Option<Vec<String>>,
    untrusted: Untrusted,
    untrusted_allowed: Option<Vec<String>>,
    web: Option<WebAccess>,
}

impl Resolved {
    /// The same configuration with the current rules for calls from the files, which are read again at each claim.
    #[must_use]
    pub fn with_call_rules(mut self, rules: CallRules) -> Self {
        self.config.approval = rules.approval;
        self.config.untrusted = rules.untrusted;
        self.config.untrusted_allowed = rules.untrusted_allowed;
        self.config.connections.web = rules.web;
        self
    }

    /// The rules of this configuration for a job's calls.
    pub fn call_rules(&self) -> CallRules {
        CallRules {
            approval: self.config.approval.clone(),
            untrusted: self.config.untrusted,
            untrusted_allowed: self.config.untrusted_allowed.clone(),
            web: self.config.connections.web.clone(),
        }
    }
}
