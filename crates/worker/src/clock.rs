//! The time, as the database tells it. Deadlines, the times at which parked jobs run again and what rows say of times are
//! then by one clock, whichever machine a job runs on, and a machine whose clock is wrong or is put right meanwhile
//! moves none of them (FAULTS F27).
//!
//! Between two answers of the database it goes on by the machine's monotonic clock.

use chrono::{DateTime, Utc};
use plumbline_store::{Error, Store};
use std::{
    sync::{PoisonError, RwLock},
    time::Instant,
};

/// The database's time, and when it was told.
static DATABASE_TIME: RwLock<Option<(DateTime<Utc>, Instant)>> = RwLock::new(None);

/// The time now. The machine's own where no database was asked, as in a replay of a recording.
pub(crate) fn now() -> DateTime<Utc> {
    let told = *DATABASE_TIME.read().unwrap_or_else(PoisonError::into_inner);
    told.map_or_else(Utc::now, |(time, at)| time + at.elapsed())
}

/// Asks the database for the time.
///
/// # Errors
/// [`Error::Database`]; the time goes on by the last answer.
pub(crate) async fn sync(store: &Store) -> Result<(), Error> {
    let asked = Instant::now();
    let time = store.health().await?.server_time;
    // The server looked at its clock somewhere between the question and the answer: the middle is the best guess.
    let looked = asked + asked.elapsed() / 2;
    *DATABASE_TIME.write().unwrap_or_else(PoisonError::into_inner) = Some((time, looked));
    Ok(())
}
