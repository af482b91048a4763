//! Steps of several jobs in one batch: each is written as it would have been alone, whatever happens to the others.

use crate::{
    proxy::{Cut, Proxy},
    story::documentation,
    support::{column, execute, message, progress, running, state, store, until_blocked, value},
};
use plumbline_engine::{
    Change, FailureClass, FileWrite, JobError, JobExit, Judgement, MessageKind, PhaseKind, PhaseOutcome, Product,
    Purpose, RequestRecord, Role, Todo, TodoStatus, ToolCall, Verdict,
};
use plumbline_store::{ClaimedJob, Commit, Committed, Error, Lease, Store, StoredSettings};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgPool};
use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
};
use tokio::task::JoinHandle;
use uuid::Uuid;

type Outcome = Result<Committed, Error>;

/// A step with everything that its statement supports.
fn turn(seq: i64) -> Vec<Change> {
    let call = ToolCall {
        id: format!("call_{seq}"),
        name: "write_file".into(),
        arguments: json!({"path": "a\0b"}).to_string(),
    };
    let mut reply = message(seq, Role::Assistant, MessageKind::Reply, "I write \"the\" file\0");
    reply.tool_calls = vec![call];
    reply.extra.insert("reasoning".into(), json!("because [of] {this}, and that"));
    let mut result = message(seq + 1, Role::Tool, MessageKind::ToolResult, "written");
    result.tool_call_id = Some(format!("call_{seq}"));
    let record = RequestRecord {
        prompt_tokens: 1000,
        cached_tokens: 900,
        completion_tokens: 50,
        duration_ms: 12,
        finish_reason: Some("tool_calls".into()),
        raw_usage: Some(json!({"prompt_tokens": 1000})),
        ..RequestRecord::sent("gpt-x", Purpose::Tactical, 1, state().started_at)
    };
    vec![
        Change::Request(RequestRecord {
            finish_reason: None,
            error: Some("status 503".into()),
            failure_class: Some(FailureClass::Overloaded),
            raw_usage: None,
            ..record.clone()
        }),
        Change::Request(record),
        Change::Message(reply),
        Change::Message(result),
        Change::Product(Product::WriteFile(FileWrite::text(format!("notes/{seq}.md"), format!("note {seq}")))),
        Change::Product(Product::WriteFile(FileWrite::text("same.md", "the same in all"))),
        Change::Product(Product::DeleteFile { path: "gone.md".into() }),
        Change::TodoMoved { phase_number: 1, position: 1, status: TodoStatus::Completed, notes: Some("done".into()) },
        Change::TodoMoved { phase_number: 1, position: 2, status: TodoStatus::InProgress, notes: None },
    ]
}

/// The same with rare rows: a phase ends, the next one begins, a list replaces another.
fn turn_of_phases(seq: i64) -> Vec<Change> {
    let mut changes = turn(seq);
    changes.extend([
        Change::Product(Product::ShareFiles(documentation())),
        Change::PhaseClosed { number: 1, outcome: PhaseOutcome::Completed },
        Change::PhaseOpened { number: 2, kind: PhaseKind::Tactical, name: "Extract".into() },
        Change::TodosPut { phase_number: 1, todos: vec![Todo::pending(1, "another")] },
        Change::TodosPut { phase_number: 2, todos: vec![Todo::pending(1, "cite"), Todo::pending(2, "check")] },
        Change::TodoMoved { phase_number: 2, position: 1, status: TodoStatus::InProgress, notes: None },
        Change::PhaseOpened { number: 3, kind: PhaseKind::Strategic, name: "Look back".into() },
        Change::PhaseClosed { number: 3, outcome: PhaseOutcome::Completed },
    ]);
    changes
}

async fn commit(store: &Store, lease: Lease, changes: Vec<Change>) -> Outcome {
    commit_with(store, lease, changes, None).await
}

async fn commit_with(store: &Store, lease: Lease, changes: Vec<Change>, settings: Option<&Value>) -> Outcome {
    let settings = settings.map(StoredSettings::from);
    let (state, progress) = (state(), progress());
    let commit = Commit {
        lease,
        expected_step: 1,
        changes: &changes,
        state: &state,
        progress: &progress,
        settings: settings.as_ref(),
        enqueue_next: None,
    };
    store.commit(&commit).await
}

