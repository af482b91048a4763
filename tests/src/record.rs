//! The rows and files of a finished job, in a form that makes two runs comparable.

use crate::mirror::{self, Files};
use serde_json::Value;
use sqlx::{PgPool, Row};
use uuid::Uuid;

/// A requirement, without what differs from run to run (ids and times).
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// `text`.
    pub text: String,
    /// `source_document`.
    pub source: Option<String>,
    /// Page of the first citation.
    pub page: Option<i64>,
    /// `citations`.
    pub citations: Value,
}

impl Requirement {
    /// The quote of the first citation.
    pub fn quote(&self) -> &str {
        self.citations[0]["quote"].as_str().unwrap_or_default()
    }

    /// Whether every citation is verified, and there is one.
    pub fn is_verified(&self) -> bool {
        let citations = self.citations.as_array().map(Vec::as_slice).unwrap_or_default();
        !citations.is_empty() && citations.iter().all(|citation| citation["verified"] == true)
    }
}

/// Everything about a job that must not depend on how often its worker died.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Ordered by text.
    pub requirements: Vec<Requirement>,
    /// Phase, position, content, status, notes.
    pub todos: Vec<(i32, i32, String, String, Option<String>)>,
    /// Number, kind, name, outcome.
    pub phases: Vec<(i32, String, String, Option<String>)>,
    /// Workspace files according to the rows.
    pub files: Files,
}

/// Reads the record of a job.
///
/// # Panics
/// When the rows cannot be read.
pub async fn read(pool: &PgPool, job: Uuid) -> Record {
    let todos = sqlx::query_as(
        "SELECT phase_number, position, content, status, notes FROM todos
         WHERE job_id = $1 ORDER BY phase_number, position",
    );
    let phases =
        sqlx::query_as("SELECT phase_number, kind, name, outcome FROM phases WHERE job_id = $1 ORDER BY phase_number");
    let mut files = mirror::rows(pool, job).await;
    // It contains the ids of the job and its rows.
    files.remove("output/report.html");
    Record {
        requirements: requirements(pool, job).await,
        todos: todos.bind(job).fetch_all(pool).await.expect("todos can be read"),
        phases: phases.bind(job).fetch_all(pool).await.expect("phases can be read"),
        files,
    }
}

/// The requirements of a job.
///
/// # Panics
/// When the rows cannot be read.
pub async fn requirements(pool: &PgPool, job: Uuid) -> Vec<Requirement> {
    let rows = sqlx::query(
        "SELECT text, source_document, citations FROM requirement_cache WHERE job_id = $1 ORDER BY text, id",
    )
    .bind(job)
    .fetch_all(pool)
    .await
    .expect("requirement_cache can be read");
    rows.iter()
        .map(|row| {
            let citations: Value = row.get("citations");
            Requirement {
                text: row.get("text"),
                source: row.get("source_document"),
                page: citations[0]["page"].as_i64(),
                citations,
            }
        })
        .collect()
}

/// Asserts that two records are equal; reports only the first difference.
///
/// # Panics
/// When they differ.
pub fn assert_same(found: &Record, expected: &Record, what: &str) {
    for (path, hash) in &expected.files {
        assert_eq!(found.files.get(path), Some(hash), "{what}: {path} differs");
    }
    let others: Vec<_> = found.files.keys().filter(|path| !expected.files.contains_key(*path)).collect();
    assert!(others.is_empty(), "{what}: there are other files too: {others:?}");
    assert_eq!(found.phases, expected.phases, "{what}: the phases differ");
    assert_eq!(found.todos, expected.todos, "{what}: the todos differ");
    assert_eq!(found.requirements, expected.requirements, "{what}: the requirements differ");
}
