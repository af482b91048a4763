//! The coverage ledger's rows.

use crate::{Error, Store, error::During, run::load::word};
use plumbline_engine::{AnsweredPassage, Block, Candidate, Decision, Passage, PassageState};
use serde::{Serialize, Serializer};
use sqlx::types::Json;
use uuid::Uuid;

/// A row of `passages` as `commit_rare_rows.sql` takes it; bytes in hexadecimal digits.
#[derive(Serialize)]
pub(crate) struct PassageRow<'a> {
    passage: i32,
    document: &'a str,
    ordinal: i32,
    first_page: Option<i32>,
    last_page: Option<i32>,
    sha256: String,
    chunk_path: Option<&'a str>,
    candidates: usize,
    candidates_cited: usize,
    judged: bool,
    n_sentences: i32,
    n_not_judged: i32,
    n_requirements: i32,
    decisions: &'a [Decision],
    state: PassageState,
    answered_by: Option<AnsweredPassage>,
    carried_from: Option<AnsweredPassage>,
    read_step: Option<i64>,
    answered_step: Option<i64>,
    decided_step: Option<i64>,
    asked_step: Option<i64>,
    reason: Option<&'a str>,
    cut_step: i64,
    #[serde(serialize_with = "as_hex")]
    blocks: &'a [Block],
    #[serde(serialize_with = "as_hex")]
    unseen: &'a [Block],
    sentences: &'a [Candidate],
}

impl<'a> PassageRow<'a> {
    pub(crate) fn of(passage: &'a Passage) -> Self {
        Self {
            passage: passage.number,
            document: &passage.document,
            ordinal: passage.ordinal,
            first_page: passage.pages.map(|(first, _)| first),
            last_page: passage.pages.map(|(_, last)| last),
            sha256: hex::encode(passage.sha256),
            chunk_path: passage.chunk_path.as_deref(),
            candidates: passage.candidates.len(),
            candidates_cited: passage.n_covered(),
            judged: passage.judged,
            n_sentences: passage.n_sentences,
            n_not_judged: passage.n_not_judged,
            n_requirements: passage.n_requirements,
            decisions: &passage.decisions,
            state: passage.state,
            answered_by: passage.answered_by,
            carried_from: passage.carried_from,
            read_step: passage.read_step,
            answered_step: passage.answered_step,
            decided_step: passage.decided_step,
            asked_step: passage.asked_step,
            reason: passage.reason.as_deref(),
            cut_step: passage.cut_step,
            blocks: &passage.blocks,
            unseen: &passage.unseen,
            sentences: &passage.candidates,
        }
    }
}

fn as_hex<S: Serializer>(blocks: &[Block], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hex::encode(Block::to_bytes(blocks)))
}

/// A line of the view `coverage`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoverageLine {
    /// The document; none for the job's total.
    pub document: Option<String>,
    /// The number of its passages.
    pub passages: i64,
    /// Passages whose text was not shown completely.
    pub unread: i64,
    /// Passages that were read and not decided.
    pub read: i64,
    /// Passages that were decided.
    pub answered: i64,
    /// Of these, answered by requirements or quotes.
    pub cited: i64,
    /// Of these, without candidate sentences.
    pub empty: i64,
    /// Of these, closed with a reason.
    pub closed: i64,
    /// Candidate sentences.
    pub candidates: i64,
    /// Of these, covered ones.
    pub candidates_cited: i64,
    /// Requirements with a verified citation that begins in it.
    pub requirements: i64,
    /// Share of answered passages, 0 to 1, rounded down to four places.
    pub share: f64,
    /// Passages that the scan cannot judge.
    pub not_judged: i64,
}

/// A passage as shown to people.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the public columns, described in the interface")]
pub struct PassageLine {
    pub passage: i32,
    pub document: String,
    pub ordinal: i32,
    pub first_page: Option<i32>,
    pub last_page: Option<i32>,
    pub chunk_path: Option<String>,
    pub candidates: i32,
    pub candidates_cited: i32,
    pub judged: bool,
    pub state: String,
    pub answered_by: Option<String>,
    pub carried_from: Option<String>,
    pub read_step: Option<i64>,
    pub answered_step: Option<i64>,
    pub decided_step: Option<i64>,
    pub n_requirements: i32,
    pub reason: Option<String>,
}

impl Store {
    /// The passages of a job's documents, by number.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Database`].
    pub async fn passages(&self, job_id: Uuid) -> Result<Vec<Passage>, Error> {
        let rows = sqlx::query_file!("queries/requirements/load_passages.sql", job_id)
            .fetch_all(&self.pool)
            .await
            .during("load the passages of the job's documents")?;
        let answer = |by| word(job_id, "answer of a passage", by);
        rows.into_iter()
            .map(|row| {
                Ok(Passage {
                    number: row.passage,
                    document: row.document,
                    ordinal: row.ordinal,
                    pages: row.first_page.zip(row.last_page),
                    // A CHECK of the table ensures the length.
                    sha256: row.sha256.try_into().unwrap_or_default(),
                    chunk_path: row.chunk_path,
                    cut_step: row.cut_step,
                    blocks: Block::from_bytes(&row.blocks),
                    unseen: Block::from_bytes(&row.unseen),
                    candidates: row.sentences.0,
                    judged: row.judged,
                    n_sentences: row.n_sentences,
                    n_not_judged: row.n_not_judged,
                    n_requirements: row.n_requirements,
                    decisions: row.decisions.0,
                    state: word(job_id, "passage state", row.state)?,
                    answered_by: row.answered_by.map(answer).transpose()?,
                    carried_from: row.carried_from.map(answer).transpose()?,
                    read_step: row.read_step,
                    answered_step: row.answered_step,
                    decided_step: row.decided_step,
                    asked_step: row.asked_step,
                    reason: row.reason,
                })
            })
            .collect()
    }

    /// The coverage of a job's documents: one line per document, the job's total last.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn coverage(&self, job_id: Uuid) -> Result<Vec<CoverageLine>, Error> {
        sqlx::query_file_as!(CoverageLine, "queries/requirements/coverage.sql", job_id)
            .fetch_all(&self.pool)
            .await
            .during("read the coverage of the documents")
    }
}

impl Store {
    /// The passages of a job in these states (`unread`, `read`, `answered`), by number.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn passages_in(&self, job_id: Uuid, states: &[String]) -> Result<Vec<PassageLine>, Error> {
        sqlx::query_file_as!(PassageLine, "queries/requirements/passages_in.sql", job_id, states)
            .fetch_all(&self.pool)
            .await
            .during("read the passages of the job's documents")
    }
}

/// The column `sentences`.
type Sentences = Json<Vec<Candidate>>;
/// The column `decisions`.
type Decisions = Json<Vec<Decision>>;
