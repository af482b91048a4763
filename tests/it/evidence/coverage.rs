//! The coverage ledger at the real binary: documents are prepared before the first request, each passage is accounted for
//! in rows, and no job is complete by saying so.

use plumbline_system_tests::{
    Ended, PgPool, Uuid, World,
    jobs::NewJob,
    model::Model,
    scripted::{Reply, Scripted},
};
use serde_json::{Value, json};
use sqlx::Row;
use std::path::{Path, PathBuf};

const POLICY: &[u8] =
    b"# Records\n\nInvoices must be kept for ten years, in the order of their dates.\n\n## Scope\n\nThis policy \
                        speaks of invoices on paper and of others that nobody prints any more.\n";

/// A job type over the creator, with these keys.
pub(super) fn job_type(world: &World, keys: Value) -> PathBuf {
    let dir = world.folder().join("types");
    std::fs::create_dir_all(dir.join("mine")).expect("the world's folder can be written");
    let mut config = json!({"$extends": "creator", "on_complete": null});
    config.as_object_mut().expect("it is an object").extend(keys.as_object().expect("keys").clone());
    std::fs::write(dir.join("mine/config.json"), config.to_string()).expect("the world's folder can be written");
    dir
}

pub(super) async fn run(world: &World, dir: &Path, arguments: &[&str]) -> Ended {
    let mut command = world.command(arguments);
    command.env("PLUMBLINE_CONFIG_DIR", dir);
    world.start(command).ended().await
}

fn mine<'a>() -> NewJob<'a> {
    NewJob { job_type: "mine", ..NewJob::with_content("policy.md", POLICY) }
}

/// The whole job's row of the view: passages, answered, candidates, candidates_cited, share.
async fn whole(pool: &PgPool, id: Uuid) -> (i64, i64, i64, i64, f64) {
    let row = sqlx::query(
        "SELECT passages, answered, candidates, candidates_cited, share::float8 FROM coverage
         WHERE job_id = $1 AND document IS NULL",
    )
    .bind(id)
    .fetch_one(pool)
    .await
    .expect("a job with documents has a row");
    (row.get(0), row.get(1), row.get(2), row.get(3), row.get(4))
}

async fn states(pool: &PgPool, id: Uuid) -> Vec<(String, Option<i64>)> {
    sqlx::query_as("SELECT state, read_step FROM passages WHERE job_id = $1 ORDER BY document, ordinal")
        .bind(id)
        .fetch_all(pool)
        .await
        .expect("the rows can be read")
}

/// Planning of one phase, and its five todos.
fn plans() -> Reply {
    let todos: Vec<Value> = (1..=5).map(|id| json!({"id": id, "content": format!("Look at part {id}")})).collect();
    let mut calls = vec![
        ("add_note", json!({"text": "All of it is extracted."})),
        ("write_plan", json!({"content": "# Plan\n\n## Phase 1: Extraction\n- [x] all\n"})),
        ("todo_write", json!({"phase": "Extraction", "description": "All of it", "todos": todos})),
    ];
    calls.extend(std::iter::repeat_n(("todo_complete", json!({})), 4));
    Reply::calls(&calls)
}

/// Closes the five todos after a file of invented figures, which is evidence for one of them.
fn invents() -> Reply {
    let mut calls = vec![(
        "write_file",
        json!({"path": "output/report.md", "content": "42 requirements recorded, 42 quotes verified."}),
    )];
    calls.extend(std::iter::repeat_n(("todo_complete", json!({})), 5));
    Reply::calls(&calls)
}

fn completes(undelivered: Value) -> Reply {
    let claim = json!({"summary": "All done.", "deliverables": ["output/report.md"], "undelivered": undelivered, "confidence": 0.95});
    Reply::calls(&[("job_complete", claim)])
}

