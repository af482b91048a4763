//! The connection pool. Callers never hold a connection: every method takes one and gives it back.

use crate::error::{During, Error};
use sqlx::{
    ConnectOptions as _, Connection,
    postgres::{PgConnectOptions, PgPool, PgPoolOptions},
};
use std::{str::FromStr, time::Duration};

/// How long a call waits for a free connection, or for the server to accept one, before it is a transient error.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// The database. Cheap to clone; all clones share one pool.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) pool: PgPool,
}

/// How to connect.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// Most connections at once. Steps hold one for a few milliseconds, so a handful serves many jobs.
    pub max_connections: u32,
    /// Shown in `pg_stat_activity`.
    pub application_name: String,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self { max_connections: 5, application_name: "plumbline".to_owned() }
    }
}

impl Store {
    /// Connects, and fails when the server cannot be reached.
    ///
    /// # Errors
    /// [`Error::Database`] for a malformed address or a server that does not answer.
    pub async fn connect(url: &str, options: ConnectOptions) -> Result<Self, Error> {
        let doing = "connect to the database (check DATABASE_URL, and that the server is running)";
        let server = PgConnectOptions::from_str(url).during(doing)?.application_name(&options.application_name);
        // The pool would retry a refused connection until its time is up and then say only that it timed out.
        let first = tokio::time::timeout(ACQUIRE_TIMEOUT, server.connect());
        let first = first.await.unwrap_or_else(|_| Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()));
        first.during(doing)?.close().await.during(doing)?;
        let pool = PgPoolOptions::new()
            .max_connections(options.max_connections)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .connect_lazy_with(server);
        Ok(Self { pool })
    }

    /// A store over an existing pool.
    pub fn from_pool(pool: PgPool) -> Self {
        Self { pool }
    }

    /// Closes the pool and waits until its connections are gone.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}
