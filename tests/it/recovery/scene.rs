//! A job type whose model follows a script and whose calls reach a double, with workers that work or die at a place.

use super::double::{Double, Served};
use crate::settings::own_types::{job, job_types};
use plumbline_system_tests::{
    Command, Ended, PgPool, Uuid, World,
    jobs::NewJob,
    scripted::{Reply, Request, Scripted, one_phase},
};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use std::{ops::Deref, path::PathBuf};

pub(super) use plumbline_system_tests::scripted::Call;

/// The job type.
const TYPE: &str = "asker";

pub(super) struct Scene<D> {
    pub(super) world: World,
    pub(super) server: Served<D>,
    pub(super) model: Scripted,
    types: PathBuf,
}

impl<D: Double> Scene<D> {
    /// The model makes these answers in its phase of work, one after the other, and then ends the job. `keys` are those
    /// of the job type.
    pub(super) async fn of(pool: PgPool, server: Served<D>, answers: &[&[Call]], keys: Value) -> Self {
        let answers = listed(answers);
        Self::scripted(pool, server, keys, move |request| one_phase(request, &answers)).await
    }

    /// The model's answers are those of a script.
    pub(super) async fn scripted(
        pool: PgPool,
        server: Served<D>,
        keys: Value,
        script: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let world = World::new(pool).await;
        let model = Scripted::start(move |request, _| script(request)).await;
        let scene = Self { types: job_types(&world, &[]), world, server, model };
        scene.set(&keys);
        scene
    }

    /// Writes the job type's file with these keys.
    pub(super) fn set(&self, keys: &Value) {
        let llm = json!({"base_url": self.model.base_url(), "prices": "free"});
        let all = json!({"coverage": "off", "on_complete": null, "deliverables": [], "llm": llm});
        job_types(&self.world, &[(TYPE, over(all, keys))]);
    }

    /// A new job without a document.
    pub(super) async fn insert(&self) -> Uuid {
        self.world.insert(&self.new_job()).await
    }

    pub(super) fn new_job(&self) -> NewJob<'static> {
        NewJob { job_type: TYPE, prompt: "Pay what is owed.", ..NewJob::default() }
    }

    /// A new job with a document.
    pub(super) async fn insert_with_document(&self, config: Option<Value>) -> Uuid {
        self.world.insert(&job(TYPE, config)).await
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.world.command(arguments);
        command.env("PLUMBLINE_CONFIG_DIR", &self.types).env("SERVER_KEY", "secret-of-the-test");
        command
    }

    pub(super) async fn run(&self, arguments: &[&str]) -> Ended {
        self.world.start(self.command(arguments)).ended().await
    }

    /// Workers work until nothing runs and nothing can.
    pub(super) async fn work(&self) {
        self.world.age_workers().await;
        let ended = self.run(&["worker", "--until-idle"]).await;
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }

    /// A worker works and dies at a place.
    pub(super) async fn dies_at(&self, place: &str) {
        self.world.age_workers().await;
        let mut command = self.command(&["worker"]);
        command.env("PLUMBLINE_FAIL_POINTS", place);
        let ended = self.world.start(command).ended().await;
        assert_eq!(ended.code, None, "it dies at {place}: {}", ended.stderr);
    }

    /// The job's columns in `approvals`, as text, in the order of the asking.
    pub(super) async fn calls(&self, job: Uuid, columns: &str) -> Vec<String> {
        let query = format!("SELECT coalesce(({columns})::text, '-') FROM approvals WHERE job_id = $1 ORDER BY id");
        let read = sqlx::query_scalar(AssertSqlSafe(query)).bind(job);
        read.fetch_all(&self.world.pool).await.expect("approvals are read")
    }

    /// What a statement with an id as its parameter returns.
    pub(super) async fn ask(&self, statement: &'static str, id: Uuid) -> Result<String, String> {
        self.world.call(statement, id).await.map_err(|error| error.to_string())
    }

    pub(super) async fn execute(&self, statement: &'static str) {
        sqlx::query(statement).execute(&self.world.pool).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
    }

    /// Asserts that the job's replay has no difference.
    pub(super) async fn replays(&self, job: Uuid) {
        let replayed = self.run(&["replay", &job.to_string()]).await;
        assert_eq!(replayed.code, Some(0), "{}{}", replayed.stdout, replayed.stderr);
    }

    /// Whether the model has read a text.
    pub(super) fn is_told(&self, text: &str) -> bool {
        self.model.seen().iter().any(|request| request.has(text))
    }
}

/// A scene with one job over a document.
pub(super) struct OneJob<D> {
    scene: Scene<D>,
    pub(super) job: Uuid,
}

impl<D: Double> OneJob<D> {
    pub(super) async fn of(pool: PgPool, server: Served<D>, answers: &[&[Call]], keys: Value) -> Self {
        let scene = Scene::of(pool, server, answers, keys).await;
        let job = scene.insert_with_document(None).await;
        Self { scene, job }
    }

    /// Ends the scene once the job is completed and its replay has no difference.
    pub(super) async fn finish(self) {
        self.world.becomes(self.job, "completed").await;
        self.replays(self.job).await;
        self.end().await;
    }

    pub(super) async fn end(self) {
        self.scene.world.finish().await;
    }
}

impl<D> Deref for OneJob<D> {
    type Target = Scene<D>;

    fn deref(&self) -> &Scene<D> {
        &self.scene
    }
}

/// Keys with those of another object over them.
pub(super) fn over(mut keys: Value, more: &Value) -> Value {
    keys.as_object_mut().expect("keys").extend(more.as_object().expect("keys").clone());
    keys
}

pub(super) fn listed(answers: &[&[Call]]) -> Vec<Vec<Call>> {
    answers.iter().map(|answer| answer.to_vec()).collect()
}
