//! Startup: connecting, with retries for a restarting database.

use super::{Shutdown, shutdown::wait_for};
use crate::{error::Error, options::WorkerOptions};
use plumbline_store::backoff::Backoff;
use plumbline_store::{ConnectOptions, Store};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tracing::warn;

/// Connections for claims and steps. Heartbeat and listener have one each, which makes the five that an operator has to
/// plan for.
const MAX_CONNECTIONS: u32 = 3;

/// The statement timeout of the server.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(20);

/// Connects to a database that this worker can use.
///
/// # Errors
/// [`Error::Store`]: it cannot be reached, its schema does not match, it hides rows, it allows too few connections, or
/// an incompatible pooler is in between.
pub(super) async fn store(options: &WorkerOptions) -> Result<Store, Error> {
    let connect = ConnectOptions {
        application_name: "plumbline worker".into(),
        statement_timeout: Some(STATEMENT_TIMEOUT),
        max_connections: MAX_CONNECTIONS,
    };
    let store = Store::connect(&options.database_url, connect).await?;
    store.check_pooler().await?;
    store.check_schema().await?;
    store.check_row_security().await?;
    store.check_connections().await?;
    Ok(store)
}

/// Retries the start while the database is unavailable, until `bound` is over: a supervisor or a person should notice a
/// longer outage. Returns nothing if the worker is asked to stop meanwhile.
///
/// # Errors
/// The last error; at once if waiting does not help.
pub(super) async fn retry_until<T, F>(
    bound: Duration,
    stop: &mut watch::Receiver<Shutdown>,
    start: impl Fn() -> F,
) -> Result<Option<T>, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    let (begun, mut backoff, mut told) = (Instant::now(), Backoff::new(), false);
    loop {
        let started = tokio::select! {
            started = start() => started,
            () = wait_for(stop, Shutdown::Drain) => return Ok(None),
        };
        match started {
            Err(Error::Store(error)) if error.is_outage() && begun.elapsed() < bound => {
                if !told {
                    warn!(%error, "database is unavailable; retrying for {} s", bound.as_secs());
                }
                told = true;
            }
            started => return started.map(Some),
        }
        tokio::select! {
            () = backoff.sleep() => {}
            () = wait_for(stop, Shutdown::Drain) => return Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, Shutdown, retry_until};
    use plumbline_store::{ConnectOptions, Store};
    use std::{
        cell::Cell,
        time::{Duration, Instant},
    };
    use tokio::sync::watch;

    async fn unreachable_database() -> Result<Store, Error> {
        Ok(Store::connect("postgres://nobody@127.0.0.1:1/nothing", ConnectOptions::default()).await?)
    }

    #[tokio::test]
    async fn an_outage_is_waited_for_until_the_bound() {
        let (_sender, mut stop) = watch::channel(Shutdown::None);
        let tries = Cell::new(0);
        let there_at_last = || async {
            tries.set(tries.get() + 1);
            if tries.get() < 3 { unreachable_database().await.map(drop) } else { Ok(()) }
        };
        let started = retry_until(Duration::from_secs(60), &mut stop, there_at_last).await.expect("it came");
        assert_eq!((started, tries.get()), (Some(()), 3));
        let bound = Duration::from_millis(120);
        let begun = Instant::now();
        assert!(matches!(retry_until(bound, &mut stop, unreachable_database).await, Err(Error::Store(_))));
        assert!(begun.elapsed() >= bound, "it gave up early");
    }

    #[tokio::test]
    async fn a_permanent_error_is_reported_at_once_and_a_stop_is_honoured() {
        let (sender, mut stop) = watch::channel(Shutdown::None);
        let tries = Cell::new(0);
        let wrong = || async {
            tries.set(tries.get() + 1);
            Err::<(), _>(Error::Options("wrong".into()))
        };
        assert!(retry_until(Duration::from_secs(60), &mut stop, wrong).await.is_err());
        assert_eq!(tries.get(), 1);
        sender.send_replace(Shutdown::Drain);
        let started =
            retry_until(Duration::from_secs(60), &mut stop, unreachable_database).await.expect("it was asked to stop");
        assert!(started.is_none());
    }
}
