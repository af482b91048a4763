//! Database errors, grouped by how a caller treats them.

use sqlx::{migrate::MigrateError, postgres::PgDatabaseError};
use uuid::Uuid;

/// An error of the store; its text is one sentence for a user.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The job is no longer ours: another claim, or a user's command. Normal, not a failure: drop the run. Nothing was
    /// written.
    #[error("job {0} is no longer held under this lease: the run is dropped and nothing was written")]
    LeaseLost(Uuid),
    /// The approval of a call about to be sent is no longer valid: it has expired, or its row differs from what was
    /// approved. Nothing was written.
    #[error("a call of job {0} is no longer approved, and was not made")]
    DispatchRefused(Uuid),
    /// A command that does not fit the job's status, or names no job; the database's message.
    #[error("{0}")]
    Refused(String),
    /// The database was migrated by a later release.
    #[error(
        "the database schema {found} is newer than this version of plumbline supports ({known}): use a newer plumbline"
    )]
    SchemaNewer {
        /// The database's schema version.
        found: i64,
        /// The newest embedded version.
        known: i64,
    },
    /// The database is not migrated, or not far enough.
    #[error("the database schema is {} but at least {needed} is needed: run `plumbline migrate`", version(*.found))]
    SchemaOlder {
        /// The database's schema version, if it has one.
        found: Option<i64>,
        /// The oldest version that works.
        needed: i64,
    },
    /// The database has the migrations from before the first release, which this version does not continue.
    #[error(
        "the database has the schema {found} from before version 0.1.0 and was not changed: create a new database, run \
         `plumbline migrate` there, and copy what you need into it with \
         `pg_dump --data-only --disable-triggers --exclude-table=_sqlx_migrations OLD | psql NEW`"
    )]
    SchemaUnreleased {
        /// The database's schema version.
        found: i64,
    },
    /// An applied migration was edited afterwards, as the chapters are before the first release.
    #[error(
        "migration {0} of the database differs from this version's, and nothing was changed: create a new database \
         and run `plumbline migrate` there"
    )]
    SchemaEdited(i64),
    /// A migration failed.
    #[error("could not migrate the database: {}", in_migration(.0))]
    Migrate(#[from] MigrateError),
    /// A row that cannot be decoded.
    #[error("job {job_id}: the stored {what} cannot be read: {reason}")]
    Corrupt {
        /// The job with the row.
        job_id: Uuid,
        /// Which part.
        what: &'static str,
        /// The reason.
        reason: String,
    },
    /// The database did not answer in time and the caller gave up: the outcome of the call is unknown.
    #[error("the database did not answer within {} s", .0.as_secs())]
    Unanswered(std::time::Duration),
    /// The connection goes through a pooler in transaction mode, which loses prepared statements.
    #[error(
        "the connection goes through a pooler in transaction mode that does not track prepared statements: \
         connect directly, set its pool_mode to session, or use PgBouncer 1.21 or later with max_prepared_statements > 0"
    )]
    TransactionPooler,
    /// The connection goes through a pooler in statement mode, which does not support transactions.
    #[error(
        "the connection goes through a pooler in statement mode, which does not support transactions: connect \
         directly, or set \
         its pool_mode to session"
    )]
    StatementPooler,
    /// The server, or a pooler before it, opens fewer concurrent connections than needed.
    #[error(
        "the server allows {had} connections but {needed} are needed: raise the login's or \
         the database's CONNECTION LIMIT, max_connections, or the pooler's default_pool_size"
    )]
    TooFewConnections {
        /// How many it opened.
        had: u32,
        /// How many the pool uses.
        needed: u32,
    },
    /// Any other database error; see [`Error::is_transient`].
    #[error("could not {doing}: {}", said(source))]
    Database {
        /// The attempted action, after "could not".
        doing: &'static str,
        /// The driver's error.
        source: sqlx::Error,
    },
}

/// The remedy for a database that refuses writes.
pub const READ_ONLY: &str =
    "the database is read-only; connect to the primary if this is a standby, or reset default_transaction_read_only";

/// The database's message, without the location in the server's source, which is of no use to users.
fn said(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(database) if database.code().as_deref() == Some("25006") => {
            format!("{}: {READ_ONLY}", database.message())
        }
        sqlx::Error::Database(database) => database.message().to_owned(),
        sqlx::Error::Configuration(sentence) => sentence.to_string(),
        other => other.to_string(),
    }
}

fn in_migration(error: &MigrateError) -> String {
    match error {
        MigrateError::Execute(source) => said(source),
        other => other.to_string(),
    }
}

fn version(found: Option<i64>) -> String {
    found.map_or_else(|| "missing".to_owned(), |version| version.to_string())
}

