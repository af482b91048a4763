//! Effects of one login's rows and sessions on others.

mod bounds;
mod logins;

use crate::support::{execute, sentence};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, PgPool, postgres::PgConnectOptions};
use uuid::Uuid;

/// A login for one test, with its own session.
struct Login {
    name: String,
    session: PgConnection,
}

impl Login {
    /// A login with these rights.
    async fn with(pool: &PgPool, rights: &[&str]) -> Self {
        let name = format!("login_{}", Uuid::now_v7().simple());
        execute(pool, format!("CREATE ROLE {name} LOGIN PASSWORD '{name}'")).await.unwrap();
        for right in rights {
            execute(pool, format!("GRANT {right} TO {name}")).await.unwrap();
        }
        // The server knows which login opened a session, regardless of what the session claims.
        let own = PgConnectOptions::clone(&pool.connect_options()).username(&name).password(&name);
        let session = PgConnection::connect_with(&own).await.unwrap();
        Self { name, session }
    }

    /// A login that inserts jobs.
    async fn enqueuer(pool: &PgPool) -> Self {
        Self::with(pool, &["SELECT, INSERT ON jobs", "SELECT, INSERT ON job_documents"]).await
    }

    /// A login that steers them.
    async fn steerer(pool: &PgPool) -> Self {
        Self::with(pool, &["SELECT, UPDATE (status) ON jobs", "EXECUTE ON ALL FUNCTIONS IN SCHEMA public"]).await
    }

    async fn says(&mut self, statement: impl Into<String>) -> Result<(), sqlx::Error> {
        self.session.execute(AssertSqlSafe(statement.into())).await.map(drop)
    }

    async fn id(&mut self, statement: impl Into<String>) -> Result<Uuid, sqlx::Error> {
        sqlx::query_scalar(AssertSqlSafe(statement.into())).fetch_one(&mut self.session).await
    }

    /// Ends the session and drops the role.
    async fn leave(self, pool: &PgPool) {
        self.session.close().await.unwrap();
        execute(pool, format!("DROP OWNED BY {}", self.name)).await.unwrap();
        execute(pool, format!("DROP ROLE {}", self.name)).await.unwrap();
    }
}

fn refusal(done: Result<(), sqlx::Error>) -> String {
    sentence(done.expect_err("it is refused"))
}
