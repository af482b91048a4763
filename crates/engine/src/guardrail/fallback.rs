//! Fallback models (`llm.fallback`): when they are used, and for how long.
//!
//! The operator configures the number and classes of failures. A job stays with the fallback to the end of the phase,
//! because each switch makes the provider read the conversation again; the next phase begins with the job's own model.
//! If the fallback fails too, so that the job is parked or paused, the job returns to its own model.

use crate::{Failure, FailureClass, ModelSettings, Purpose, Run};

/// An entry of `llm.fallback`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fallback {
    /// Consecutive failures after which it is used. For failures that waiting does not resolve, fewer suffice.
    pub after: u32,
    /// The failure classes.
    pub on: Vec<FailureClass>,
    /// The purposes; empty: all.
    pub purposes: Vec<Purpose>,
    /// The model for plans, for work on todos, and for summaries.
    pub models: [ModelSettings; 3],
}

impl Fallback {
    fn serves(&self, purpose: Purpose) -> bool {
        self.purposes.is_empty() || self.purposes.contains(&purpose)
    }

    fn model_for(&self, purpose: Purpose) -> &ModelSettings {
        let place = match purpose {
            Purpose::Strategic => 0,
            Purpose::Tactical => 1,
            Purpose::Summary => 2,
        };
        &self.models[place]
    }

    pub(crate) fn answers(&self, failure: &Failure, failures: u32) -> bool {
        let ends_the_tries =
            matches!(failure.class, FailureClass::Quota | FailureClass::Unauthorized | FailureClass::Permanent);
        self.on.contains(&failure.class)
            && self.serves(failure.record.purpose)
            && (failures >= self.after || ends_the_tries)
    }
}

impl Run {
    /// The entry of `llm.fallback` that is used in place of the job's model, if any.
    pub fn fallback_for(&self, purpose: Purpose) -> Option<usize> {
        self.state()
            .fallback
            .filter(|place| self.settings().fallbacks.get(*place).is_some_and(|entry| entry.serves(purpose)))
    }

    /// The model currently used for a purpose.
    pub fn model_for(&self, purpose: Purpose) -> &ModelSettings {
        let fallback = self.fallback_for(purpose).and_then(|place| self.settings().fallbacks.get(place));
        fallback.map_or_else(|| self.settings().model_for(purpose), |entry| entry.model_for(purpose))
    }
}
