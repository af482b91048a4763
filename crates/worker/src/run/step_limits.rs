//! Waits of a step before its model call: for the rate limit of the endpoint, and for an accepted key.

use crate::{
    limits::{self, Answered, NextRequest, is_waited_for},
    run::{cancellation::StopLevel, error::StepError, step::StepLoop},
};
use plumbline_engine::{Failure, FailureClass, KEY_REFUSED, PhaseKind, Purpose, Reply, Stage};
use plumbline_llm::ModelClient;
use plumbline_store::{EndpointLimits, backoff::retry_transient};
use std::time::Duration;
use tracing::info;

/// Seconds after which a job whose key was rejected for another job is retried, and their random addition: the same as
/// after a rejection of its own.
const KEY_S: (u64, u64) = (150, 150);

impl StepLoop<'_> {
    /// Waits until the next request may be sent; false if the worker is asked to stop meanwhile.
    pub(crate) async fn wait_for_limit(&mut self) -> bool {
        let Some(purpose) = self.next_purpose() else { return true };
        let llm = self.config.llm(purpose, self.run.fallback_for(purpose));
        if limits::configured(llm) == EndpointLimits::default() && self.app.limits.knows_none() {
            return true;
        }
        let Ok(client) = self.app.models.client(llm) else { return true };
        let request = NextRequest {
            lease: self.lease,
            prompt_tokens: self.run.next_request_tokens(),
            configured: limits::configured(llm),
            is_current: !self.claimed.has_settings,
        };
        let key = limits::key_of(&client);
        tokio::select! {
            biased;
            permit = self.app.limits.acquire(&key, request) => self.permit = permit,
            () = self.signal.at_least(StopLevel::Drain) => return false,
        }
        true
    }

    /// Passes on what an answer reveals about limits and the key. A failure for which all jobs wait in the queue needs
    /// no other wait.
    pub(crate) async fn note_limits(
        &self,
        client: &ModelClient,
        mut answered: Result<Reply, Box<Failure>>,
    ) -> Result<Reply, Box<Failure>> {
        let stated = self.learnt.stated_limits();
        match &self.permit {
            Some(permit) => permit.settle(&answered, stated),
            None => {
                let sent_ago = answered
                    .as_ref()
                    .map_or_else(|failure| failure.record.duration_ms, |reply| reply.record.duration_ms);
                let sent_ago = Duration::from_millis(u64::try_from(sent_ago).unwrap_or(0));
                let ended = Answered::of(&answered, sent_ago);
                self.app.limits.learn(&limits::key_of(client), ended, stated).await;
            }
        }
        match &mut answered {
            Ok(_) => self.app.refused_keys.taken(client),
            Err(failure) if failure.class == FailureClass::Unauthorized => {
                let hint = failure.hint.as_deref().map(|hint| format!("; {hint}")).unwrap_or_default();
                self.app.refused_keys.refused(client, self.lease.job_id, format!("{}{hint}", failure.message));
            }
            Err(failure) if is_waited_for(failure) => failure.retry_after_s = None,
            Err(_) => {}
        }
        answered
    }

    /// Why the next request would be rejected because of its key, like another job's. A job with a fallback for that
    /// case makes its own request.
    pub(crate) fn refused_key(&self) -> Option<String> {
        if self.app.refused_keys.is_empty() {
            return None;
        }
        let purpose = self.next_purpose()?;
        let client = self.app.models.client(self.config.llm(purpose, self.run.fallback_for(purpose))).ok()?;
        let falls_back = |entry: &plumbline_engine::Fallback| entry.on.contains(&FailureClass::Unauthorized);
        if self.run.settings().fallbacks.iter().any(falls_back) {
            return None;
        }
        self.app.refused_keys.reason(&client, self.lease.job_id)
    }

    /// Gives the job back until a worker has another key, or this one is due for a retry.
    pub(crate) async fn wait_for_another_key(&self, reason: String) -> Result<(), StepError> {
        let reason = format!("{KEY_REFUSED}: {reason}");
        info!(job.id = %self.lease.job_id, reason, "job parked: the provider refused the same API key for another job");
        let (least, more) = KEY_S;
        let spread = self.lease.job_id.as_u128() as u64 % more;
        let store = &self.app.store;
        let wait = Duration::from_secs(least + spread);
        Ok(retry_transient(|| store.release_for(&self.lease, &reason, wait)).await?)
    }

    /// The purpose of the next model request; none if there is none.
    fn next_purpose(&self) -> Option<Purpose> {
        let state = self.run.state();
        if state.retry.not_before.is_some() {
            return None;
        }
        match (&state.stage, state.phase.kind) {
            (Stage::Summary { .. }, _) => Some(Purpose::Summary),
            (Stage::Model | Stage::Review { .. }, PhaseKind::Strategic) => Some(Purpose::Strategic),
            (Stage::Model | Stage::Review { .. }, PhaseKind::Tactical) => Some(Purpose::Tactical),
            (Stage::Intake | Stage::Prepare { .. } | Stage::Tools { .. }, _) => None,
        }
    }
}
