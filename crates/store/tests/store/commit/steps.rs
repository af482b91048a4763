//! Every kind of change, written and loaded again.

use crate::support::{commit, message, progress, running, state, store, value};
use chrono::{TimeZone, Utc};
use plumbline_engine::{
    Change, ContextWindow, FailureClass, Message, MessageKind, PhaseKind, PhaseOutcome, Purpose, RequestRecord, Role,
    Todo, TodoStatus, ToolCall,
};
use plumbline_store::{Commit, NewJob, StoredSettings};
use serde_json::json;
use sqlx::PgPool;

#[sqlx::test(migrations = "../../migrations")]
async fn the_checkpoint_and_the_progress_columns_are_the_steps(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let resolved = json!({"llm": {"model": "m"}});
    let settings = StoredSettings::from(&resolved);
    let (state, progress) = (state(), progress());
    let step = Commit {
        lease: job.lease(),
        expected_step: 0,
        changes: &[],
        state: &state,
        progress: &progress,
        settings: Some(&settings),
        enqueue_next: None,
    };
    let committed = store.commit(&step).await.unwrap();
    assert_eq!((committed.step, committed.feedback_pending), (1, false));

    let loaded = store.load(&job.lease()).await.unwrap();
    assert_eq!(loaded.state.as_ref(), Some(&state));
    assert_eq!((loaded.job.step, loaded.job.prompt.as_str()), (1, "Extract the requirements"));
    let stored = store.settings(job.id).await.unwrap().expect("the step stored them");
    assert_eq!((stored.resolved, stored.takes_present_tools), (resolved.clone(), false));

    let watched = store.watch(job.id).await.unwrap().unwrap();
    assert_eq!(watched.phase.as_deref(), Some("strategic"));
    assert_eq!((watched.todos_done, watched.todos_total, watched.step), (1, 4, 1));
    assert_eq!(watched.current_todo.as_deref(), Some("Write main_plan.md"));
    assert_eq!((watched.total_requests, watched.total_tokens_used), (3, 1200));
    assert_eq!(value(&pool, "SELECT cost_usd = 1.234567 FROM jobs").await.as_deref(), Some("true"));
    assert_eq!(value(&pool, "SELECT lease_epoch FROM checkpoints WHERE step = 1").await.as_deref(), Some("1"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_job_without_a_step_loads_empty(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let loaded = store.load(&job.lease()).await.unwrap();
    assert_eq!((loaded.state, loaded.messages.len(), loaded.todos.len(), loaded.files.len()), (None, 0, 0, 0));
    assert_eq!(loaded.job.started_at, job.started_at);
}

#[sqlx::test(migrations = "../../migrations")]
async fn messages_come_back_byte_for_byte(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let mut reply = message(2, Role::Assistant, MessageKind::Reply, "");
    let arguments = "{\"b\": 1e5,  \"a\":\"caf\u{e9} \\u0000 \\\"x\\\"\"}";
    reply.tool_calls = vec![ToolCall { id: "call_2_0".into(), name: "write_file".into(), arguments: arguments.into() }];
    reply.extra = json!({"signature": "AbC==", "number": 1e5, "deep": {"z": [1, null]}}).as_object().unwrap().clone();
    let mut result = message(3, Role::Tool, MessageKind::ToolResult, "Error: a \0 character");
    result.tool_call_id = Some("call_2_0".into());
    let system = message(1, Role::System, MessageKind::System, "Grüße, 漢字, 🙂\r\n\ttabs");
    let changes = [&system, &reply, &result].map(|message| Change::Message(message.clone()));
    commit(&store, job.lease(), 0, &changes).await.unwrap();
    [&mut reply, &mut result].into_iter().for_each(|message| message.step = 1);
    let system = Message { step: 1, ..system };

    // NUL is the only character that Postgres cannot store.
    result.content = "Error: a \u{FFFD} character".into();
    assert_eq!(store.load(&job.lease()).await.unwrap().messages, [system, reply, result]);
}

#[sqlx::test(migrations = "../../migrations")]
async fn only_the_context_is_loaded(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let changes: Vec<Change> = (1..=9)
        .map(|seq| Change::Message(message(seq, Role::User, MessageKind::Opening, &format!("message {seq}"))))
        .collect();
    let mut state = state();
    state.context = ContextWindow { system_seq: 1, summary_seq: Some(7), kept: vec![3], tail_from: 8, anchor: None };
    let progress = progress();
    let step = Commit {
        lease: job.lease(),
        expected_step: 0,
        changes: &changes,
        state: &state,
        progress: &progress,
        settings: None,
        enqueue_next: None,
    };
    store.commit(&step).await.unwrap();
    let seqs: Vec<i64> = store.load(&job.lease()).await.unwrap().messages.iter().map(|message| message.seq).collect();
    assert_eq!(seqs, [1, 3, 7, 8, 9]);
}

#[sqlx::test(migrations = "../../migrations")]
async fn results_are_cleared_in_the_same_step_and_later(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let results = [1, 2, 3].map(|seq| Change::Message(message(seq, Role::Tool, MessageKind::ToolResult, "long")));
    let mut changes = results.to_vec();
    changes.push(Change::ResultsCleared(vec![3]));
    commit(&store, job.lease(), 0, &changes).await.unwrap();
    commit(&store, job.lease(), 1, &[Change::ResultsCleared(vec![2, 3])]).await.unwrap();
    let loaded = store.load(&job.lease()).await.unwrap();
    assert_eq!(loaded.messages.iter().map(|message| message.cleared).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(loaded.messages[1].content, "long", "the history keeps the text");
    let steps = value(&pool, "SELECT string_agg(cleared_step::text, ' ' ORDER BY seq) FROM messages").await;
    assert_eq!(steps.as_deref(), Some("2 1"), "the first clearing counts");
}

fn put(phase_number: i32, contents: &[&str]) -> Change {
    let todos = (1..).zip(contents).map(|(position, content)| Todo::pending(position, *content)).collect();
    Change::TodosPut { phase_number, todos }
}

fn moved(phase_number: i32, position: i32, status: TodoStatus, notes: Option<&str>) -> Change {
    Change::TodoMoved { phase_number, position, status, notes: notes.map(str::to_owned) }
}

#[sqlx::test(migrations = "../../migrations")]
async fn todos_are_put_moved_and_replaced_whole(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let first = [
        put(1, &["explore", "plan", "divide"]),
        moved(1, 1, TodoStatus::InProgress, None),
        put(2, &["a", "b", "c", "d", "e", "f"]),
    ];
    commit(&store, job.lease(), 0, &first).await.unwrap();
    let second = [
        moved(1, 1, TodoStatus::Completed, Some("done well")),
        moved(1, 2, TodoStatus::InProgress, None),
        moved(1, 2, TodoStatus::Completed, None),
        moved(1, 3, TodoStatus::Abandoned, None),
        put(2, &["v", "w", "x", "y", "z"]),
    ];
    commit(&store, job.lease(), 1, &second).await.unwrap();

    let loaded = store.load(&job.lease()).await.unwrap();
    let row = |todo: &Todo| (todo.position, todo.content.clone(), todo.status, todo.notes.clone());
    assert_eq!(
        loaded.todos.iter().map(row).collect::<Vec<_>>(),
        [
            (1, "explore".to_owned(), TodoStatus::Completed, Some("done well".to_owned())),
            (2, "plan".to_owned(), TodoStatus::Completed, None),
            (3, "divide".to_owned(), TodoStatus::Abandoned, None),
        ]
    );
    assert_eq!(
        loaded.staged_todos.iter().map(|todo| todo.content.as_str()).collect::<Vec<_>>(),
        ["v", "w", "x", "y", "z"]
    );
    let rows = store.todos_of(job.id).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.completed_at.is_some()).filter(|done| *done).count(), 2);
    let closed = "SELECT string_agg(closed_step::text, ' ' ORDER BY position) FROM todos WHERE phase_number = 1";
    assert_eq!(value(&pool, closed).await.as_deref(), Some("2 2 2"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn phases_open_and_close_and_own_their_messages(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let opened = |number, kind, name: &str| Change::PhaseOpened { number, kind, name: name.into() };
    let said = |seq| Change::Message(message(seq, Role::User, MessageKind::Opening, "x"));
    let first = [opened(1, PhaseKind::Strategic, "Planning"), said(1)];
    commit(&store, job.lease(), 0, &first).await.unwrap();
    let second = [
        said(2),
        Change::PhaseClosed { number: 1, outcome: PhaseOutcome::Completed },
        opened(2, PhaseKind::Tactical, "Extraction"),
        said(3),
        Change::PhaseClosed { number: 2, outcome: PhaseOutcome::Rewound },
        opened(3, PhaseKind::Strategic, "Reconsider"),
        said(4),
    ];
    commit(&store, job.lease(), 1, &second).await.unwrap();

    let phases = "SELECT string_agg(concat_ws(' ', phase_number, kind, name, outcome, opened_step, closed_step,
                                    ended_at IS NOT NULL), ', ' ORDER BY phase_number) FROM phases";
    assert_eq!(
        value(&pool, phases).await.as_deref(),
        Some("1 strategic Planning completed 1 2 t, 2 tactical Extraction rewound 2 2 t, 3 strategic Reconsider 2 f")
    );
    let owners = "SELECT string_agg(phase_number::text, ' ' ORDER BY seq) FROM messages";
    assert_eq!(value(&pool, owners).await.as_deref(), Some("1 1 2 3"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn requests_are_recorded_one_by_one(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let sent_at = Utc.with_ymd_and_hms(2026, 11, 21, 9, 0, 0).unwrap();
    let record = RequestRecord {
        prompt_tokens: 1000,
        cached_tokens: 900,
        cache_write_tokens: 70,
        completion_tokens: 50,
        reasoning_tokens: 20,
        duration_ms: 1234,
        finish_reason: Some("stop".into()),
        raw_usage: Some(json!({"prompt_tokens": 1000})),
        api: Some("chat".into()),
        endpoint: Some("http://m:1".into()),
        service_tier: Some("flex".into()),
        fallback: true,
        ..RequestRecord::sent("gpt-x", Purpose::Tactical, 1, sent_at)
    };
    let failed = RequestRecord {
        finish_reason: None,
        error: Some("status 503".into()),
        failure_class: Some(FailureClass::Overloaded),
        raw_usage: None,
        attempt: 2,
        ..record.clone()
    };
    let requests = [Change::Request(failed), Change::Request(record)];
    commit(&store, job.lease(), 0, &requests).await.unwrap();
    commit(&store, job.lease(), 1, &requests[1..]).await.unwrap();
    commit(&store, job.lease(), 2, &requests[..1]).await.unwrap();
    let rows = "SELECT string_agg(concat_ws(' ', step, model, purpose, prompt_tokens, cached_tokens, completion_tokens,
                       estimated, duration_ms, attempt, finish_reason, failure_class, coalesce(error, raw_usage::text),
                       api, endpoint, cache_write_tokens, reasoning_tokens, service_tier, fallback,
                       created_at AT TIME ZONE 'UTC'), ', ' ORDER BY id) FROM llm_requests";
    assert_eq!(
        value(&pool, rows).await.as_deref(),
        Some(
            "1 gpt-x tactical 1000 900 50 f 1234 2 overloaded status 503 chat http://m:1 70 20 flex t 2026-11-21 09:00:00, \
             1 gpt-x tactical 1000 900 50 f 1234 1 stop {\"prompt_tokens\": 1000} chat http://m:1 70 20 flex t 2026-11-21 09:00:00, \
             2 gpt-x tactical 1000 900 50 f 1234 1 stop {\"prompt_tokens\": 1000} chat http://m:1 70 20 flex t 2026-11-21 09:00:00, \
             3 gpt-x tactical 1000 900 50 f 1234 2 overloaded status 503 chat http://m:1 70 20 flex t 2026-11-21 09:00:00"
        )
    );
}

#[sqlx::test(migrations = "../../migrations")]
async fn feedback_is_announced_loaded_and_taken_once(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    assert_eq!(store.send_feedback(job.id, "Look at chapter 3").await.unwrap(), "running");
    assert!(commit(&store, job.lease(), 0, &[]).await.unwrap().feedback_pending);
    let waiting = store.feedback(job.id).await.unwrap();
    assert_eq!(waiting.iter().map(|feedback| feedback.text.as_str()).collect::<Vec<_>>(), ["Look at chapter 3"]);
    assert_eq!(store.load(&job.lease()).await.unwrap().feedback, waiting);

    // A second feedback arrives while the first is being taken in: it remains pending.
    store.send_feedback(job.id, "And at the annex").await.unwrap();
    assert!(
        commit(&store, job.lease(), 1, &[Change::FeedbackTaken(vec![waiting[0].id])]).await.unwrap().feedback_pending
    );
    let rest = store.feedback(job.id).await.unwrap();
    assert_eq!(rest.len(), 1);
    assert!(
        !commit(&store, job.lease(), 2, &[Change::FeedbackTaken(vec![rest[0].id])]).await.unwrap().feedback_pending
    );
    assert!(store.feedback(job.id).await.unwrap().is_empty());
    let steps = value(&pool, "SELECT string_agg(taken_step::text, ' ' ORDER BY id) FROM feedback").await;
    assert_eq!(steps.as_deref(), Some("2 3"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_next_job_is_enqueued_with_the_step_or_not_at_all(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let next = NewJob { job_type: "validator".into(), parent_job_id: Some(job.id), ..NewJob::new("Validate") };
    let (state, progress) = (state(), progress());
    let mut step = Commit {
        lease: job.lease(),
        expected_step: 5,
        changes: &[],
        state: &state,
        progress: &progress,
        settings: None,
        enqueue_next: Some(&next),
    };
    store.commit(&step).await.unwrap_err();
    let children = format!("SELECT count(*) FROM jobs WHERE parent_job_id = '{}'", job.id);
    assert_eq!(value(&pool, &children).await.as_deref(), Some("0"));
    step.expected_step = 0;
    store.commit(&step).await.unwrap();
    assert_eq!(value(&pool, &children).await.as_deref(), Some("1"));
}
