//! The connection pool. Callers never hold a connection: every method takes one and returns it.
//!
//! Connections fail in two ways. A broken one is detected: the call fails with a transient error and the caller
//! retries. A silent one, behind a router that forgot it or a frozen server, is not detected for hours. So a connection
//! that has been idle for a while is pinged before use, a returned one is pinged within a timeout, and the server has
//! timeouts for statements and idle transactions.

use crate::{
    Health, address,
    commit::CommitBatcher,
    error::{During, Error},
    workspace::shared_files::KnownSets,
};
use sqlx::{
    ConnectOptions as _, Connection as _,
    postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions},
};
use std::{sync::Arc, time::Duration};
use tokio::{sync::watch, time::timeout};

/// How long a call waits for a free connection, or for the server to accept one, before it fails with a transient
/// error.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
/// A connection unused for this long is closed: an idle worker keeps none.
const UNUSED: Duration = Duration::from_secs(30);
/// A connection used more recently than this is assumed to be alive.
const FRESH: Duration = Duration::from_secs(5);
/// A connection that does not answer a ping within this time is dead.
const SIGN_OF_LIFE: Duration = Duration::from_secs(3);

/// The database. Cheap to clone; all clones share one pool.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) pool: PgPool,
    pub(crate) batcher: Arc<CommitBatcher>,
    pub(crate) known_sets: KnownSets,
    pub(crate) limits_changed: Arc<watch::Sender<u64>>,
}

/// How to connect.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// Maximum connections. Steps hold one for a few milliseconds, so a handful serves many jobs.
    pub max_connections: u32,
    /// Shown in `pg_stat_activity`.
    pub application_name: String,
    /// The server's statement timeout, including waits for locks; `None`: none.
    pub statement_timeout: Option<Duration>,
}

/// Where the address of the database was set, for error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressSource {
    /// `DATABASE_URL`.
    Environment,
    /// The flag `--database`, which overrides it.
    Flag,
}

impl AddressSource {
    /// What fails, for a malformed address and for an unreachable server.
    fn doing(self) -> [&'static str; 2] {
        match self {
            Self::Environment => {
                ["use DATABASE_URL", "connect to the database (check DATABASE_URL, and that the server is running)"]
            }
            Self::Flag => {
                ["use --database", "connect to the database (check --database, and that the server is running)"]
            }
        }
    }
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self { max_connections: 5, application_name: "plumbline".to_owned(), statement_timeout: None }
    }
}

/// Session settings, which override those of the role, the database and the address.
///
/// The tables are in `public`, which a `search_path` may lack. All statements find their rows by an index; but a plan
/// is made once per connection and then kept, and while a table is small the planner would prefer a sequential scan,
/// for the lifetime of the plan. With `enable_seqscan` off, remaining plans look costly, which must not trigger JIT
/// compilation. The statements and migrations are written in the standard's strings, and an interval that becomes text
/// is read by people.
const SESSION: [(&str, &str); 5] = [
    ("search_path", "public"),
    ("enable_seqscan", "off"),
    ("jit", "off"),
    ("standard_conforming_strings", "on"),
    ("IntervalStyle", "postgres"),
];

impl ConnectOptions {
    /// The address, without session settings.
    fn address(&self, url: &str) -> Result<PgConnectOptions, sqlx::Error> {
        // Without `extra_float_digits`, which the driver sets: every server has that value by default, and PgBouncer
        // refuses the parameter.
        let server = address::parse(url)?.application_name(&self.application_name).extra_float_digits(None);
        Ok(without_brackets(server))
    }

    fn server(&self, url: &str) -> Result<PgConnectOptions, sqlx::Error> {
        let server = self.address(url)?.options(SESSION);
        Ok(match self.statement_timeout {
            None => server,
            Some(limit) => {
                let limit = format!("{}ms", limit.as_millis());
                // If a client falls silent, its transaction would hold its locks until the server notices.
                server.options([("statement_timeout", &limit), ("idle_in_transaction_session_timeout", &limit)])
            }
        })
    }
}

impl Store {
    /// Closes the idle connections, and with them their prepared statements.
    pub async fn renew_connections(&self) {
        while let Some(connection) = self.pool.try_acquire() {
            // If it cannot be closed, it is gone as well.
            let _ = connection.close().await;
        }
    }

    /// Connects to the address in `DATABASE_URL`; fails if the server is unreachable.
    ///
    /// # Errors
    /// [`Error::Database`] for a malformed address or a server that does not answer.
    pub async fn connect(url: &str, options: ConnectOptions) -> Result<Self, Error> {
        Self::connect_from(url, options, AddressSource::Environment).await
    }