#[sqlx::test(migrations = false)]
async fn documents_are_prepared_first_and_a_healthy_job_answers_for_every_passage(pool: PgPool) {
    let world = World::new(pool).await;
    let model = Model::start().await;
    let dir = job_type(&world, json!({"llm": {"base_url": model.base_url()}}));
    let id = world
        .insert(&NewJob {
            job_type: "mine",
            ..NewJob::with_content("policy.pdf", &plumbline_system_tests::documents::sample("pdf"))
        })
        .await;
    assert_eq!(run(&world, &dir, &["worker", "--until-idle"]).await.code, Some(0));
    let job = world.job(id).await;
    let result = job.result.clone().unwrap_or_default();
    assert_eq!((job.status.as_str(), &result["coverage"]), ("completed", &json!(1.0)), "{job:?}");
    let first_request: i64 = sqlx::query_scalar("SELECT min(step) FROM llm_requests WHERE job_id = $1")
        .bind(id)
        .fetch_one(&world.pool)
        .await
        .expect("requests were made");
    let cut: Vec<i64> = sqlx::query_scalar("SELECT DISTINCT cut_step FROM passages WHERE job_id = $1 AND ordinal = 1")
        .bind(id)
        .fetch_all(&world.pool)
        .await
        .expect("the rows can be read");
    assert!(first_request > 1, "the document was prepared in steps of its own before the first request: {cut:?}");
    let (passages, answered, candidates, cited, share) = whole(&world.pool, id).await;
    assert!(passages >= 5 && passages == answered && candidates > 100 && cited > 100, "{passages} {answered} {cited}");
    assert_eq!(share, 1.0);
    let counts = &result["counts"];
    let requirements: i64 = sqlx::query_scalar("SELECT count(*) FROM requirement_cache WHERE job_id = $1")
        .bind(id)
        .fetch_one(&world.pool)
        .await
        .expect("the rows can be read");
    assert_eq!(counts["requirements"], json!(requirements), "figures come from rows: {result}");
    assert_eq!((&counts["pages"], &counts["phases_planned"]), (&json!(12), &counts["phases_done"]), "{result}");
    assert_eq!((&result["unevidenced_todos"], &result["undelivered"]), (&json!(0), &json!([])), "{result}");
    let shown = run(&world, &dir, &["coverage", &id.to_string(), "--state", "answered", "--json"]).await;
    let shown: Value = serde_json::from_str(&shown.stdout).expect("it is JSON");
    assert_eq!(shown["passages"].as_array().map(Vec::len), usize::try_from(passages).ok(), "{shown}");
    assert_eq!(shown["coverage"].as_array().and_then(|rows| rows.last()).map(|row| &row["share"]), Some(&json!(1.0)));

    // Forks: before anything was read, and at the end.
    for (step, read) in [(first_request - 1, 0), (job.step, passages)] {
        let forked = run(&world, &dir, &["fork", &id.to_string(), "--at", &step.to_string()]).await;
        let fork: Uuid = forked.stdout.trim().parse().unwrap_or_else(|_| panic!("{forked:?}"));
        let states = states(&world.pool, fork).await;
        let was_read = states.iter().filter(|(state, _)| state != "unread").count();
        assert_eq!((states.len() as i64, was_read as i64), (passages, read), "at step {step}");
        let (_, answered, _, cited_then, _) = whole(&world.pool, fork).await;
        assert_eq!((answered, cited_then), if read == 0 { (0, 0) } else { (passages, cited) }, "at step {step}");
        sqlx::query("DELETE FROM jobs WHERE id = $1").bind(fork).execute(&world.pool).await.expect("it can be deleted");
        assert!(self::states(&world.pool, fork).await.is_empty(), "its passages go with a job");
    }
    world.finish().await;
}

