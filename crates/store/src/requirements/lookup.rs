//! A job's findings: lookups by tools, and corrections.

use crate::{
    Error, Lease, Store, UserJson,
    bind::{json, text},
    error::During,
};
use plumbline_engine::{
    Citation, RecordedRequirement, Requirement, RequirementChange, StandingRequirement, Touched, WITHDRAWN,
};
use serde_json::{Map, Value, json as value};
use sqlx::PgConnection;
use uuid::Uuid;

/// A row of `citations`.
struct CitationRow {
    id: String,
    source: String,
    page: Option<i32>,
    page_to: Option<i32>,
    passage: Option<i32>,
    from: Option<i32>,
    to: Option<i32>,
    quote: String,
    verified: bool,
}

impl From<CitationRow> for Citation {
    fn from(row: CitationRow) -> Self {
        Self {
            id: row.id,
            source: row.source,
            page: row.page,
            page_to: row.page_to,
            quote: row.quote,
            verified: row.verified,
            place: place(row.passage, row.from, row.to),
            continues: Vec::new(),
            again: Vec::new(),
        }
    }
}

impl Store {
    /// The citations of the job with these ids.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn citations_with(&self, job_id: Uuid, ids: &[String]) -> Result<Vec<Citation>, Error> {
        let rows = sqlx::query_file_as!(CitationRow, "queries/requirements/citations_with.sql", job_id, ids)
            .fetch_all(&self.pool)
            .await
            .during("read citations")?;
        Ok(rows.into_iter().map(Citation::from).collect())
    }

    /// The citations of the job, by id.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn citations(&self, job_id: Uuid) -> Result<Vec<Citation>, Error> {
        let rows = sqlx::query_file_as!(CitationRow, "queries/requirements/citations.sql", job_id)
            .fetch_all(&self.pool)
            .await
            .during("read the job's citations")?;
        Ok(rows.into_iter().map(Citation::from).collect())
    }

    /// The candidate ids of the job's requirements with these content keys (SHA-256 of the normalized text), each with
    /// its key; keys that are not recorded are left out.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn requirements_known(
        &self,
        job_id: Uuid,
        content_keys: &[Vec<u8>],
    ) -> Result<Vec<(Vec<u8>, String)>, Error> {
        let rows = sqlx::query_file!("queries/requirements/requirements_known.sql", job_id, content_keys)
            .fetch_all(&self.pool)
            .await
            .during("look for requirements")?;
        Ok(rows.into_iter().map(|row| (row.content_key, row.candidate_id)).collect())
    }

    /// Assigns numbers to requirements recorded before numbers existed, and notes in the job's checkpoints that these
    /// were never compared with their quotes; returns the highest. Only for the holder of the job's lease.
    pub(crate) async fn number_requirements(&self, lease: &Lease) -> Result<i32, Error> {
        sqlx::query_file_scalar!("queries/requirements/number_requirements.sql", lease.job_id, lease.epoch)
            .fetch_one(&self.pool)
            .await
            .during("number the job's requirements")
    }

    /// A job's requirements that are not withdrawn, by number.
    pub(crate) async fn standing_requirements(&self, job_id: Uuid) -> Result<Vec<StandingRequirement>, Error> {
        let rows = sqlx::query_file!("queries/requirements/standing_requirements.sql", job_id)
            .fetch_all(&self.pool)
            .await
            .during("load the job's requirements")?;
        let standing = rows.into_iter().map(|row| {
            let key = (row.number, row.candidate_id);
            StandingRequirement::new(key, &row.text, texts(&row.tags), &row.citations, row.placed_step)
        });
        Ok(standing.collect())
    }

    /// The job's recorded requirements, including withdrawn ones, in the order of recording; without rows of other
    /// producers.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn recorded(&self, job_id: Uuid) -> Result<Vec<RecordedRequirement>, Error> {
        let rows = sqlx::query_file!("queries/requirements/known_requirement.sql", job_id)
            .fetch_all(&self.pool)
            .await
            .during("read the recorded requirements")?;
        let recorded = rows.into_iter().map(|row| RecordedRequirement {
            status: row.status,
            requirement: Requirement {
                number: row.number,
                candidate_id: row.candidate_id,
                content_key: row.content_key,
                text: row.text,
                name: row.name,
                r#type: row.r#type,
                priority: row.priority,
                source_document: row.source_document,
                source_location: row.source_location.into(),
                gobd_relevant: row.gobd_relevant,
                gdpr_relevant: row.gdpr_relevant,
                citations: row.citations.into(),
                mentioned_objects: texts(&row.mentioned_objects),
                mentioned_messages: texts(&row.mentioned_messages),
                reasoning: row.reasoning,
                research_notes: row.research_notes,
                confidence: row.confidence,
                tags: texts(&row.tags),
            },
        });
        Ok(recorded.collect())
    }
}

/// The passage and the sentences of a stored citation.
pub(crate) fn place(passage: Option<i32>, from: Option<i32>, to: Option<i32>) -> Option<Touched> {
    Some(Touched { passage: passage?, from: from?, to: to? })
}

fn texts(given: &UserJson) -> Vec<String> {
    given.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Writes a step's changes of requirements one by one: the same one may be changed twice.
pub(crate) async fn change(
    tx: &mut PgConnection,
    job_id: Uuid,
    step: i64,
    changes: &[RequirementChange],
) -> Result<(), Error> {
    for (position, change) in (1..).zip(changes) {
        let reason = text(&change.reason);
        sqlx::query_file!(
            "queries/requirements/change_requirement.sql",
            job_id,
            change.candidate_id,
            step,
            position,
            change.kind(),
            reason.as_ref(),
            json(&change.fields),
            json(&columns(change)),
        )
        .execute(&mut *tx)
        .await
        .during("change a recorded requirement")?;
    }
    Ok(())
}

/// The columns that a change sets.
fn columns(change: &RequirementChange) -> Map<String, Value> {
    let mut columns = change.fields.clone();
    match &change.becomes {
        // A key in Postgres's notation for bytes.
        Some(becomes) => {
            columns.insert("content_key".into(), format!("\\x{}", hex::encode(&becomes.content_key)).into());
        }
        // The same text may be recorded again.
        None => {
            columns.insert("status".into(), value!(WITHDRAWN));
            columns.insert("content_key".into(), Value::Null);
        }
    }
    columns
}
