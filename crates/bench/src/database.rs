//! The databases of the figures: a fresh one for each, so that figures are independent.

use crate::{
    error::{During, Error},
    procfs,
};
use sqlx::{
    AssertSqlSafe, ConnectOptions, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use std::{str::FromStr, time::Duration};

/// The server of `DATABASE_URL`.
#[derive(Debug)]
pub(crate) struct Server {
    options: PgConnectOptions,
    postmaster: u32,
}

impl Server {
    /// Connects once to find the server's process.
    pub(crate) async fn find(url: &str) -> Result<Self, Error> {
        let options = PgConnectOptions::from_str(url).during("read DATABASE_URL")?;
        let pool = pool(options.clone(), 1).await.during("connect to the server of DATABASE_URL")?;
        let backend: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&pool).await?;
        let backend = u32::try_from(backend)?;
        let postmaster = procfs::parent(backend).ok_or_else(|| {
            Error::new("the processes of Postgres are not visible from here; run the benchmarks on its machine")
        })?;
        Ok(Self { options, postmaster })
    }

    /// `host:port`.
    pub(crate) fn address(&self) -> String {
        format!("{}:{}", self.options.get_host(), self.options.get_port())
    }

    /// CPU time of all of the server's processes, except those of these sessions.
    pub(crate) fn cpu(&self, own: &[u32]) -> Result<Duration, Error> {
        let mut total = Duration::ZERO;
        for pid in procfs::children(self.postmaster).into_iter().filter(|pid| !own.contains(pid)) {
            // A process that ends meanwhile is an idle helper of the server.
            total += procfs::cpu(pid).unwrap_or_default();
        }
        Ok(total)
    }

    /// Makes an empty database.
    pub(crate) async fn create(&self, name: &str) -> Result<Database, Error> {
        let server = pool(self.options.clone(), 1).await?;
        // A figure that failed has left its database behind.
        for statement in [format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"), format!("CREATE DATABASE {name}")] {
            // The name is ours: a figure's.
            sqlx::query(AssertSqlSafe(statement.clone())).execute(&server).await.during(&statement)?;
        }
        let options = self.options.clone().database(name);
        Ok(Database { url: options.to_url_lossy().to_string(), pool: pool(options.clone(), 20).await?, options })
    }

    /// Deletes a database: figures must not share a disk cache full of each other's rows.
    pub(crate) async fn drop(&self, database: Database) -> Result<(), Error> {
        let name = database.options.get_database().unwrap_or_default().to_owned();
        database.pool.close().await;
        let server = pool(self.options.clone(), 1).await?;
        sqlx::query(AssertSqlSafe(format!("DROP DATABASE {name} WITH (FORCE)"))).execute(&server).await?;
        Ok(())
    }
}

async fn pool(options: PgConnectOptions, connections: u32) -> Result<PgPool, sqlx::Error> {
    PgPoolOptions::new().max_connections(connections).test_before_acquire(false).connect_with(options).await
}

/// One database.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) pool: PgPool,
    pub(crate) url: String,
    options: PgConnectOptions,
}

impl Database {
    /// The same database through another port: a proxy's.
    pub(crate) fn url_through(&self, port: u16) -> String {
        self.options.clone().port(port).to_url_lossy().to_string()
    }

    /// Writing transactions of the whole server so far. Read-only ones are excluded: their number depends on durations,
    /// not on the work.
    pub(crate) async fn writes(&self) -> Result<i64, Error> {
        let statement = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
        Ok(sqlx::query_scalar(statement).fetch_one(&self.pool).await?)
    }

    /// A setting of the server, as it prints it.
    pub(crate) async fn setting(&self, name: &str) -> Result<String, Error> {
        Ok(sqlx::query_scalar("SELECT current_setting($1)").bind(name).fetch_one(&self.pool).await?)
    }
}