/// Invented files with invented counts, todos closed without work, a plan that is ticked and never worked, and the end called
/// for again and again.
#[sqlx::test(migrations = false)]
async fn a_liar_does_not_end_completed(pool: PgPool) {
    let world = World::new(pool).await;
    let model = Scripted::start(|_, number| match number {
        1 => plans(),
        2 => invents(),
        3 => Reply::calls(&vec![("todo_complete", json!({"notes": "done"})); 4]),
        4..=6 => completes(json!([])),
        _ => completes(
            json!([{"passages": [1, 2], "document": "input/policy.md", "reason": "there was no time to read them"}]),
        ),
    })
    .await;
    let dir = job_type(&world, json!({"llm": {"base_url": model.base_url()}, "deliverables": []}));
    let id = world.insert(&mine()).await;
    run(&world, &dir, &["worker", "--until-idle"]).await;
    let job = world.job(id).await;
    assert_eq!(
        (job.status.as_str(), &job.details.clone().unwrap_or_default()["kind"]),
        ("failed", &json!("nothing_recorded")),
        "{job:?}"
    );
    let refusals: Vec<String> = model
        .seen()
        .iter()
        .flat_map(|request| request.new_results().into_iter().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    assert!(refusals.iter().any(|said| said.contains("passages are neither answered nor named")), "{refusals:#?}");
    assert!(states(&world.pool, id).await.iter().all(|(state, _)| state == "unread"));
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_todo_closed_without_work_is_counted(pool: PgPool) {
    let world = World::new(pool).await;
    let model = Scripted::start(|_, number| match number {
        1 => plans(),
        // The first is refused, the others are taken.
        2..=7 => Reply::calls(&[("todo_complete", json!({"notes": "done"}))]),
        8 => invents(),
        _ => completes(json!(["all of it: nothing was done"])),
    })
    .await;
    let dir = job_type(&world, json!({"llm": {"base_url": model.base_url()}, "coverage": "off"}));
    let id = world.insert(&mine()).await;
    run(&world, &dir, &["worker", "--until-idle"]).await;
    let job = world.job(id).await;
    let result = job.result.clone().unwrap_or_default();
    assert_eq!((job.status.as_str(), &result["coverage"]), ("completed", &Value::Null), "{job:?}");
    let counted: i64 = sqlx::query_scalar("SELECT count(*) FROM todos WHERE job_id = $1 AND unevidenced")
        .bind(id)
        .fetch_one(&world.pool)
        .await
        .expect("the rows can be read");
    assert_eq!((counted, &result["unevidenced_todos"]), (5, &json!(5)), "{result}");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_pattern_of_the_type_makes_a_sentence_a_candidate(pool: PgPool) {
    let world = World::new(pool).await;
    let mut candidates = Vec::new();
    for patterns in [json!([]), json!(["nobody prints"])] {
        let model = Scripted::start(|_, _| {
            Reply::calls(&[("todo_rewind", json!({"issue": "this job is about its beginning"}))])
        })
        .await;
        let keys = json!({"llm": {"base_url": model.base_url()}, "coverage_settings": {"patterns": patterns}, "limits": {"max_iterations": 1}});
        let dir = job_type(&world, keys);
        let id = world.insert(&mine()).await;
        run(&world, &dir, &["worker", "--until-idle"]).await;
        let sentences: Vec<String> = sqlx::query_scalar(
            "SELECT s.value ->> 'text' FROM passages p CROSS JOIN jsonb_array_elements(p.sentences) s WHERE p.job_id = $1",
        )
        .bind(id)
        .fetch_all(&world.pool)
        .await
        .expect("the rows can be read");
        candidates.push(sentences);
        world.call("SELECT cancel_job($1)", id).await.expect("it can be cancelled");
    }
    assert_eq!(candidates[0], ["Invoices must be kept for ten years, in the order of their dates."]);
    assert_eq!(candidates[1].len(), 2, "{candidates:?}");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_row_may_ask_for_more_of_its_documents_and_not_for_less(pool: PgPool) {
    let world = World::new(pool).await;
    let dir = job_type(&world, json!({}));
    for (config, key) in [
        (json!({"coverage": "off"}), "coverage"),
        (json!({"coverage_settings": {"minimum": 0.1}}), "coverage_settings.minimum"),
        (json!({"coverage_settings": {"max_closed": 0.9}}), "coverage_settings.max_closed"),
        (json!({"documents": {"prepare": "model"}}), "documents.prepare"),
    ] {
        let id = world.insert(&NewJob { config: Some(config), ..mine() }).await;
        run(&world, &dir, &["worker", "--until-idle"]).await;
        let job = world.job(id).await;
        assert_eq!(
            (job.status.as_str(), &job.details.clone().unwrap_or_default()["key"]),
            ("failed", &json!(key)),
            "{job:?}"
        );
    }
    world.finish().await;
}

/// One of two documents cannot be opened: the readable one is read, and the other is a passage with the reason.
#[sqlx::test(migrations = false)]
async fn a_document_that_cannot_be_read_is_a_passage_with_the_reason(pool: PgPool) {
    let world = World::new(pool).await;
    let model = Model::start().await;
    let dir = job_type(&world, json!({"llm": {"base_url": model.base_url()}}));
    let id: Uuid = sqlx::query_scalar(
        "SELECT enqueue_job('Extract the requirements', 'mine', documents => jsonb_build_array(
            jsonb_build_object('name', 'policy.md', 'content', encode($1, 'base64')),
            jsonb_build_object('name', 'broken.pdf', 'content', encode('%PDF-1.7 and no more', 'base64'))))",
    )
    .bind(POLICY)
    .fetch_one(&world.pool)
    .await
    .expect("a job may have two documents");
    run(&world, &dir, &["worker", "--until-idle"]).await;
    let rows: Vec<(String, String, Option<String>)> =
        sqlx::query_as("SELECT document, state, reason FROM passages WHERE job_id = $1 ORDER BY document")
            .bind(id)
            .fetch_all(&world.pool)
            .await
            .expect("the rows can be read");
    let [(broken, unread, Some(reason)), (policy, answered, None)] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!((broken.as_str(), unread.as_str()), ("input/broken.pdf", "unread"));
    assert_eq!((policy.as_str(), answered.as_str()), ("input/policy.md", "answered"));
    assert!(reason.contains("broken.pdf could not be read"), "{reason}");
    let job = world.job(id).await;
    let result = job.result.clone().unwrap_or_default();
    assert_eq!((job.status.as_str(), &result["coverage"]), ("completed", &json!(0.5)), "{job:?}");
    let number: i32 = sqlx::query_scalar("SELECT passage FROM passages WHERE job_id = $1 AND state = 'unread'")
        .bind(id)
        .fetch_one(&world.pool)
        .await
        .expect("the rows can be read");
    let named = |entry: &Value| entry["passages"] == json!([number]);
    assert_eq!(
        result["undelivered"].as_array().map(|entries| entries.iter().filter(|entry| named(entry)).count()),
        Some(1)
    );
    world.finish().await;
}