    /// As [`Self::connect`], with an address from another place, which errors name.
    ///
    /// # Errors
    /// As for [`Self::connect`].
    pub async fn connect_from(url: &str, options: ConnectOptions, source: AddressSource) -> Result<Self, Error> {
        let [reading, doing] = source.doing();
        let mut server = options.server(url).during(reading)?;
        // The pool would retry a refused connection until its timeout and then report only the timeout.
        let mut first = try_once(&server).await;
        if first.as_ref().is_err_and(is_refused_by_pooler) {
            // A pooler that accepts no settings at session start; the caller's own deadlines remain, and plans improve
            // once the server has statistics of the tables.
            server = options.address(url).during(reading)?;
            first = try_once(&server).await;
        }
        first.during(doing)?.close().await.during(doing)?;
        let pool = PgPoolOptions::new()
            .max_connections(options.max_connections)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .idle_timeout(UNUSED)
            .test_before_acquire(false)
            .before_acquire(|connection, about| {
                Box::pin(async move { Ok(about.idle_for < FRESH || is_alive(connection).await) })
            })
            .after_release(|connection, _| {
                Box::pin(async move {
                    // An error closes the connection without a Terminate message, which could block as long as a ping.
                    let silent = || sqlx::Error::Io(std::io::ErrorKind::TimedOut.into());
                    if is_alive(connection).await { Ok(true) } else { Err(silent()) }
                })
            })
            .connect_lazy_with(server);
        Ok(Self::from_pool(pool))
    }

    /// A store over an existing pool.
    pub fn from_pool(pool: PgPool) -> Self {
        Self { pool, batcher: Arc::default(), known_sets: KnownSets::default(), limits_changed: Arc::default() }
    }

    /// Closes the pool and waits until its connections are gone.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    /// Rejects a pooler that loses prepared statements or does not support transactions. A pooler in transaction mode
    /// serves two concurrent transactions by two server connections, so that the second use of a statement reaches a
    /// server that has not prepared it.
    ///
    /// # Errors
    /// [`Error::TransactionPooler`]; [`Error::StatementPooler`]; [`Error::Database`].
    pub async fn check_pooler(&self) -> Result<(), Error> {
        self.try_out().await.map_err(|error| match error {
            error if is_lost_statement(&error) => Error::TransactionPooler,
            error if is_without_transactions(&error) => Error::StatementPooler,
            source => Error::Database { doing: "test the connection", source },
        })
    }

    async fn try_out(&self) -> Result<(), sqlx::Error> {
        let mut ours = self.pool.acquire().await?;
        ask(&mut ours).await?;
        let mut other = self.pool.begin().await?;
        // A pooler with one connection to the server makes the other transaction wait: then no statement can be lost.
        let Ok(occupied) = timeout(SIGN_OF_LIFE, ask(&mut other)).await else { return Ok(()) };
        occupied?;
        ask(&mut ours).await.map(drop)
    }
}

/// An IPv6 address is in brackets in a URL, and the driver would resolve the brackets as part of the name.
fn without_brackets(server: PgConnectOptions) -> PgConnectOptions {
    let bare = server.get_host().strip_prefix('[').and_then(|host| host.strip_suffix(']')).map(str::to_owned);
    match bare {
        Some(host) => server.host(&host),
        None => server,
    }
}

/// Any named prepared statement, as all of ours are.
async fn ask(connection: &mut PgConnection) -> Result<Health, sqlx::Error> {
    sqlx::query_file_as!(Health, "queries/admin/health.sql").fetch_one(connection).await
}

async fn try_once(server: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    timeout(ACQUIRE_TIMEOUT, server.connect())
        .await
        .unwrap_or_else(|_| Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())))
}

async fn is_alive(connection: &mut PgConnection) -> bool {
    matches!(timeout(SIGN_OF_LIFE, connection.ping()).await, Ok(Ok(())))
}

/// PgBouncer's message; its code is that of any protocol violation.
fn is_refused_by_pooler(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.message().contains("unsupported startup parameter: options"))
}

/// SQLSTATEs of a prepared statement that does not exist, or already exists.
fn is_lost_statement(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| matches!(code.as_ref(), "26000" | "42P05"))
}

/// PgBouncer's message for a BEGIN in statement mode, again with the code of any protocol violation.
fn is_without_transactions(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.message().contains("statement pooling mode"))
}

#[cfg(test)]
mod tests {
    use super::ConnectOptions;

    #[test]
    fn an_ipv6_address_is_looked_up_without_its_brackets() {
        let host = |url| ConnectOptions::default().server(url).unwrap().get_host().to_owned();
        assert_eq!(host("postgres://plumbline@[::1]:5433/plumbline"), "::1");
        assert_eq!(host("postgres://plumbline@[2001:db8::7]/plumbline?sslmode=disable"), "2001:db8::7");
        assert_eq!(host("postgres://plumbline@127.0.0.1/plumbline"), "127.0.0.1");
    }
}
