//! Helpers that set up tests.

use chrono::{TimeZone, Utc};
use plumbline_engine::{
    Change, ContextWindow, Guards, Message, MessageKind, Opening, PhaseKind, PhaseState, Progress, Requirement, Retry,
    Role, Stage, State, Totals,
};
use plumbline_store::{ClaimedJob, Commit, Committed, Error, Lease, NewJob, NewWorker, Store};
use serde_json::{Map, json};
use sqlx::{AssertSqlSafe, PgPool};
use uuid::Uuid;

/// The longest wait of a test.
pub(crate) const CEILING: std::time::Duration = include!("../../../../tests/src/wait/ceiling.rs");

/// The lease of a test's workers, which send one heartbeat, when they are registered: as long as a test may take.
pub(crate) const LEASE_SECS: u32 = 600;

/// A store over the test's database.
pub(crate) fn store(pool: &PgPool) -> Store {
    Store::from_pool(pool.clone())
}

/// Empties the test's database: `make test` creates new ones with the schema.
pub(crate) async fn empty(pool: &PgPool) {
    for statement in [
        "DROP SCHEMA public CASCADE",
        "CREATE SCHEMA public AUTHORIZATION pg_database_owner",
        "GRANT USAGE ON SCHEMA public TO PUBLIC",
    ] {
        execute(pool, statement).await.unwrap();
    }
}

/// A registered worker.
pub(crate) async fn worker(store: &Store) -> Uuid {
    let id = Uuid::now_v7();
    let worker = NewWorker {
        id,
        hostname: "host".into(),
        version: "0.1.0".into(),
        concurrency: 4,
        job_types: vec!["creator".into()],
        broken_types: serde_json::Map::new(),
        limits_ceilings: serde_json::json!({}),
    };
    store.register_worker(&worker).await.unwrap();
    id
}

/// A pending job.
pub(crate) async fn pending(store: &Store) -> Uuid {
    store.enqueue(&NewJob::new("Extract the requirements")).await.unwrap()
}

/// A job running under a new worker, regardless of other jobs in the queue.
pub(crate) async fn running(store: &Store) -> ClaimedJob {
    let worker = worker(store).await;
    let job_type = worker.to_string();
    let job = NewJob { job_type: job_type.clone(), ..NewJob::new("Extract the requirements") };
    store.enqueue(&job).await.unwrap();
    store.claim(worker, 1, Some(&[job_type]), LEASE_SECS).await.unwrap().remove(0)
}

/// This many new jobs, running under this worker.
pub(crate) async fn claimed_by(store: &Store, worker: Uuid, count: i64) -> Vec<ClaimedJob> {
    let job_type = worker.to_string();
    for _ in 0..count {
        store.enqueue(&NewJob { job_type: job_type.clone(), ..NewJob::new("Extract the requirements") }).await.unwrap();
    }
    store.claim(worker, count, Some(&[job_type]), LEASE_SECS).await.unwrap()
}

/// A checkpoint in the first strategic phase.
pub(crate) fn state() -> State {
    State {
        left_out: Vec::new(),
        version: 1,
        stage: Stage::Model,
        phase: PhaseState {
            number: 1,
            kind: PhaseKind::Strategic,
            name: "Planning".into(),
            opening: Opening::Initial,
            tactical: 0,
            description: String::new(),
            completed: 0,
            planned: 0,
        },
        context: ContextWindow { system_seq: 1, tail_from: 2, ..ContextWindow::default() },
        next_seq: 1,
        previous: None,
        staged: None,
        loaded_tools: Vec::new(),
        untrusted_step: None,
        shows_untrusted: false,
        compares_anew: false,
        fallback: None,
        effects: plumbline_engine::PhaseEffects::default(),
        seen: plumbline_engine::Seen::default(),
        judged: plumbline_engine::Judged::default(),
        given: plumbline_engine::Given::default(),
        work: plumbline_engine::Work::default(),
        worked: None,
        elapsed_s: 0,
        guards: Guards { idle_turns: 4, ..Guards::default() },
        retry: Retry::default(),
        totals: Totals { requests: 3, tokens: 1200, cached_tokens: 800, cost_microusd: 1_234_567 },
        started_at: Utc.with_ymd_and_hms(2026, 11, 21, 9, 0, 0).unwrap(),
    }
}

