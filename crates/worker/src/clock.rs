//! The database's time. Deadlines, wake-up times of parked jobs and timestamps in rows use this one clock on every
//! machine, so a machine with a wrong or adjusted clock affects none of them.
//!
//! Between two answers of the database it advances with the machine's monotonic clock.

use chrono::{DateTime, Utc};
use parking_lot::RwLock;
use plumbline_store::{Error, Store};
use std::time::Instant;

/// The database's time, and when it was received.
static DATABASE_TIME: RwLock<Option<(DateTime<Utc>, Instant)>> = RwLock::new(None);

/// The current time. The machine's own if no database was queried, as in a replay of a recording.
pub(crate) fn now() -> DateTime<Utc> {
    let told = *DATABASE_TIME.read();
    told.map_or_else(Utc::now, |(time, at)| time + at.elapsed())
}

/// Queries the database's time.
///
/// # Errors
/// [`Error::Database`]; the time continues from the last answer.
pub(crate) async fn sync(store: &Store) -> Result<(), Error> {
    let asked = Instant::now();
    let time = store.health().await?.server_time;
    // The server read its clock at some time between the query and the answer: the middle is the best estimate.
    let looked = asked + asked.elapsed() / 2;
    *DATABASE_TIME.write() = Some((time, looked));
    Ok(())
}