/// Running jobs with two todos, at step 1.
async fn jobs<const N: usize>(store: &Store) -> [ClaimedJob; N] {
    let mut jobs = Vec::new();
    for _ in 0..N {
        let job = running(store).await;
        let todos = ["write notes", "read them"].iter().zip(1..).map(|(text, place)| Todo::pending(place, *text));
        let list = [
            Change::PhaseOpened { number: 1, kind: PhaseKind::Strategic, name: "Plan".into() },
            Change::TodosPut { phase_number: 1, todos: todos.collect() },
        ];
        crate::support::commit(store, job.lease(), 0, &list).await.unwrap();
        jobs.push(job);
    }
    jobs.try_into().unwrap_or_else(|_| unreachable!("so many were made"))
}

/// A step whose batch is in flight, and makes others wait, until the lock on its job's todos is released; at least for
/// a while.
struct Busy {
    lock: sqlx::Transaction<'static, sqlx::Postgres>,
    step: JoinHandle<Outcome>,
}

impl Busy {
    async fn new(pool: &PgPool, store: &Store) -> Self {
        let [job] = jobs(store).await;
        let lock = locked(pool, format!("SELECT FROM todos WHERE job_id = '{}' FOR UPDATE", job.id)).await;
        let (store, lease) = (store.clone(), job.lease());
        let step = tokio::spawn(async move { commit(&store, lease, turn(1)).await });
        until_blocked(pool).await;
        Self { lock, step }
    }

    async fn let_go(self) {
        self.lock.rollback().await.unwrap();
        assert_eq!(self.step.await.unwrap().unwrap().step, 2);
    }
}

/// A user's transaction that holds the locks of this statement.
async fn locked(pool: &PgPool, sql: String) -> sqlx::Transaction<'static, sqlx::Postgres> {
    let mut lock = pool.begin().await.unwrap();
    sqlx::query(AssertSqlSafe(sql)).execute(&mut *lock).await.unwrap();
    lock
}

/// Polls a step until it blocks.
async fn start(step: Pin<&mut impl Future<Output = Outcome>>) {
    let mut step = step;
    let pending = poll_fn(|context| Poll::Ready(step.as_mut().poll(context).is_pending())).await;
    assert!(pending, "the step waits for its batch");
}

/// A step of each job, each polled until it blocks.
async fn started<'a>(store: &'a Store, jobs: &[ClaimedJob]) -> Vec<Pin<Box<impl Future<Output = Outcome> + use<'a>>>> {
    let mut steps: Vec<_> = jobs.iter().map(|job| Box::pin(commit(store, job.lease(), turn(1)))).collect();
    for step in &mut steps {
        start(step.as_mut()).await;
    }
    steps
}

/// The database's rows of a job, without nondeterministic values.
async fn rows(pool: &PgPool, job: &ClaimedJob) -> Vec<Option<String>> {
    let mut rows = Vec::new();
    for (table, left_out) in [
        ("jobs", "id,worker_id,job_type,created_at,updated_at,started_at,run_at,completed_at"),
        ("messages", "job_id,created_at"),
        ("llm_requests", "job_id,id"),
        ("blobs", "job_id"),
        ("file_versions", "job_id,created_at"),
        ("todos", "job_id,completed_at,created_at"),
        ("checkpoints", "job_id,created_at"),
        ("phases", "job_id,started_at,ended_at"),
        ("replaced_todos", "job_id,completed_at,created_at"),
        ("job_settings", "job_id,created_at"),
        ("job_shared_files", "job_id,created_at"),
        ("attempts", "job_id,worker_id,started_at,ended_at"),
    ] {
        let key = if table == "jobs" { "id" } else { "job_id" };
        let sql = format!(
            "SELECT json_agg(r ORDER BY r::text) FROM (
                 SELECT to_jsonb(t) - '{{{left_out}}}'::text[] AS r FROM {table} t WHERE {key} = '{}') AS of_job",
            job.id
        );
        rows.push(value(pool, sql).await);
    }
    rows
}

/// How many transactions last wrote the rows of these jobs.
async fn transactions(pool: &PgPool, jobs: &[&ClaimedJob]) -> Option<String> {
    let ids: Vec<String> = jobs.iter().map(|job| format!("'{}'", job.id)).collect();
    value(pool, format!("SELECT count(DISTINCT xmin::text) FROM jobs WHERE id IN ({})", ids.join(","))).await
}

