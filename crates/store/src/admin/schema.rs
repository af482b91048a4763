//! The embedded migrations, and the database's schema version.

use super::fitness::check_before_migrating;
use crate::{Error, Store, error::During};
use sqlx::{PgConnection, PgExecutor, migrate::MigrateError};

/// The migrations in `migrations/`, embedded in the binary.
pub static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations");

/// The oldest schema that this release works with: all chapters. Later migrations are additive, so that the previous
/// release works with the new schema and this release with the previous schema; raise it when that is no longer
/// possible.
const OLDEST_SCHEMA: i64 = 20_261_125_001_000;

/// How long a migration waits for a lock before it looks up the holder.
const LOCK_TIMEOUT: &str = "SET lock_timeout TO '5s'";

/// SQLSTATE: a lock was not acquired in time.
const NOT_AVAILABLE: &str = "55P03";

/// SQLSTATE: the table does not exist.
const UNDEFINED_TABLE: &str = "42P01";

impl Store {
    /// Applies the missing migrations. Idempotent and safe to run concurrently: one session works, the others wait.
    ///
    /// The tables are created in the schema `public`, regardless of the `search_path` of the role or the address.
    ///
    /// # Errors
    /// [`Error::SchemaUnreleased`] for a database from before the first release, [`Error::SchemaNewer`] for one of a
    /// later release and [`Error::SchemaEdited`] for one with an applied migration that was edited afterwards, all left
    /// unchanged; [`Error::Migrate`] if a migration fails; [`Error::Database`].
    pub async fn migrate(&self) -> Result<(), Error> {
        let mut connection = self.pool.acquire().await.during("connect to the database")?;
        sqlx::raw_sql("SET search_path TO public").execute(&mut *connection).await.during("choose the schema")?;
        let migrated = migrate(&mut connection).await;
        // The setting must not leak into the pool.
        connection.close().await.during("close a connection")?;
        migrated
    }

    /// Sets the default job type of new jobs.
    ///
    /// # Errors
    /// [`Error::Database`], also if the login does not own the tables.
    pub async fn set_default_job_type(&self, job_type: &str) -> Result<(), Error> {
        let set =
            sqlx::query_file_scalar!("queries/admin/set_default_job_type.sql", job_type).fetch_one(&self.pool).await;
        set.during("set the default job type").map(drop)
    }

    /// The default job type of new jobs.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn default_job_type(&self) -> Result<String, Error> {
        let found = sqlx::query_file_scalar!("queries/admin/default_job_type.sql").fetch_one(&self.pool).await;
        found.during("read the default job type")
    }

    /// The newest applied migration; none if `migrate` has never run.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn schema_version(&self) -> Result<Option<i64>, Error> {
        schema_version(&self.pool).await
    }

    /// Whether this version of the program may work with the database.
    ///
    /// # Errors
    /// [`Error::SchemaNewer`], [`Error::SchemaOlder`] or [`Error::SchemaUnreleased`] if not.
    pub async fn check_schema(&self) -> Result<(), Error> {
        let found = self.schema_version().await?;
        refuse_unreleased(found)?;
        refuse_newer(found)?;
        match found {
            Some(found) if found >= OLDEST_SCHEMA => Ok(()),
            found => Err(Error::SchemaOlder { found, needed: OLDEST_SCHEMA }),
        }
    }
}

/// The version of the newest embedded migration.
fn newest() -> Option<i64> {
    MIGRATOR.iter().map(|migration| migration.version).max()
}

async fn migrate(connection: &mut PgConnection) -> Result<(), Error> {
    let found = schema_version(&mut *connection).await?;
    refuse_unreleased(found)?;
    refuse_newer(found)?;
    if found < newest() {
        check_before_migrating(&mut *connection).await?;
    }
    sqlx::raw_sql(LOCK_TIMEOUT).execute(&mut *connection).await.during("set the lock timeout")?;
    loop {
        match MIGRATOR.run(&mut *connection).await {
            Ok(()) => return Ok(()),
            Err(MigrateError::Execute(sqlx::Error::Database(error)))
                if error.code().as_deref() == Some(NOT_AVAILABLE) =>
            {
                refuse_foreign_lock(&mut *connection).await?;
            }
            Err(MigrateError::VersionMismatch(version)) => return Err(Error::SchemaEdited(version)),
            Err(other) => return Err(other.into()),
        }
    }
}

/// Any login may hold an advisory lock, even the one of migrations. Waits for a migration by any role that may migrate;
/// any other session is named in the error.
async fn refuse_foreign_lock(connection: &mut PgConnection) -> Result<(), Error> {
    let foreign = sqlx::query_file!("queries/admin/foreign_lock.sql").fetch_optional(connection).await;
    match foreign.during("look for the session that holds the migration lock")? {
        Some(holder) => Err(Error::Refused(format!(
            "session {} of login `{}` holds the migration lock; end it with `SELECT pg_terminate_backend({})` as a \
             superuser, then migrate again",
            holder.pid, holder.login, holder.pid
        ))),
        None => Ok(()),
    }
}

/// The chapters do not continue the migrations before them: the tables of those are left unchanged.
fn refuse_unreleased(found: Option<i64>) -> Result<(), Error> {
    let first = MIGRATOR.iter().map(|migration| migration.version).min();
    match found.filter(|&found| first.is_some_and(|first| found < first)) {
        Some(found) => Err(Error::SchemaUnreleased { found }),
        None => Ok(()),
    }
}

fn refuse_newer(found: Option<i64>) -> Result<(), Error> {
    let known = newest().unwrap_or(OLDEST_SCHEMA);
    match found.filter(|&found| found > known) {
        Some(found) => Err(Error::SchemaNewer { found, known }),
        None => Ok(()),
    }
}

async fn schema_version(database: impl PgExecutor<'_>) -> Result<Option<i64>, Error> {
    match sqlx::query_file_scalar!("queries/admin/schema_version.sql").fetch_one(database).await {
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(UNDEFINED_TABLE) => Ok(None),
        answer => answer.during("read the schema version"),
    }
}
