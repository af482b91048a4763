//! Connections that steps keep for each other.
//!
//! Giving a connection back to the pool costs two round trips: signs of life, because the pool cannot know how its user
//! left it. A step knows: its statement was answered, so the next step may have the connection as it is. What was not
//! answered, or not well, is closed. All of it stays within the one limit of connections: these are taken off the pool's.

use crate::{
    Store,
    pool::{FRESH, is_alive, try_once},
};
use sqlx::{
    Connection, Postgres,
    pool::PoolConnection,
    postgres::{PgConnectOptions, PgConnection},
};
use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Connections that are left to the pool, for whatever is no step.
const POOLED: u32 = 2;
/// A connection older than this is closed, as the pool's are: passwords change, servers move.
const MOST_AGE: Duration = Duration::from_secs(30 * 60);

/// A connection that no step needed for so long is closed: an idle worker keeps none.
pub(crate) const UNUSED: Duration = Duration::from_secs(30);

/// How many of so many connections steps keep; the others are the pool's.
pub(crate) fn share_of(max_connections: u32) -> u32 {
    max_connections.saturating_sub(POOLED)
}

/// The kept connections; opened when first needed.
#[derive(Debug)]
pub(crate) struct StepConnections {
    server: PgConnectOptions,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Open>>,
}

#[derive(Debug)]
struct Open {
    connection: PgConnection,
    opened: Instant,
    used: Instant,
}

impl StepConnections {
    /// Keeps at most so many connections to the server.
    pub(crate) fn new(server: PgConnectOptions, most: u32) -> Self {
        let permits = Arc::new(Semaphore::new(most as usize));
        Self { server, permits, idle: Mutex::default() }
    }

    /// Closes those that no step is using.
    pub(crate) fn close(&self) {
        self.permits.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Closes those that no step has needed for a while.
    pub(crate) fn retire(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).retain(|open| open.used.elapsed() < UNUSED);
    }

    /// The one used last, if it is alive, or a new one.
    async fn open(&self) -> Result<Open, sqlx::Error> {
        loop {
            let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(mut open) = kept else {
                let connection = try_once(&self.server).await?;
                return Ok(Open { connection, opened: Instant::now(), used: Instant::now() });
            };
            if open.opened.elapsed() < MOST_AGE && (open.used.elapsed() < FRESH || is_alive(&mut open.connection).await)
            {
                return Ok(open);
            }
        }
    }
}

/// A connection for one step. Dropped without [`StepConnection::keep`], it is closed: a step that was given up may have
/// left a transaction open, which the driver does not know of while BEGIN is not answered.
pub(crate) struct StepConnection<'a> {
    /// None once it is kept.
    held: Option<Held<'a>>,
}

enum Held<'a> {
    Kept { open: Open, home: &'a StepConnections, _permit: OwnedSemaphorePermit },
    Pooled(PoolConnection<Postgres>),
}

impl Store {
    /// A connection for a step: a kept one if one is free, or one of the pool's. It never waits for both at once: what
    /// the pool is about to open would be thrown away whenever a kept one becomes free first.
    pub(crate) async fn step_connection(&self) -> Result<StepConnection<'_>, sqlx::Error> {
        let home = &*self.steps;
        let held = match home.permits.clone().try_acquire_owned() {
            Ok(permit) => Held::Kept { open: home.open().await?, home, _permit: permit },
            Err(_) => Held::Pooled(self.pool.acquire().await?),
        };
        Ok(StepConnection { held: Some(held) })
    }
}

impl StepConnection<'_> {
    /// The step was answered: the next one may have the connection.
    pub(crate) fn keep(mut self) {
        if let Some(Held::Kept { mut open, home, _permit }) = self.held.take() {
            open.used = Instant::now();
            // Its buffer has grown to the size of the statement, which may be that of many steps, and would keep it.
            open.connection.shrink_buffers();
            let mut idle = home.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if !home.permits.is_closed() {
                idle.push(open);
            }
        }
    }
}

impl Drop for StepConnection<'_> {
    fn drop(&mut self) {
        if let Some(Held::Pooled(pooled)) = &mut self.held {
            pooled.close_on_drop();
        }
    }
}

impl Deref for StepConnection<'_> {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        match self.held.as_ref().expect("it is held until it is kept") {
            Held::Kept { open, .. } => &open.connection,
            Held::Pooled(pooled) => pooled,
        }
    }
}

impl DerefMut for StepConnection<'_> {
    fn deref_mut(&mut self) -> &mut PgConnection {
        match self.held.as_mut().expect("it is held until it is kept") {
            Held::Kept { open, .. } => &mut open.connection,
            Held::Pooled(pooled) => pooled,
        }
    }
}
