//! Everything that a test has.

use crate::{
    cluster::create_database,
    invariants::{check_invariants, check_mirrors},
    jobs::{self, Job, NewJob},
    model::Model,
    program::{self, Ended, Program},
    wait::CEILING,
};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor, PgPool, postgres::PgConnectOptions};
use std::{
    path::{Path, PathBuf},
    str::FromStr,
};
use tempfile::TempDir;
use tokio::process::Command;
use uuid::Uuid;

/// A database, a workspace folder, a model, and the program.
#[derive(Debug)]
pub struct World {
    /// The test's own database.
    pub pool: PgPool,
    /// The model that workers of this world use.
    pub model: Model,
    folder: TempDir,
    finished: bool,
}

impl World {
    /// A world around the database made by `#[sqlx::test]`, migrated by the program under test, so that the schema is
    /// always the one that it knows.
    ///
    /// # Panics
    /// When there is no temporary folder or free port, or the program cannot migrate.
    pub async fn new(pool: PgPool) -> Self {
        let world = Self::around(pool).await;
        let migrated = world.run(&["migrate"]).await;
        assert_eq!(migrated.code, Some(0), "the database could not be migrated: {}", migrated.stderr);
        world
    }

    /// A world on a new database of the server that `DATABASE_URL` names, for code outside `#[sqlx::test]`.
    ///
    /// # Panics
    /// As [`World::new`]; also when `DATABASE_URL` names no server.
    pub async fn open() -> Self {
        Self::new(create_database(&server()).await).await
    }

    /// A world whose database has no tables yet.
    ///
    /// # Panics
    /// When there is no temporary folder or no free port, or the database cannot be emptied.
    pub async fn with_empty_database(pool: PgPool) -> Self {
        // With `make test`, new databases start with the schema.
        let empty = "DROP SCHEMA public CASCADE;
                     CREATE SCHEMA public AUTHORIZATION pg_database_owner;
                     GRANT USAGE ON SCHEMA public TO PUBLIC";
        pool.execute(empty).await.expect("the test's database can be emptied");
        Self::around(pool).await
    }