impl Error {
    /// Whether the same call may succeed later: the database is unavailable, full, restarting, read-only during a
    /// failover, or two transactions conflicted.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Database { source, .. } => is_transient(source),
            Self::Migrate(MigrateError::Execute(source)) => is_transient(source),
            Self::Unanswered(_) | Self::TooFewConnections { .. } => true,
            _ => false,
        }
    }

    /// Whether the job's own data is the cause, either what it would write or what is stored of it: another worker or a
    /// later attempt would fail as well. Any other error is a problem of the database, of a pooler or proxy, or of an
    /// unknown kind: the job is released.
    pub fn is_of_the_job(&self) -> bool {
        match self {
            Self::Database { source: sqlx::Error::Database(error), .. } => {
                error.code().is_some_and(|code| is_code_of_the_job(&code))
            }
            Self::Refused(_) | Self::Corrupt { .. } => true,
            _ => false,
        }
    }

    /// Whether the connection has lost its prepared statements: a pooler or a table changed.
    pub fn wants_new_connections(&self) -> bool {
        self.code().is_some_and(|code| matches!(&*code, "26000" | "0A000"))
    }

    /// An identifier for equal failures: the SQLSTATE, or a word if there is none.
    pub fn kind(&self) -> String {
        self.code().map_or_else(|| "database".to_owned(), std::borrow::Cow::into_owned)
    }

    /// Whether the database was made by a version that this one does not continue.
    pub fn is_of_another_schema(&self) -> bool {
        matches!(self, Self::SchemaUnreleased { .. } | Self::SchemaEdited(_))
    }

    /// Whether it may pass without intervention: transient, and not a password or a right that an operator must fix.
    pub fn is_outage(&self) -> bool {
        let code = self.code();
        self.is_transient() && !code.is_some_and(|code| code.starts_with("28") || code == FORBIDDEN)
    }

    /// Whether the address itself cannot be used, regardless of the server.
    pub fn is_of_the_address(&self) -> bool {
        matches!(self, Self::Database { source: sqlx::Error::Configuration(_), .. })
    }

    /// Whether the server itself reported it, as opposed to a failed connection.
    pub fn is_said(&self) -> bool {
        self.code().is_some()
    }

    /// Whether the login lacks a right that the call needs. What our own functions refuse is the row, and their sentence
    /// says why.
    pub fn is_forbidden(&self) -> bool {
        self.code().is_some_and(|code| code == FORBIDDEN) && !self.is_raised()
    }

    /// Whether a function raised it, as opposed to the server itself.
    fn is_raised(&self) -> bool {
        let Self::Database { source: sqlx::Error::Database(error), .. } = self else { return false };
        error.try_downcast_ref::<PgDatabaseError>().is_some_and(|error| error.routine() == Some("exec_stmt_raise"))
    }

    fn code(&self) -> Option<std::borrow::Cow<'_, str>> {
        match self {
            Self::Database { source: sqlx::Error::Database(error), .. }
            | Self::Migrate(MigrateError::Execute(sqlx::Error::Database(error))) => error.code(),
            _ => None,
        }
    }
}

/// SQLSTATE: insufficient privilege.
const FORBIDDEN: &str = "42501";

fn is_transient(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::BeginFailed => true,
        sqlx::Error::Database(database) => database.code().is_some_and(|code| is_transient_code(&code)),
        _ => false,
    }
}

/// SQLSTATEs caused by the job's own rows: 22 data exception, 23 integrity constraint violation, 54 program limit
/// exceeded, and P0001, which our triggers raise.
fn is_code_of_the_job(code: &str) -> bool {
    matches!(code.get(..2), Some("22" | "23" | "54")) || code == "P0001"
}

/// SQLSTATEs that pass by themselves or after an operator's fix. Classes: 08 connection, 28 authorization (a password
/// was changed under a running worker; at start-up the same error ends it), 53 resources (too many connections, disk
/// full), 57P0x shutdown and start-up. 42501: a right was revoked.
fn is_transient_code(code: &str) -> bool {
    code.starts_with("08")
        || code.starts_with("28")
        || code.starts_with("53")
        || code.starts_with("57P0")
        || matches!(code, "40001" | "40P01" | "25006" | "25P03" | "25P04" | "42501" | "55P03" | "57014" | "58030")
}

/// Adds the attempted action to a driver error.
pub(crate) trait During<T> {
    /// `doing` completes the sentence "could not …".
    fn during(self, doing: &'static str) -> Result<T, Error>;
}

impl<T> During<T> for Result<T, sqlx::Error> {
    fn during(self, doing: &'static str) -> Result<T, Error> {
        self.map_err(|source| Error::Database { doing, source })
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, is_code_of_the_job, is_transient_code};

    #[test]
    fn trouble_that_passes_is_transient_and_a_broken_rule_is_not() {
        for code in ["25P04", "08006", "53300", "53100", "57P01", "57P03", "40001", "40P01", "25006", "28P01"] {
            assert!(is_transient_code(code), "{code}");
        }
        for code in ["23514", "23505", "42P01", "22021", "55000"] {
            assert!(!is_transient_code(code), "{code}");
        }
        assert!(Error::Database { doing: "x", source: sqlx::Error::PoolTimedOut }.is_transient());
        assert!(!Error::LeaseLost(uuid::Uuid::nil()).is_transient());
    }

    /// The classes of the PostgreSQL manual's appendix A, each represented by one code.
    #[test]
    fn four_classes_are_the_jobs_fault_and_all_others_the_infrastructures() {
        for code in ["22021", "22P02", "23505", "23514", "54000", "54011", "P0001"] {
            assert!(is_code_of_the_job(code) && !is_transient_code(code), "{code}");
        }
        for code in [
            "00000", "01000", "02000", "03000", "08006", "09000", "0A000", "0B000", "0F001", "0L000", "0P000", "0Z002",
            "10608", "20000", "21000", "24000", "25P02", "25P04", "26000", "27000", "28P01", "2B000", "2D000", "2F005",
            "34000", "38001", "39001", "3B001", "3D000", "3F000", "40001", "40003", "42P01", "42501", "44000", "53400",
            "55000", "57P05", "58030", "58P01", "72000", "F0000", "HV000", "P0000", "XX000", "XX001",
        ] {
            assert!(!is_code_of_the_job(code), "{code}");
        }
    }
}
