//! From a row inserted with plain SQL to the rows and files of the finished job.

use plumbline_system_tests::{PgPool, Uuid, World, documents, eventually, jobs::NewJob, record};
use sqlx::{Row, postgres::PgListener};
use std::collections::BTreeSet;

/// Sentences of the sample and their pages, looked up in the PDF by hand.
const PAGES: [(&str, i64); 8] = [
    ("It shall provide the people and the means that this policy requires.", 3),
    ("Cash receipts and payments must be recorded daily.", 4),
    ("Colour shall be kept where colour has a meaning, for example in stamps and handwritten corrections.", 5),
    ("Restoring shall be tested at least twice a year with a random sample of 200 documents.", 6),
    ("Records shall be kept for the periods in Annex A.", 7),
    ("All holds should be reviewed every six months.", 8),
    ("Containers for confidential paper must be locked and should be emptied every two weeks.", 9),
    ("Departments shall adapt their work instructions by 30 June 2026.", 10),
];

#[sqlx::test(migrations = false)]
async fn the_least_a_user_writes_becomes_a_finished_job(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(6);
    world.import("policy.md", &policy.markdown);
    let mut listener = PgListener::connect_with(&world.pool).await.expect("a listener can connect");
    listener.listen("plumbline_jobs").await.expect("the channel can be listened to");
    let job: Uuid = sqlx::query_scalar(
        "INSERT INTO jobs (prompt, document_path) VALUES ('Extract the requirements', 'policy.md') RETURNING id",
    )
    .fetch_one(&world.pool)
    .await
    .expect("two columns are enough");

    world.work_until_idle().await;

    let row = world.job(job).await;
    assert_eq!((row.status.as_str(), row.error, row.attempt, row.claims), ("completed", None, 1, 1));
    let result = row.result.expect("a completed job has a result");
    let delivered = result["deliverables"].as_array().expect("deliverables are a list");
    assert!(delivered.iter().any(|path| path == "output/requirements.md"), "{result}");
    assert!(result["summary"].as_str().is_some_and(|summary| summary.len() > 20), "{result}");
    assert!(result["confidence"].as_f64().is_some_and(|confidence| (0.0..=1.0).contains(&confidence)), "{result}");

    let found = record::requirements(&world.pool, job).await;
    let texts: BTreeSet<&str> = found.iter().map(|requirement| requirement.text.as_str()).collect();
    let expected: BTreeSet<&str> = policy.sentences.iter().map(String::as_str).collect();
    assert_eq!(texts, expected);
    for requirement in &found {
        assert!(requirement.is_verified(), "{requirement:?}");
        assert_eq!(requirement.source.as_deref(), Some("input/policy.md"));
        assert!(policy.markdown.contains(requirement.quote()), "{requirement:?}");
    }
    assert_tables_are_filled(&world.pool, job).await;
    assert_eq!(notices(&mut listener, job).await, ["pending", "running", "completed"]);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn the_jobs_row_shows_where_the_work_is(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(3);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.model.hold_from(1);
    let worker = world.worker();
    let mut seen = Vec::new();
    for request in [1, 6, 8] {
        // Earlier requests are answered, this one waits.
        world.model.hold_from(request);
        world.model.arrived(request).await;
        // The first step is written while the model is first asked.
        eventually("the job's first step", async || (world.job(job).await.step > 0).then_some(())).await;
        let row = sqlx::query(
            "SELECT status, phase, phase_number, phase_name, todos_done, todos_total, current_todo,
                    started_at IS NOT NULL AND worker_id IS NOT NULL AS started FROM jobs WHERE id = $1",
        )
        .bind(job)
        .fetch_one(&world.pool)
        .await
        .expect("the job's row can be read");
        assert_eq!(row.get::<String, _>("status"), "running");
        assert!(row.get::<bool, _>("started"));
        assert!(row.get::<Option<String>, _>("current_todo").is_some(), "request {request}");
        assert!(row.get::<Option<String>, _>("phase_name").is_some(), "request {request}");
        assert!(row.get::<i32, _>("todos_total") >= 3, "request {request}");
        seen.push((row.get::<i32, _>("phase_number"), row.get::<String, _>("phase"), row.get::<i32, _>("todos_done")));
    }
    world.model.answers(plumbline_system_tests::Answer::Work);
    assert_eq!(seen[0], (1, "strategic".to_owned(), 0));
    assert!(seen.windows(2).all(|pair| (pair[0].0, pair[0].2) < (pair[1].0, pair[1].2)), "it does not move: {seen:?}");
    assert!(seen.iter().any(|(_, phase, _)| phase == "tactical"), "{seen:?}");
    world.becomes(job, "completed").await;
    worker.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn an_inline_pdf_gives_verified_citations_on_the_right_pages(pool: PgPool) {
    let world = World::new(pool).await;
    let pdf = documents::sample("pdf");
    let job = world.insert(&NewJob::with_content("record-keeping-policy.pdf", &pdf)).await;
    world.work_until_idle().await;
    world.becomes(job, "completed").await;
    let found = record::requirements(&world.pool, job).await;
    assert!(found.len() >= 100, "the sample has 110 normative sentences, {} were found", found.len());
    for requirement in &found {
        assert!(requirement.is_verified(), "{requirement:?}");
        assert!(requirement.page.is_some_and(|page| (1..=12).contains(&page)), "{requirement:?}");
    }
    for (sentence, page) in PAGES {
        let requirement = found.iter().find(|requirement| requirement.text == sentence);
        assert_eq!(requirement.and_then(|requirement| requirement.page), Some(page), "{sentence}");
    }
    let input: Vec<u8> = sqlx::query_scalar("SELECT workspace_file($1, 'input/record-keeping-policy.pdf')")
        .bind(job)
        .fetch_one(&world.pool)
        .await
        .expect("the document is a file of the job");
    assert_eq!(input, pdf);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn docx_and_pdf_give_the_same_requirements(pool: PgPool) {
    let world = World::new(pool).await;
    let mut texts = Vec::new();
    for extension in ["pdf", "docx"] {
        let name = format!("record-keeping-policy.{extension}");
        world.import(&name, documents::sample(extension));
        let job = world.insert(&NewJob::with_path(&name)).await;
        texts.push(job);
    }
    world.work_until_idle().await;
    let [pdf, docx] = [texts[0], texts[1]];
    let pdf: BTreeSet<String> = texts_of(&world.pool, pdf).await;
    let docx: BTreeSet<String> = texts_of(&world.pool, docx).await;
    let common = pdf.intersection(&docx).count() as f64;
    let (recall, precision) = (common / pdf.len() as f64, common / docx.len() as f64);
    println!("of {} in the PDF, {} in the DOCX: recall {recall:.3}, precision {precision:.3}", pdf.len(), docx.len());
    let differences: Vec<&String> = pdf.symmetric_difference(&docx).collect();
    assert!(recall >= 0.95 && precision >= 0.95, "recall {recall:.3}, precision {precision:.3}: {differences:#?}");
    world.finish().await;
}

async fn texts_of(pool: &PgPool, job: Uuid) -> BTreeSet<String> {
    record::requirements(pool, job).await.into_iter().map(|requirement| requirement.text).collect()
}

/// Every documented table has rows about the job.
async fn assert_tables_are_filled(pool: &PgPool, job: Uuid) {
    for (what, statement) in [
        ("phases of both kinds", "SELECT count(DISTINCT kind) = 2 FROM phases WHERE job_id = $1 AND outcome = 'completed'"),
        ("completed todos", "SELECT count(*) > 10 FROM todos WHERE job_id = $1 AND status = 'completed'"),
        ("checkpoints", "SELECT count(*) > 10 FROM checkpoints WHERE job_id = $1"),
        (
            "requests with tokens and a time",
            "SELECT count(*) > 10 AND bool_and(prompt_tokens > 0 AND completion_tokens > 0 AND duration_ms >= 0
                    AND error IS NULL AND model <> '' AND purpose <> '') FROM llm_requests WHERE job_id = $1",
        ),
        (
            "one ended attempt of a worker",
            "SELECT count(*) = 1 AND bool_and(outcome = 'ended' AND error IS NULL) FROM attempts WHERE job_id = $1",
        ),
        (
            "the workspace's standard files",
            "SELECT count(*) = 5 FROM workspace_files WHERE job_id = $1 AND size > 0 AND path IN
                    ('instructions.md', 'workspace.md', 'main_plan.md', 'workspace_summary.md', 'archive/phase_1.yaml')",
        ),
        (
            "a summary line",
            "SELECT requirements = 12 AND requirements_pending = 12 AND status = 'completed'
             FROM job_summary WHERE id = $1",
        ),
        (
            "times in order",
            "SELECT created_at <= started_at AND started_at <= completed_at AND completed_at <= updated_at
             FROM jobs WHERE id = $1",
        ),
        ("the settings it ran with", "SELECT resolved::text LIKE '%creator%' FROM job_settings WHERE job_id = $1"),
    ] {
        let holds: bool = sqlx::query_scalar(statement).bind(job).fetch_one(pool).await.expect("a table can be read");
        assert!(holds, "missing: {what}");
    }
}

/// The notified statuses of this job, up to a final one.
async fn notices(listener: &mut PgListener, job: Uuid) -> Vec<String> {
    let mut statuses = Vec::new();
    eventually("the notice of the job's end", async || {
        let notice = listener.recv().await.expect("the listener stays connected");
        let payload: serde_json::Value = serde_json::from_str(notice.payload()).expect("a payload is JSON");
        if payload["id"] == job.to_string() {
            statuses.push(payload["status"].as_str().expect("a notice has a status").to_owned());
        }
        (statuses.last().map(String::as_str) == Some("completed")).then_some(())
    })
    .await;
    statuses
}