    async fn around(pool: PgPool) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for name in ["workspace/import", "logs"] {
            std::fs::create_dir_all(folder.path().join(name)).expect("a temporary folder can be written");
        }
        Self { pool, model: Model::start().await, folder, finished: false }
    }

    /// `DATABASE_URL` of this world.
    pub fn url(&self) -> String {
        self.pool.connect_options().to_url_lossy().to_string()
    }

    /// The workspace folder.
    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// A folder for whatever else a test needs.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Puts a document under the import root.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn import(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.workspace().join("import").join(name), content).expect("the import folder can be written");
    }

    /// Permits rows of every job type to set these keys, and addresses with these prefixes: writes
    /// operator's files, which commands use from now on.
    ///
    /// # Panics
    /// When a file cannot be read or written.
    pub fn let_rows_set(&self, keys: &[&str], addresses: &[&str]) {
        for job_type in ["creator", "validator"] {
            let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs").join(job_type).join("config.json");
            let text = std::fs::read_to_string(shipped).expect("the shipped configuration can be read");
            let mut config: Value = serde_json::from_str(&text).expect("the shipped configuration is JSON");
            config["job_may_set"] = json!(keys);
            config["addresses_allowed"] = json!(addresses);
            // A limit of the product, which an unoptimized program on a busy machine must not reach.
            config["limits"]["tool_timeout_s"] = json!(CEILING.as_secs());
            self.put_type(job_type, &config);
        }
    }

    /// Adds a job type with its instructions to the operator's.
    ///
    /// # Panics
    /// When the world's folder cannot be written.
    pub fn add_type(&self, name: &str, config: &Value, instructions: &str) {
        self.put_type(name, config);
        let path = self.configs().join(name).join("instructions.md");
        std::fs::write(path, instructions).expect("the world's folder can be written");
    }

    fn put_type(&self, name: &str, config: &Value) {
        let folder = self.configs().join(name);
        std::fs::create_dir_all(&folder).expect("the world's folder can be written");
        std::fs::write(folder.join("config.json"), config.to_string()).expect("the world's folder can be written");
    }

    /// Permits the creator to complete without answering for its documents' passages: for tests about something else,
    /// after [`World::let_rows_set`].
    ///
    /// # Panics
    /// When that was not called before.
    pub fn let_passages_be(&self) {
        let path = self.configs().join("creator/config.json");
        let text = std::fs::read_to_string(&path).expect("the operator's file was written");
        let mut config: Value = serde_json::from_str(&text).expect("it is JSON");
        config["coverage"] = json!("off");
        std::fs::write(path, config.to_string()).expect("the world's folder can be written");
    }

    fn configs(&self) -> PathBuf {
        self.folder.path().join("operator")
    }

    /// A command of the program in this world: fast polling and sweeping, this database and model. A lease is longer
    /// than any stall of a busy machine; [`World::age_workers`] ends it.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program::command(arguments);
        command
            .env("DATABASE_URL", self.url())
            .env("PLUMBLINE_WORKSPACE_DIR", self.workspace())
            .env("PLUMBLINE_LEASE_SECS", "60")
            .env("PLUMBLINE_HEARTBEAT_SECS", "1")
            .env("PLUMBLINE_POLL_MS", "200")
            .env("OPENAI_BASE_URL", self.model.base_url())
            .env("OPENAI_API_KEY", "a-key-for-tests")
            .env("PLUMBLINE_MODEL", plumbline_rehearsal::MODEL)
            .current_dir(self.folder.path());
        if self.configs().exists() {
            command.env("PLUMBLINE_CONFIG_DIR", self.configs());
        }
        command
    }

    /// Starts a command.
    pub fn start(&self, command: Command) -> Program {
        Program::start(command, &self.folder.path().join("logs"))
    }

    /// Starts a worker that runs until it is stopped.
    pub fn worker(&self) -> Program {
        self.start(self.command(&["worker"]))
    }

    /// Runs a worker until nothing is left to do.
    ///
    /// # Panics
    /// When it fails, or does not end.
    pub async fn work_until_idle(&self) {
        let ended = self.run(&["worker", "--until-idle"]).await;
        assert_eq!(ended.code, Some(0), "a worker failed: {}", ended.stderr);
    }

    /// Runs a command to its end.
    pub async fn run(&self, arguments: &[&str]) -> Ended {
        self.start(self.command(arguments)).ended().await
    }

    /// Inserts a job.
    pub async fn insert(&self, job: &NewJob<'_>) -> Uuid {
        job.insert(&self.pool).await
    }

    /// Reads a job's row.
    pub async fn job(&self, id: Uuid) -> Job {
        jobs::read(&self.pool, id).await
    }

    /// Waits until the job has this status.
    pub async fn becomes(&self, id: Uuid, status: &str) -> Job {
        jobs::becomes(&self.pool, id, status).await
    }

    /// Waits until a condition on the job holds.
    pub async fn until(&self, id: Uuid, what: &str, holds: impl Fn(&Job) -> bool) -> Job {
        jobs::until(&self.pool, id, what, holds).await
    }

    /// Jobs that have not ended, if any. Parked ones are made due: other tests are about how long they wait.
    ///
    /// # Panics
    /// When the database refuses.
    pub async fn wake_open_jobs(&self) -> Option<i64> {
        let wake = "UPDATE jobs SET run_at = now() WHERE status = 'pending' AND run_at > now()";
        sqlx::query(wake).execute(&self.pool).await.expect("parked jobs can be woken");
        let open = "SELECT count(*) FROM jobs WHERE status IN ('pending', 'running')";
        let open: i64 = sqlx::query_scalar(open).fetch_one(&self.pool).await.expect("jobs can be counted");
        (open > 0).then_some(open)
    }

    /// Calls one of the SQL functions that take a job and return its new status.
    ///
    /// # Errors
    /// The database's error.
    pub async fn call(&self, statement: &'static str, id: Uuid) -> Result<String, sqlx::Error> {
        sqlx::query_scalar(statement).bind(id).fetch_one(&self.pool).await
    }

    /// Makes every worker's heartbeat look old, as after a long silence, so that the next sweep reclaims its jobs.
    ///
    /// # Panics
    /// When the database refuses.
    pub async fn age_workers(&self) {
        sqlx::query("UPDATE workers SET heartbeat_at = heartbeat_at - interval '1 hour'")
            .execute(&self.pool)
            .await
            .expect("workers can be aged");
    }

    /// The same for only the worker that holds a job: for a worker that is dead while others live.
    ///
    /// # Panics
    /// When the database refuses.
    pub async fn age_holder(&self, job: Uuid) {
        sqlx::query(
            "UPDATE workers SET heartbeat_at = heartbeat_at - interval '1 hour'
             WHERE id = (SELECT worker_id FROM jobs WHERE id = $1)",
        )
        .bind(job)
        .execute(&self.pool)
        .await
        .expect("a worker can be aged");
    }

    /// The same for the worker that was started with this `HOSTNAME`.
    ///
    /// # Panics
    /// When the database refuses.
    pub async fn age_worker(&self, hostname: &str) {
        sqlx::query("UPDATE workers SET heartbeat_at = heartbeat_at - interval '1 hour' WHERE hostname = $1")
            .bind(hostname)
            .execute(&self.pool)
            .await
            .expect("a worker can be aged");
    }

    /// The end of a test whose workers died at any moment: a folder whose writer died at the job's last step is
    /// repaired by any worker.
    ///
    /// # Panics
    /// As [`World::finish`].
    pub async fn finish_repaired(self) {
        let mut command = self.command(&["worker"]);
        // Folders written to within a lease may still be in use.
        command.env("PLUMBLINE_LEASE_SECS", "2");
        let closing = self.start(command);
        self.finish().await;
        drop(closing);
    }

    /// The end of a world that was opened: checks the invariants and drops its database.
    ///
    /// # Panics
    /// As [`World::finish`].
    pub async fn close(self) {
        let pool = self.pool.clone();
        self.finish_repaired().await;
        let options = pool.connect_options();
        pool.close().await;
        let name = options.get_database().expect("a world's database has a name").to_owned();
        let mut admin =
            options.as_ref().clone().database("postgres").connect().await.expect("the server takes connections");
        let dropped = admin.execute(AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))).await;
        dropped.expect("a database can be dropped");
    }

    /// The end of every test: checks the invariants.
    ///
    /// # Panics
    /// When one of them is broken.
    pub async fn finish(mut self) {
        self.finished = true;
        check_invariants(&self.pool).await;
        check_mirrors(&self.pool, &self.workspace()).await;
    }
}

/// The server of `DATABASE_URL`.
///
/// # Panics
/// When it is not set.
fn server() -> PgConnectOptions {
    let url = std::env::var("DATABASE_URL").expect("DATABASE_URL is set; the Makefile's targets see to it");
    PgConnectOptions::from_str(&url).expect("DATABASE_URL is an address of Postgres")
}

impl Drop for World {
    fn drop(&mut self) {
        assert!(self.finished || std::thread::panicking(), "a system test must end with World::finish");
    }
}
