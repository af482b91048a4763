//! Page sink with back-pressure: time blocked on the consumer is not charged to the child's time limit.

use crate::Page;
use parking_lot::Mutex;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{self, error::TrySendError};

/// The consumer of the pages.
pub(crate) struct PageSink<'a> {
    pub(crate) pages: mpsc::Sender<Page>,
    pub(crate) waited: &'a BlockedTime,
}

/// How long the child has been blocked on the consumer, and whether it is blocked now.
#[derive(Default)]
pub(crate) struct BlockedTime(Mutex<(Duration, Option<Instant>)>);

impl BlockedTime {
    fn set(&self, since: Option<Instant>) {
        let mut waited = self.0.lock();
        let (before, began) = *waited;
        *waited = (before + began.map_or(Duration::ZERO, |since| since.elapsed()), since);
    }

    fn so_far(&self) -> Duration {
        let (before, began) = *self.0.lock();
        before + began.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

impl PageSink<'_> {
    /// Whether the consumer accepted the page.
    pub(crate) async fn take(&self, page: Page) -> bool {
        let page = match self.pages.try_send(page) {
            Ok(()) => return true,
            Err(TrySendError::Closed(_)) => return false,
            Err(TrySendError::Full(page)) => page,
        };
        self.waited.set(Some(Instant::now()));
        let taken = self.pages.send(page).await;
        self.waited.set(None);
        taken.is_ok()
    }
}

/// The result of a future within a timeout that is suspended while the child is blocked on the consumer.
pub(crate) async fn within<T>(limit: Duration, waited: &BlockedTime, work: impl Future<Output = T>) -> Option<T> {
    let began = Instant::now();
    let mut work = std::pin::pin!(work);
    loop {
        let left = (limit + waited.so_far()).saturating_sub(began.elapsed());
        match tokio::time::timeout(left, &mut work).await {
            Ok(done) => return Some(done),
            Err(_) if began.elapsed() >= limit + waited.so_far() => return None,
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_childs_own_time_counts() {
        let waited = BlockedTime::default();
        assert_eq!(within(Duration::from_millis(1), &waited, std::future::pending::<()>()).await, None);
        waited.set(Some(Instant::now()));
        let waits = within(Duration::ZERO, &waited, async {
            while waited.so_far() < Duration::from_millis(5) {
                tokio::task::yield_now().await;
            }
            "taken"
        });
        assert_eq!(waits.await, Some("taken"), "its time stood still");
    }

    #[tokio::test]
    async fn pages_wait_for_room_and_stop_without_a_reader() {
        let waited = BlockedTime::default();
        let (pages, mut taken) = mpsc::channel(1);
        let sink = PageSink { pages, waited: &waited };
        let page = |number| Page { number, text: String::new() };
        assert!(sink.take(page(1)).await, "there is room for one");
        let second = sink.take(page(2));
        let late = async {
            tokio::task::yield_now().await;
            taken.recv().await.map(|page| page.number)
        };
        assert_eq!(tokio::join!(second, late), (true, Some(1)));
        drop(taken);
        assert!(!sink.take(page(3)).await, "nobody listens");
    }
}
