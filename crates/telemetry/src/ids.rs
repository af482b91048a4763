//! The ids of a claim's trace, derived from job and lease.
//!
//! A job that outlives its workers is one conversation and several traces, one per claim, and each links to the earlier
//! ones. The ids for these links are not stored: they can be computed from the job and the lease epoch, and every claim
//! knows all epochs below its own.

use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator};
use sha2::{Digest, Sha256};
use std::cell::Cell;
use uuid::Uuid;

thread_local! {
    /// The ids for the next span started on this thread.
    static NEXT: Cell<Option<(TraceId, SpanId)>> = const { Cell::new(None) };
}

/// The ids of the span of a claim.
fn of_claim(job_id: Uuid, epoch: i64) -> (TraceId, SpanId) {
    let hash = Sha256::new()
        .chain_update(b"plumbline claim")
        .chain_update(job_id.as_bytes())
        .chain_update(epoch.to_be_bytes());
    let hash: [u8; 32] = hash.finalize().into();
    let (mut trace, mut span) = ([0; 16], [0; 8]);
    trace.copy_from_slice(&hash[..16]);
    span.copy_from_slice(&hash[16..24]);
    (TraceId::from_bytes(trace), SpanId::from_bytes(span))
}

/// The span context of an earlier claim.
pub(crate) fn link_to(job_id: Uuid, epoch: i64) -> SpanContext {
    let (trace, span) = of_claim(job_id, epoch);
    SpanContext::new(trace, span, TraceFlags::SAMPLED, true, TraceState::NONE)
}

/// Runs `begin`, which starts the span of this claim.
pub(crate) fn for_claim<T>(job_id: Uuid, epoch: i64, begin: impl FnOnce() -> T) -> T {
    NEXT.set(Some(of_claim(job_id, epoch)));
    let begun = begin();
    NEXT.set(None);
    begun
}

/// Random ids, except within [`for_claim`].
#[derive(Debug, Default)]
pub(crate) struct ClaimIds(RandomIdGenerator);

impl IdGenerator for ClaimIds {
    fn new_trace_id(&self) -> TraceId {
        NEXT.get().map_or_else(|| self.0.new_trace_id(), |(trace, _)| trace)
    }

    fn new_span_id(&self) -> SpanId {
        NEXT.get().map_or_else(|| self.0.new_span_id(), |(_, span)| span)
    }
}
