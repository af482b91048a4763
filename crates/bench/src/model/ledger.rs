//! Measurements in the model's process: its answer time, the arrival of a job's first request, and the common prefix of
//! consecutive requests.

use super::scan::{Facts, Stage, fixed_part};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// The measurements of one job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Trace {
    /// Requests so far.
    pub(crate) requests: u64,
    /// When the first one arrived, in microseconds since 1970.
    pub(crate) first_at_us: u64,
    /// Largest request, in bytes.
    pub(crate) largest: usize,
    /// Bytes of all requests that were compared with one before, within a phase.
    pub(crate) compared: u64,
    /// Of these, the bytes that repeat the beginning of the previous request.
    pub(crate) repeated: u64,
    /// The model's own time for each request, in microseconds.
    pub(crate) busy_us: Vec<u32>,
    /// Tools and system message of the first request of each phase, for jobs that are traced.
    pub(crate) fixed_parts: Vec<(String, String)>,
    #[serde(skip)]
    before: Vec<u8>,
    #[serde(skip)]
    stage: Option<Stage>,
}

/// All jobs, by their tags.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    jobs: Mutex<HashMap<String, Trace>>,
}

impl Ledger {
    pub(super) fn arrived(&self, facts: &Facts, at: SystemTime, body: &[u8]) {
        let mut jobs = locked(&self.jobs);
        let job = jobs.entry(facts.order.tag.clone()).or_default();
        if job.requests == 0 {
            let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
            job.first_at_us = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        }
        job.requests += 1;
        if facts.order.trace && facts.stage != Stage::Summary {
            job.compare(facts.stage, body);
        }
    }

    /// `busy`: the time between the last byte of the request and its answer, without the delay.
    pub(super) fn answered(&self, tag: &str, busy: Duration) {
        let busy = u32::try_from(busy.as_micros()).unwrap_or(u32::MAX);
        locked(&self.jobs).entry(tag.to_owned()).or_default().busy_us.push(busy);
    }

    pub(super) fn trace(&self, tag: &str) -> Option<Trace> {
        locked(&self.jobs).get(tag).cloned()
    }
}

impl Trace {
    fn compare(&mut self, stage: Stage, body: &[u8]) {
        self.largest = self.largest.max(body.len());
        if self.stage == Some(stage) {
            self.compared += body.len() as u64;
            self.repeated += self.before.iter().zip(body).take_while(|(before, now)| before == now).count() as u64;
        } else {
            self.fixed_parts.extend(fixed_part(body));
        }
        self.stage = Some(stage);
        self.before.clear();
        self.before.extend_from_slice(body);
    }
}

/// A panic elsewhere does not affect the sums, so counting continues.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
