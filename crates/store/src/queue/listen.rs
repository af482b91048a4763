//! Hints that a job's status changed. A hint can be lost (a broken connection, a failover), so a listener also polls.

use crate::{Error, Store, error::During};
use serde::Deserialize;
use sqlx::postgres::{PgListener, PgPoolOptions};
use std::sync::Arc;
use tokio::sync::watch;
use uuid::Uuid;

/// The channel of the public interface.
const CHANNEL: &str = "plumbline_jobs";
/// Among workers: the limit of a model's endpoint has changed, or the endpoint is blocked.
const LIMITS_CHANNEL: &str = "plumbline_endpoint_limits";

/// A notification's payload.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct JobNotice {
    /// The job.
    pub id: Uuid,
    /// Its status at that time; none if jobs have row policies, because any login may listen.
    #[serde(default)]
    pub status: Option<String>,
}

/// A separate connection that listens.
#[derive(Debug)]
pub struct Listener {
    inner: PgListener,
    limits_changed: Arc<watch::Sender<u64>>,
}

impl Store {
    /// Starts listening, on a connection outside the pool.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn listen(&self) -> Result<Listener, Error> {
        let doing = "listen for changes of jobs";
        let own = PgPoolOptions::new()
            .max_connections(1)
            .max_lifetime(None)
            .idle_timeout(None)
            .connect_with(self.pool.connect_options().as_ref().clone())
            .await
            .during(doing)?;
        let mut inner = PgListener::connect_with(&own).await.during(doing)?;
        inner.listen_all([CHANNEL, LIMITS_CHANNEL]).await.during(doing)?;
        Ok(Listener { inner, limits_changed: self.limits_changed.clone() })
    }
}

impl Store {
    /// Increases with each notice that a limit of a model's endpoint has changed, while one of this store's listeners
    /// is active.
    pub fn limits_changed(&self) -> watch::Receiver<u64> {
        self.limits_changed.subscribe()
    }
}

impl Listener {
    /// Waits for the next notice. `None`: the connection broke and notices may be lost, so poll the rows at once; the
    /// next call reconnects.
    ///
    /// # Errors
    /// [`Error::Database`] if it cannot reconnect; wait a little before the next call.
    pub async fn next(&mut self) -> Result<Option<JobNotice>, Error> {
        loop {
            let Some(notice) = self.inner.try_recv().await.during("listen for changes of jobs")? else {
                self.notify_limits_changed();
                return Ok(None);
            };
            if notice.channel() == LIMITS_CHANNEL {
                self.notify_limits_changed();
                continue;
            }
            // Any login may notify the channel; foreign payloads are ignored.
            if let Ok(notice) = serde_json::from_str(notice.payload()) {
                return Ok(Some(notice));
            }
        }
    }

    fn notify_limits_changed(&self) {
        self.limits_changed.send_modify(|changes| *changes += 1);
    }
}
