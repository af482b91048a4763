//! The embedded migrations and the version of the database.

use crate::{Error, Store, error::During};

/// The migrations in `migrations/`, built into the binary.
pub static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations");

/// The oldest schema this release works with. Migrations only add, so that the release before works with the new
/// schema and this one with the schema before; raise it when that one can no longer serve.
const OLDEST_SCHEMA: i64 = 20_261_124_110_000;

/// SQLSTATE: the table does not exist.
const UNDEFINED_TABLE: &str = "42P01";

impl Store {
    /// Applies the migrations that are missing. Many may do so at once: one works, the others wait.
    ///
    /// The tables come into the schema `public`, whatever the `search_path` of the role or the address begins with.
    ///
    /// # Errors
    /// [`Error::Migrate`] when a migration fails or an applied one was edited afterwards; [`Error::Database`].
    pub async fn migrate(&self) -> Result<(), Error> {
        let mut connection = self.pool.acquire().await.during("connect to the database")?;
        sqlx::raw_sql("SET search_path TO public").execute(&mut *connection).await.during("choose the schema")?;
        let migrated = MIGRATOR.run(&mut *connection).await;
        // Nobody else is to meet the setting.
        connection.close().await.during("close a connection")?;
        Ok(migrated?)
    }

    /// The newest applied migration; none where `migrate` has never run.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn schema_version(&self) -> Result<Option<i64>, Error> {
        match sqlx::query_file_scalar!("queries/schema_version.sql").fetch_one(&self.pool).await {
            Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(UNDEFINED_TABLE) => Ok(None),
            answer => answer.during("read the schema version"),
        }
    }

    /// Whether this version of the program may work with the database.
    ///
    /// # Errors
    /// [`Error::SchemaNewer`] or [`Error::SchemaOlder`] if not.
    pub async fn check_schema(&self) -> Result<(), Error> {
        let known = MIGRATOR.iter().map(|migration| migration.version).max().unwrap_or(OLDEST_SCHEMA);
        match self.schema_version().await? {
            Some(found) if found > known => Err(Error::SchemaNewer { found, known }),
            Some(found) if found >= OLDEST_SCHEMA => Ok(()),
            found => Err(Error::SchemaOlder { found, needed: OLDEST_SCHEMA }),
        }
    }
}
