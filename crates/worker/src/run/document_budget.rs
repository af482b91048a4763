//! A byte budget for the documents that all jobs of the process import at the same time.
//!
//! A document is in memory, in several copies, from reading until the step that stores it is written: fifty jobs that
//! start together, each with a document of the maximum size, would exhaust the memory. So each waits until its document
//! fits.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum bytes of documents at once: one of the largest size. Three times as much is in memory while it is written,
/// which with the program itself stays below 1 GiB.
const MOST_BYTES: u64 = 256 << 20;
/// The semaphore counts in units of this many bytes.
const UNIT: u64 = 4 << 10;

/// The budget.
pub(crate) struct DocumentBudget {
    units: Arc<Semaphore>,
}

impl DocumentBudget {
    pub(crate) fn new() -> Self {
        Self { units: Arc::new(Semaphore::new(units(MOST_BYTES) as usize)) }
    }

    /// Waits until this many bytes are available, and reserves them for as long as the returned value lives. A larger
    /// request than the budget waits for all of it. None for a document too small to count.
    pub(crate) async fn room_for(&self, bytes: u64) -> Option<OwnedSemaphorePermit> {
        let wanted = units(bytes.min(MOST_BYTES));
        match wanted {
            0 => None,
            // The semaphore is never closed.
            _ => Arc::clone(&self.units).acquire_many_owned(wanted).await.ok(),
        }
    }
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes / UNIT).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{DocumentBudget, MOST_BYTES};

    #[tokio::test]
    async fn a_document_that_exceeds_the_budget_waits_for_others() {
        let memory = DocumentBudget::new();
        assert!(memory.room_for(100).await.is_none());
        let large = memory.room_for(MOST_BYTES - (1 << 20)).await;
        let waits = memory.room_for(2 << 20);
        tokio::pin!(waits);
        assert!(futures_util::poll!(&mut waits).is_pending());
        drop(large);
        assert!(waits.await.is_some());
        assert!(memory.room_for(u64::MAX).await.is_some(), "more than there is waits for all there is");
    }
}
