//! A user in one of the roles of `deploy/roles.sql`.

use plumbline_system_tests::{Command, PgPool, Uuid, World, eventually};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};

const ROLES: &str = include_str!("../../../../deploy/roles.sql");

/// SQLSTATE: insufficient privilege.
pub(crate) const REFUSED: &str = "42501";

/// A user in one of the roles, and how it reaches the world's database.
pub(crate) struct User {
    name: String,
    url: String,
    pub(crate) pool: PgPool,
}

impl User {
    /// A new user in `plumbline_<role>`.
    pub(crate) async fn of(world: &World, role: &str) -> Self {
        let name = format!("test_{role}_{}", Uuid::now_v7().simple());
        let create = format!("CREATE ROLE {name} LOGIN PASSWORD 'a-password-for-tests' IN ROLE plumbline_{role}");
        world.pool.execute(AssertSqlSafe(create)).await.expect("a user can be created");
        let options = world.pool.connect_options().as_ref().clone().username(&name).password("a-password-for-tests");
        let pool = PgPool::connect_with(options.clone()).await.expect("the user can log in");
        Self { name, url: options.to_url_lossy().to_string(), pool }
    }

    /// The login.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A command of the program as this user.
    pub(crate) fn command(&self, world: &World, arguments: &[&str]) -> Command {
        let mut command = world.command(arguments);
        command.env("DATABASE_URL", &self.url);
        command
    }

    /// Runs a command to its end and returns its output.
    pub(crate) async fn run(&self, world: &World, arguments: &[&str]) -> String {
        let ended = world.start(self.command(world, arguments)).ended().await;
        assert_eq!(ended.code, Some(0), "{arguments:?} as {}: {}", self.name, ended.stderr);
        ended.stdout
    }

    /// Asserts that each statement is refused for want of rights, and for no other reason.
    pub(crate) async fn must_not(&self, statements: &[&str]) {
        for statement in statements {
            let refused = self.pool.execute(AssertSqlSafe(*statement)).await.map(|_| ());
            let code = refused.as_ref().err().and_then(sqlx::Error::as_database_error).and_then(|error| error.code());
            assert_eq!(code.as_deref(), Some(REFUSED), "{}: `{statement}` gave {refused:?}", self.name);
        }
    }

    /// Calls one of the SQL functions that take a job, as `name($1)`.
    pub(crate) async fn call(&self, function: &str, id: Uuid) -> String {
        let statement = format!("SELECT {function}");
        sqlx::query_scalar(AssertSqlSafe(statement))
            .bind(id)
            .fetch_one(&self.pool)
            .await
            .unwrap_or_else(|error| panic!("{function} as {}: {error}", self.name))
    }

    /// Ends the user: roles belong to the server and would outlive the test's database.
    pub(crate) async fn leave(self, world: &World) {
        self.pool.close().await;
        // A session outlives its connection by a moment, and so do its temporary tables.
        eventually("the user's sessions to end", async || {
            let open = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE usename = $1)";
            let open: bool = sqlx::query_scalar(open).bind(&self.name).fetch_one(&world.pool).await.expect("a look");
            (!open).then_some(())
        })
        .await;
        world.pool.execute(AssertSqlSafe(format!("DROP ROLE {}", self.name))).await.expect("a user can be dropped");
    }
}

/// Applies `deploy/roles.sql`.
pub(crate) async fn apply(pool: &PgPool) {
    pool.execute(ROLES).await.expect("roles.sql can be applied");
}

/// A world in whose database there are the roles.
pub(crate) async fn world(pool: PgPool) -> World {
    let world = World::new(pool).await;
    apply(&world.pool).await;
    world
}
