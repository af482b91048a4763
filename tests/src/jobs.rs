//! A job as users see it: rows of `jobs`, written and read with plain SQL.

use crate::wait::eventually;
use serde_json::{Value, json};
use sqlx::{PgPool, Row, postgres::PgRow};
use uuid::Uuid;

/// A job to insert. Omitted fields have the column's default.
#[derive(Clone, Debug, Default)]
pub struct NewJob<'a> {
    /// `job_type`; `creator` when empty.
    pub job_type: &'a str,
    /// `prompt`.
    pub prompt: &'a str,
    /// `document_path`.
    pub path: Option<&'a str>,
    /// `document_content`, and its name in `context`.
    pub content: Option<(&'a str, &'a [u8])>,
    /// `config`, over a default without a follow-up job: a test is about the job that it inserts.
    pub config: Option<Value>,
    /// `priority`.
    pub priority: i32,
    /// Seconds from now to `run_at`.
    pub in_seconds: f64,
}

impl<'a> NewJob<'a> {
    /// A job with the usual prompt and a document under the import folder.
    pub fn with_path(path: &'a str) -> Self {
        Self { prompt: "Extract the requirements", path: Some(path), ..Self::default() }
    }

    /// A job with the usual prompt and a document in its row.
    pub fn with_content(name: &'a str, content: &'a [u8]) -> Self {
        Self { prompt: "Extract the requirements", content: Some((name, content)), ..Self::default() }
    }

    /// Inserts it; returns its id.
    ///
    /// # Panics
    /// When the database refuses.
    pub async fn insert(&self, pool: &PgPool) -> Uuid {
        let (name, content) = self.content.unzip();
        let mut config = json!({"on_complete": {"enqueue": null}});
        if let (Some(map), Some(Value::Object(given))) = (config.as_object_mut(), self.config.clone()) {
            map.extend(given);
        }
        sqlx::query_scalar(
            "INSERT INTO jobs (job_type, prompt, document_path, document_content, context, config, priority, run_at)
             VALUES (coalesce(nullif($1, ''), 'creator'), $2, $3, $4,
                     jsonb_strip_nulls(jsonb_build_object('document_name', $5::text)), $6, $7,
                     now() + make_interval(secs => $8))
             RETURNING id",
        )
        .bind(self.job_type)
        .bind(self.prompt)
        .bind(self.path)
        .bind(content)
        .bind(name)
        .bind(config)
        .bind(self.priority)
        .bind(self.in_seconds)
        .fetch_one(pool)
        .await
        .expect("a job can be inserted")
    }
}

/// A row of `jobs`.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// `status`.
    pub status: String,
    /// `status_reason`.
    pub reason: Option<String>,
    /// `step`.
    pub step: i64,
    /// `attempt`.
    pub attempt: i32,
    /// `lease_epoch`: how often it was claimed.
    pub claims: i64,
    /// `total_requests`.
    pub requests: i64,
    /// `error_message`.
    pub error: Option<String>,
    /// `error_details`.
    pub details: Option<Value>,
    /// `result`.
    pub result: Option<Value>,
    /// Whether `completed_at` is set.
    pub ended: bool,
}

impl Job {
    fn of(row: &PgRow) -> Self {
        Self {
            status: row.get("status"),
            reason: row.get("status_reason"),
            step: row.get("step"),
            attempt: row.get("attempt"),
            claims: row.get("lease_epoch"),
            requests: row.get("total_requests"),
            error: row.get("error_message"),
            details: row.get("error_details"),
            result: row.get("result"),
            ended: row.get("ended"),
        }
    }
}

/// Reads a job's row.
///
/// # Panics
/// When there is no such job.
pub async fn read(pool: &PgPool, id: Uuid) -> Job {
    let row = sqlx::query("SELECT *, completed_at IS NOT NULL AS ended FROM jobs WHERE id = $1")
        .bind(id)
        .fetch_one(pool)
        .await
        .unwrap_or_else(|error| panic!("job {id} could not be read: {error}"));
    Job::of(&row)
}

/// Whether any job has lost its worker twice at one step: after a third loss it rightly counts as a job that kills its
/// workers.
///
/// # Panics
/// When the database refuses.
pub async fn poison_is_near(pool: &PgPool) -> bool {
    sqlx::query_scalar("SELECT EXISTS (SELECT FROM jobs WHERE crash_count >= 2 AND status IN ('pending', 'running'))")
        .fetch_one(pool)
        .await
        .expect("jobs can be read")
}

/// Waits until the job has this status.
///
/// # Panics
/// When it does not reach it; at once if it ended another way.
pub async fn becomes(pool: &PgPool, id: Uuid, status: &str) -> Job {
    eventually(&format!("job {id} to become {status}"), async || {
        let job = read(pool, id).await;
        assert!(!job.ended || job.status == status, "job {id} should become {status}: {job:?}");
        (job.status == status).then_some(job)
    })
    .await
}

/// Waits until a condition on the job holds.
///
/// # Panics
/// When it does not.
pub async fn until(pool: &PgPool, id: Uuid, what: &str, holds: impl Fn(&Job) -> bool) -> Job {
    eventually(&format!("job {id}: {what}"), async || {
        let job = read(pool, id).await;
        holds(&job).then_some(job)
    })
    .await
}