/// Progress in the first strategic phase.
pub(crate) fn progress() -> Progress {
    Progress {
        phase_number: 1,
        phase: Some(PhaseKind::Strategic),
        phase_name: Some("Planning".into()),
        todos_done: 1,
        todos_total: 4,
        current_todo: Some("Write main_plan.md".into()),
        plan: Some((1, 3)),
    }
}

/// Commits changes with the checkpoint of [`state`].
pub(crate) async fn commit(
    store: &Store,
    lease: Lease,
    expected_step: i64,
    changes: &[Change],
) -> Result<Committed, Error> {
    let (state, progress) = (state(), progress());
    let commit = Commit {
        lease,
        expected_step,
        changes,
        state: &state,
        progress: &progress,
        settings: None,
        enqueue_next: None,
    };
    store.commit(&commit).await
}

/// A requirement with one verified citation.
pub(crate) fn requirement(key: u8, text: &str) -> Requirement {
    Requirement {
        number: Some(i32::from(key)),
        candidate_id: format!("req_{key:012x}"),
        content_key: vec![key; 32],
        text: text.into(),
        name: text.trim_end_matches('.').into(),
        r#type: "compliance".into(),
        priority: "high".into(),
        source_document: Some("input/policy.md".into()),
        source_location: json!({"page": 1}),
        gobd_relevant: true,
        gdpr_relevant: false,
        citations: json!([{"source": "input/policy.md", "page": 1, "quote": text, "verified": true}]),
        mentioned_objects: vec!["Invoice".into()],
        mentioned_messages: vec![],
        reasoning: None,
        research_notes: None,
        confidence: 0.9,
        tags: vec![],
    }
}

/// A message without calls.
pub(crate) fn message(seq: i64, role: Role, kind: MessageKind, content: &str) -> Message {
    Message {
        seq,
        role,
        kind,
        content: content.into(),
        tool_calls: Vec::new(),
        tool_call_id: None,
        extra: Map::new(),
        tokens: 7,
        step: 0,
        cleared: false,
    }
}

/// One value of one row, as text.
pub(crate) async fn value(pool: &PgPool, sql: impl Into<String>) -> Option<String> {
    sqlx::query_scalar::<_, Option<String>>(AssertSqlSafe(format!("SELECT ({})::text", sql.into())))
        .fetch_one(pool)
        .await
        .unwrap()
}

/// A column of the job's row, as text.
pub(crate) async fn column(pool: &PgPool, job_id: Uuid, name: &str) -> Option<String> {
    value(pool, format!("SELECT {name} FROM jobs WHERE id = '{job_id}'")).await
}

/// The outcomes of the job's attempts, oldest first; `open` for one still running.
pub(crate) async fn outcomes(pool: &PgPool, job_id: Uuid) -> String {
    let sql = format!(
        "SELECT string_agg(coalesce(outcome, 'open'), ' ' ORDER BY lease_epoch) FROM attempts WHERE job_id = '{job_id}'"
    );
    value(pool, sql).await.unwrap_or_default()
}

/// Runs a statement as a user with psql would.
pub(crate) async fn execute(pool: &PgPool, sql: impl Into<String>) -> Result<u64, sqlx::Error> {
    Ok(sqlx::query(AssertSqlSafe(sql.into())).execute(pool).await?.rows_affected())
}

/// The database's message.
pub(crate) fn sentence(error: sqlx::Error) -> String {
    error.into_database_error().expect("the database refused").message().to_owned()
}

/// Waits until a statement of this database waits for a lock.
pub(crate) async fn until_blocked(pool: &PgPool) {
    let blocked = "SELECT count(*) > 0 FROM pg_stat_activity
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    until(pool, blocked).await;
}

/// Polls until the answer is true.
pub(crate) async fn until(pool: &PgPool, question: &str) {
    let asked = async {
        while value(pool, question).await.as_deref() != Some("true") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(CEILING, asked).await.expect(question);
}