#[sqlx::test(migrations = "../../migrations")]
async fn steps_that_wait_are_written_together_and_as_they_would_be_alone(pool: PgPool) {
    let store = store(&pool);
    let [alone, a, b, c] = jobs(&store).await;
    assert_eq!(commit(&store, alone.lease(), turn(1)).await.unwrap().step, 2);

    let busy = Busy::new(&pool, &store).await;
    let (mut of_a, mut of_b, mut of_c) = (
        pin!(commit(&store, a.lease(), turn(1))),
        pin!(commit(&store, b.lease(), turn(1))),
        pin!(commit(&store, c.lease(), turn(1))),
    );
    start(of_a.as_mut()).await;
    start(of_b.as_mut()).await;
    start(of_c.as_mut()).await;
    busy.let_go().await;
    let written = Committed { step: 2, feedback_pending: false };
    assert_eq!((of_a.await.unwrap(), of_b.await.unwrap(), of_c.await.unwrap()), (written, written, written));

    assert_eq!(transactions(&pool, &[&a, &b, &c]).await.as_deref(), Some("1"));
    assert_eq!(transactions(&pool, &[&alone, &a]).await.as_deref(), Some("2"));
    let expected = rows(&pool, &alone).await;
    assert_eq!(expected.iter().flatten().count(), 9, "{expected:?}");
    for job in [&a, &b, &c] {
        assert_eq!(rows(&pool, job).await, expected);
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_a_job_writes_now_and_then_goes_with_the_others_too(pool: PgPool) {
    let store = store(&pool);
    let [alone, a, b, plain] = jobs(&store).await;
    let settings = json!({"config": {"llm": {"model": "m"}}});
    let step = |job: &ClaimedJob| {
        let (store, lease, settings) = (store.clone(), job.lease(), settings.clone());
        async move { commit_with(&store, lease, turn_of_phases(1), Some(&settings)).await }
    };
    assert_eq!(step(&alone).await.unwrap().step, 2);

    let busy = Busy::new(&pool, &store).await;
    let (mut of_a, mut of_b, mut of_plain) =
        (pin!(step(&a)), pin!(step(&b)), pin!(commit(&store, plain.lease(), turn(1))));
    start(of_a.as_mut()).await;
    start(of_b.as_mut()).await;
    start(of_plain.as_mut()).await;
    busy.let_go().await;
    assert_eq!((of_a.await.unwrap().step, of_b.await.unwrap().step, of_plain.await.unwrap().step), (2, 2, 2));

    assert_eq!(transactions(&pool, &[&a, &b, &plain]).await.as_deref(), Some("1"));
    let expected = rows(&pool, &alone).await;
    assert!(expected.iter().all(Option::is_some), "{expected:?}");
    for job in [&a, &b] {
        assert_eq!(rows(&pool, job).await, expected);
    }
    assert_eq!(rows(&pool, &plain).await.iter().flatten().count(), 9);
}

#[sqlx::test(migrations = "../../migrations")]
async fn jobs_that_end_do_so_with_the_others(pool: PgPool) {
    let store = store(&pool);
    let [alone, a, b, heard, plain] = jobs(&store).await;
    let completed = || Change::Exited(JobExit::Completed { result: json!({"summary": "done"}) });
    let failed = || Change::Exited(JobExit::Failed(JobError::new("input", "a \"bad\" file\0")));
    let step = |job: &ClaimedJob, end: Change| {
        let (store, lease) = (store.clone(), job.lease());
        async move { commit(&store, lease, [turn(1), vec![end]].concat()).await }
    };
    assert_eq!(step(&alone, completed()).await.unwrap().step, 2);
    assert_eq!(store.send_feedback(heard.id, "Look at chapter 3").await.unwrap(), "running");

    let busy = Busy::new(&pool, &store).await;
    let (mut of_a, mut of_b) = (pin!(step(&a, completed())), pin!(step(&b, failed())));
    let (mut of_heard, mut of_plain) = (pin!(step(&heard, completed())), pin!(commit(&store, plain.lease(), turn(1))));
    start(of_a.as_mut()).await;
    start(of_b.as_mut()).await;
    start(of_heard.as_mut()).await;
    start(of_plain.as_mut()).await;
    busy.let_go().await;
    for written in [of_a.await, of_b.await, of_heard.await, of_plain.await] {
        assert_eq!(written.unwrap().step, 2);
    }

    assert_eq!(transactions(&pool, &[&a, &b, &heard, &plain]).await.as_deref(), Some("1"));
    let expected = rows(&pool, &alone).await;
    assert_eq!(rows(&pool, &a).await, expected);
    let status = async |job: &ClaimedJob| column(&pool, job.id, "status || ' ' || coalesce(error_message, '')").await;
    assert_eq!(status(&a).await.as_deref(), Some("completed "));
    assert_eq!(status(&b).await.as_deref(), Some("failed a \"bad\" file\u{fffd}"));
    assert_eq!(status(&heard).await.as_deref(), Some("pending "), "the user's word was first");
    assert_eq!(status(&plain).await.as_deref(), Some("running "));
}

#[sqlx::test(migrations = "../../migrations")]
async fn steps_with_nothing_to_write_are_written_together_too(pool: PgPool) {
    let store = store(&pool);
    let [a, b] = jobs(&store).await;
    assert_eq!(store.send_feedback(b.id, "Look at chapter 3").await.unwrap(), "running");
    let busy = Busy::new(&pool, &store).await;
    let (mut of_a, mut of_b) = (pin!(commit(&store, a.lease(), vec![])), pin!(commit(&store, b.lease(), vec![])));
    start(of_a.as_mut()).await;
    start(of_b.as_mut()).await;
    busy.let_go().await;
    assert_eq!(of_a.await.unwrap(), Committed { step: 2, feedback_pending: false });
    assert_eq!(of_b.await.unwrap(), Committed { step: 2, feedback_pending: true }, "each is told of its own feedback");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_lost_lease_and_a_refused_step_affect_no_other_job(pool: PgPool) {
    let store = store(&pool);
    let [lost, a, b, refused] = jobs(&store).await;
    execute(&pool, format!("UPDATE jobs SET status = 'cancelled' WHERE id = '{}'", lost.id)).await.unwrap();
    let busy = Busy::new(&pool, &store).await;
    let (mut of_lost, mut of_a) =
        (pin!(commit(&store, lost.lease(), turn(1))), pin!(commit(&store, a.lease(), turn(1))));
    start(of_lost.as_mut()).await;
    start(of_a.as_mut()).await;
    busy.let_go().await;
    assert!(matches!(of_lost.await, Err(Error::LeaseLost(id)) if id == lost.id));
    assert_eq!(of_a.await.unwrap().step, 2);

    let busy = Busy::new(&pool, &store).await;
    let twice = vec![turn(1).remove(2), turn(1).remove(2)];
    let (mut of_refused, mut of_b) =
        (pin!(commit(&store, refused.lease(), twice)), pin!(commit(&store, b.lease(), turn(1))));
    start(of_refused.as_mut()).await;
    start(of_b.as_mut()).await;
    busy.let_go().await;
    let error = of_refused.await.unwrap_err();
    assert!(matches!(error, Error::Database { .. }) && !error.is_transient(), "{error}");
    assert_eq!(column(&pool, refused.id, "step").await.as_deref(), Some("1"));
    assert_eq!(of_b.await.unwrap().step, 2);
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_job_that_somebody_holds_locked_keeps_no_other_waiting(pool: PgPool) {
    let store = store(&pool);
    let [held, a, b] = jobs(&store).await;
    // In a batch with others, which are written without it.
    let busy = Busy::new(&pool, &store).await;
    let lock = locked(&pool, format!("SELECT FROM jobs WHERE id = '{}' FOR UPDATE", held.id)).await;
    let mut of_held = pin!(commit(&store, held.lease(), turn(1)));
    let mut of_a = pin!(commit(&store, a.lease(), turn(1)));
    start(of_held.as_mut()).await;
    start(of_a.as_mut()).await;
    // After it, when its batch is overdue.
    assert_eq!(of_a.await.unwrap().step, 2);
    assert_eq!(commit(&store, b.lease(), turn(1)).await.unwrap().step, 2);
    start(of_held.as_mut()).await;
    lock.rollback().await.unwrap();
    assert_eq!(of_held.await.unwrap().step, 2);
    busy.let_go().await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_rare_row_that_somebody_holds_locked_keeps_no_other_waiting(pool: PgPool) {
    let store = store(&pool);
    let [validator, a] = jobs(&store).await;
    let row = Uuid::now_v7();
    let held = format!(
        "INSERT INTO requirement_cache (id, job_id, text, status, validator_job_id)
         VALUES ('{row}', '{}', 'Records are kept', 'validating', '{}')",
        a.id, validator.id
    );
    execute(&pool, held).await.unwrap();
    let judged = Change::Product(Product::JudgeRequirement(Box::new(Judgement {
        id: row,
        verdict: Verdict::Rejected,
        reason: Some("a duplicate".into()),
        graph_node_id: None,
        validation_result: json!({}),
    })));
    let busy = Busy::new(&pool, &store).await;
    let lock = locked(&pool, format!("SELECT FROM requirement_cache WHERE id = '{row}' FOR UPDATE")).await;
    let (mut of_validator, mut of_a) =
        (pin!(commit(&store, validator.lease(), vec![judged])), pin!(commit(&store, a.lease(), turn(1))));
    start(of_validator.as_mut()).await;
    start(of_a.as_mut()).await;
    busy.let_go().await;
    assert_eq!(of_a.await.unwrap().step, 2, "it is written while the other's row is locked");
    start(of_validator.as_mut()).await;
    lock.rollback().await.unwrap();
    assert_eq!(of_validator.await.unwrap().step, 2);
    let status = format!("SELECT status || ': ' || rejection_reason FROM requirement_cache WHERE id = '{row}'");
    assert_eq!(value(&pool, status).await.as_deref(), Some("rejected: a duplicate"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_lost_answer_leaves_no_waiter_in_doubt(pool: PgPool) {
    const SAID: &[u8] = b"the connection breaks here";
    for cut in [Cut::Before, Cut::After] {
        let base = store(&pool);
        let [a, b] = jobs(&base).await;
        let shaky = Arc::new(Proxy::default());
        let shop = shaky.store(&pool, 5).await;
        let busy = Busy::new(&pool, &shop).await;
        *shaky.cut.lock().unwrap() = Some((SAID, cut));
        let said = Change::Message(message(1, Role::User, MessageKind::Opening, std::str::from_utf8(SAID).unwrap()));
        let (mut of_a, mut of_b) =
            (pin!(commit(&shop, a.lease(), vec![said])), pin!(commit(&shop, b.lease(), turn(1))));
        start(of_a.as_mut()).await;
        start(of_b.as_mut()).await;
        busy.let_go().await;
        assert_eq!((of_a.await.unwrap().step, of_b.await.unwrap().step), (2, 2));
        for (job, messages) in [(&a, "1"), (&b, "2")] {
            assert_eq!(column(&pool, job.id, "step").await.as_deref(), Some("2"));
            let said = format!("SELECT count(*) FROM messages WHERE job_id = '{}'", job.id);
            assert_eq!(value(&pool, said).await.as_deref(), Some(messages), "nothing is written twice");
        }
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_caller_that_times_out_does_not_affect_others(pool: PgPool) {
    let store = store(&pool);
    let [left, a] = jobs(&store).await;
    let busy = Busy::new(&pool, &store).await;
    let mut of_left = Box::pin(commit(&store, left.lease(), turn(1)));
    let mut of_a = pin!(commit(&store, a.lease(), turn(1)));
    start(of_left.as_mut()).await;
    start(of_a.as_mut()).await;
    drop(of_left);
    busy.let_go().await;
    assert_eq!(of_a.await.unwrap().step, 2);
    let changes = turn(1);
    let (state, progress) = (state(), progress());
    let again = Commit {
        lease: left.lease(),
        expected_step: 1,
        changes: &changes,
        state: &state,
        progress: &progress,
        settings: None,
        enqueue_next: None,
    };
    assert_eq!(store.commit_again(&again).await.unwrap().step, 2, "it was written, and is found");
}

#[sqlx::test(migrations = "../../migrations")]
async fn more_steps_than_one_statement_takes_are_all_written(pool: PgPool) {
    let store = store(&pool);
    let jobs: [ClaimedJob; 80] = jobs(&store).await;
    let busy = Busy::new(&pool, &store).await;
    let steps = started(&store, &jobs).await;
    busy.let_go().await;
    for step in steps {
        assert_eq!(step.await.unwrap().step, 2);
    }
    let all: Vec<&ClaimedJob> = jobs.iter().collect();
    assert_eq!(transactions(&pool, &all).await.as_deref(), Some("3"), "the first eight, 64, and the rest");
}

#[sqlx::test(migrations = "../../migrations")]
async fn steps_that_are_enough_do_not_wait_for_the_one_under_way(pool: PgPool) {
    let store = store(&pool);
    let jobs: [ClaimedJob; 16] = jobs(&store).await;
    let busy = Busy::new(&pool, &store).await;
    let steps = started(&store, &jobs).await;
    for step in steps {
        assert_eq!(step.await.unwrap().step, 2);
    }
    busy.let_go().await;
    let all: Vec<&ClaimedJob> = jobs.iter().collect();
    assert_eq!(transactions(&pool, &all).await.as_deref(), Some("2"), "eight went before the others had come");
}
