//! Checks for unsuitable databases: each reports one sentence before any harm is done.

use crate::{Error, Store, error::During};
use sqlx::PgExecutor;
use std::time::Duration;
use tokio::time::timeout;

/// How long a server may take to open one more connection before the check assumes that a pooler or a limit holds it
/// back.
const ONE_MORE: Duration = Duration::from_secs(10);

struct Fitness {
    encoding: String,
    may_create: bool,
    login: String,
    /// Tables, separated by commas.
    hidden: String,
}

impl Store {
    /// Rejects a database in which this login does not see every row: a worker would find no job and report itself
    /// idle.
    ///
    /// # Errors
    /// [`Error::Refused`] naming the tables; [`Error::Database`].
    pub async fn check_row_security(&self) -> Result<(), Error> {
        let Fitness { login, hidden, .. } = fitness(&self.pool).await?;
        if hidden.is_empty() {
            return Ok(());
        }
        Err(Error::Refused(format!(
            "row security hides rows of {hidden} from the login `{login}`, so it would find no job: run `plumbline roles` and \
             make it a member of plumbline_work, or ALTER TABLE … DISABLE ROW LEVEL SECURITY on these tables"
        )))
    }

    /// Rejects a server that does not open all connections of the pool at once. The CONNECTION LIMIT of a login or a
    /// database, and a pooler's pool size, have this effect silently: a statement waits until another connection is
    /// returned.
    ///
    /// # Errors
    /// [`Error::TooFewConnections`]; [`Error::Database`].
    pub async fn check_connections(&self) -> Result<(), Error> {
        let needed = self.pool.options().get_max_connections();
        let mut held = Vec::new();
        for had in 0..needed {
            let one_more = async {
                let mut connection = self.pool.acquire().await.during("connect to the database")?;
                fitness(&mut *connection).await.map(|_| connection)
            };
            match timeout(ONE_MORE, one_more).await {
                Ok(Ok(connection)) => held.push(connection),
                Ok(Err(Error::Database { source: sqlx::Error::PoolTimedOut, .. })) | Err(_) => {
                    return Err(Error::TooFewConnections { had, needed });
                }
                Ok(Err(error)) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Rejects a database in which the migrations would fail half-way.
///
/// # Errors
/// [`Error::Refused`]: the encoding is not UTF-8, or this login may not create tables; [`Error::Database`].
pub(super) async fn check_before_migrating(connection: impl PgExecutor<'_>) -> Result<(), Error> {
    let Fitness { encoding, may_create, login, .. } = fitness(connection).await?;
    if encoding != "UTF8" {
        return Err(Error::Refused(format!(
            "the database's encoding is {encoding}, which cannot hold every document's text; create one with CREATE \
             DATABASE … ENCODING 'UTF8' TEMPLATE template0, and nothing was changed in this one"
        )));
    }
    if !may_create {
        return Err(Error::Refused(format!(
            "the login `{login}` may not create tables in the schema public; GRANT CREATE ON SCHEMA public TO \
             \"{login}\", or \
             run `plumbline migrate` as the database's owner; nothing was changed"
        )));
    }
    Ok(())
}

async fn fitness(database: impl PgExecutor<'_>) -> Result<Fitness, Error> {
    let asked = sqlx::query_file_as!(Fitness, "queries/admin/fitness.sql").fetch_one(database).await;
    asked.during("read the database server's properties")
}
