//! The environment of a measurement: a database, a model, a workspace, and workers.

use crate::{
    child::{Model, Plumbline, Program},
    database::{Database, Server},
    error::{During, Error},
    model::Order,
    sizes::Sizes,
};
use serde_json::{Value, json};
use sqlx::PgConnection;
use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tempfile::TempDir;

/// Interval of polling for ended jobs. A poll reads all jobs; the shortest times measured this way are some seconds.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Data shared by all figures.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) plumbline: Plumbline,
    pub(crate) server: Server,
    pub(crate) sizes: Sizes,
    /// A PDF for the document figures.
    pub(crate) pdf: PathBuf,
    /// Used workspaces. They are removed at the end: after many files were removed, a file system may take far longer
    /// to create new ones for a while.
    pub(crate) left: Mutex<Vec<TempDir>>,
}

impl Bench {
    /// A fixture with a fresh, migrated database and a model with this delay.
    pub(crate) async fn fixture(&self, name: &str, delay: Duration) -> Result<Fixture, Error> {
        let database = self.server.create(&format!("bench_{name}")).await?;
        let workspace = tempfile::tempdir().during("make a workspace folder")?;
        let mut migrate = self.plumbline.command(&database.url, workspace.path());
        let status = migrate.arg("migrate").stdout(std::process::Stdio::null()).status();
        if !status.during("run `plumbline migrate`")?.success() {
            return Err(Error::new("`plumbline migrate` failed; its message is above"));
        }
        Ok(Fixture { database, model: Model::start(delay).await?, workspace, plumbline: self.plumbline.clone() })
    }

    /// Removes a fixture.
    pub(crate) async fn close(&self, fixture: Fixture) -> Result<(), Error> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).push(fixture.workspace);
        self.server.drop(fixture.database).await
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Fixture {
    pub(crate) database: Database,
    pub(crate) model: Model,
    workspace: TempDir,
    plumbline: Plumbline,
}

impl Fixture {
    /// Starts a worker with this concurrency.
    pub(crate) fn worker(&self, concurrency: usize) -> Result<Program, Error> {
        self.worker_on(&self.database.url, concurrency, &[])
    }

    /// The same with another database address and further environment variables.
    pub(crate) fn worker_on(&self, url: &str, concurrency: usize, env: &[(&str, &str)]) -> Result<Program, Error> {
        let mut command = self.plumbline.command(url, self.workspace.path());
        command.args(["worker", "--concurrency", &concurrency.to_string()]);
        command
            .env("OPENAI_BASE_URL", self.model.base_url())
            .env("OPENAI_API_KEY", "none")
            .env("PLUMBLINE_MODEL", "bench");
        command.envs(env.iter().copied());
        Program::start(command)
    }

    /// Inserts jobs in one statement, with these overrides of the configuration.
    pub(crate) async fn insert(&self, orders: &[Order], config: &Value) -> Result<(), Error> {
        let prompts: Vec<String> = orders.iter().map(Order::prompt).collect();
        sqlx::query("INSERT INTO jobs (prompt, config) SELECT prompt, $2 FROM unnest($1::text[]) AS prompt")
            .bind(prompts)
            .bind(config)
            .execute(&self.database.pool)
            .await
            .during("insert jobs")?;
        Ok(())
    }

    /// Inserts jobs with one Markdown document each.
    pub(crate) async fn insert_with_documents(&self, jobs: &[(Order, String)], config: &Value) -> Result<(), Error> {
        let (prompts, texts): (Vec<String>, Vec<&[u8]>) =
            jobs.iter().map(|(order, text)| (order.prompt(), text.as_bytes())).unzip();
        sqlx::query(
            r#"INSERT INTO jobs (prompt, document_content, context, config)
               SELECT prompt, text, '{"document_name": "policy.md"}', $3
               FROM unnest($1::text[], $2::bytea[]) AS job(prompt, text)"#,
        )
        .bind(prompts)
        .bind(texts)
        .bind(config)
        .execute(&self.database.pool)
        .await
        .during("insert jobs")?;
        Ok(())
    }

    /// Waits until every job has completed; any other end is an error, with its reason.
    pub(crate) async fn completed(&self) -> Result<(), Error> {
        let mut connection = self.database.pool.acquire().await?;
        loop {
            let (open, reason) = self.progress(&mut connection).await?;
            if let Some(reason) = reason {
                return Err(Error::new(format!("a job of the benchmark did not complete: {reason}")));
            }
            if open == 0 {
                return Ok(());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// How many jobs have not completed yet, and why one of them never will, if so.
    async fn progress(&self, connection: &mut PgConnection) -> Result<(i64, Option<String>), Error> {
        let statement = "SELECT count(*) FILTER (WHERE status IN ('pending', 'running')),
                                min(coalesce(error_message, status_reason, status))
                                    FILTER (WHERE status NOT IN ('pending', 'running', 'completed'))
                         FROM jobs";
        Ok(sqlx::query_as(statement).fetch_one(connection).await?)
    }
}

/// The job type's own configuration, but nothing is enqueued when the job completes: the model knows one job type only.
pub(crate) fn defaults() -> Value {
    json!({"on_complete": {"enqueue": null}})
}

/// The same, and the job may take any number of turns.
pub(crate) fn many_turns() -> Value {
    json!({"on_complete": {"enqueue": null}, "limits": {"max_iterations": 1_000_000}})
}

/// The same without clearing and summaries: each request contains the whole conversation.
pub(crate) fn whole_conversation() -> Value {
    json!({
        "on_complete": {"enqueue": null},
        "limits": {"max_iterations": 1_000_000, "context_threshold_tokens": 90_000_000},
        "llm": {"context_window": 100_000_000},
    })
}
