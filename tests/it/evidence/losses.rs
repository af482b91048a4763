//! Content of a document that is missing from its text is reported in four places: `sources.warnings`, the opening, the
//! report, and `passages.reason` for a page without text.

use plumbline_system_tests::{PgPool, Uuid, World, documents, jobs::NewJob};

/// Warnings, and pages without text, of a job's one document.
async fn source(pool: &PgPool, id: Uuid) -> (Vec<String>, Vec<i32>) {
    sqlx::query_as("SELECT warnings, unread_pages FROM sources WHERE job_id = $1")
        .bind(id)
        .fetch_one(pool)
        .await
        .expect("the job has one document")
}

/// Page and reason of each passage without text.
async fn without_text(pool: &PgPool, id: Uuid) -> Vec<(Option<i32>, Option<String>)> {
    sqlx::query_as(
        "SELECT first_page, reason FROM passages
         WHERE job_id = $1 AND chunk_path IS NULL AND state = 'unread' ORDER BY ordinal",
    )
    .bind(id)
    .fetch_all(pool)
    .await
    .expect("the rows can be read")
}

/// The job's messages before the model's first answer.
async fn opening(pool: &PgPool, id: Uuid) -> String {
    sqlx::query_scalar(
        "SELECT string_agg(content, E'\\n') FROM messages m
         WHERE job_id = $1 AND seq < (SELECT min(seq) FROM messages a WHERE a.job_id = $1 AND a.role = 'assistant')",
    )
    .bind(id)
    .fetch_one(pool)
    .await
    .expect("the rows can be read")
}

/// Documents, their warnings, and their pages without text.
fn losses() -> Vec<(&'static str, Vec<u8>, &'static str, Vec<i32>)> {
    let kept = "<p>Invoices must be kept for ten years.</p>";
    let web = |part: &str| format!("<h1>Records</h1>{kept}{part}").into_bytes();
    vec![
        (
            "header.pdf",
            documents::of_jobs("losses/header.pdf"),
            "left out as a running header or footer: \u{ab}",
            vec![],
        ),
        (
            "portfolio.pdf",
            documents::of_jobs("losses/portfolio.pdf"),
            "a file of this portfolio, \u{ab}contract.txt\u{bb}",
            vec![],
        ),
        ("undecodable.pdf", documents::of_jobs("losses/undecodable.pdf"), "Page 1: ", vec![1]),
        ("hidden.docx", documents::of_jobs("losses/hidden.docx"), "Left out as hidden: \u{ab}", vec![]),
        (
            "printed.txt",
            documents::of_jobs("losses/printed.txt"),
            "left out as a running header or footer: \u{ab}",
            vec![],
        ),
        ("partly.pdf", documents::fixture("partly_scanned.pdf"), "no text layer", vec![2, 3]),
        ("struck.html", web("<p><del>Old rule.</del></p>"), "Left out as struck out: \u{ab}Old rule.\u{bb}", vec![]),
        (
            "scripts.html",
            web("<noscript><p>Letters must be kept.</p></noscript>"),
            "\u{ab}Letters must be kept.\u{bb}",
            vec![],
        ),
        (
            "bad-byte.txt",
            b"Pr\xc3\xbcfung \xff muss sein. Belege m\xc3\xbcssen bleiben.".to_vec(),
            "U+FFFD in the text",
            vec![],
        ),
    ]
}

#[sqlx::test(migrations = false)]
async fn what_is_not_in_the_text_is_in_four_places(pool: PgPool) {
    let world = World::new(pool).await;
    for (name, bytes, said, unread) in losses() {
        let id = world.insert(&NewJob::with_content(name, &bytes)).await;
        world.work_until_idle().await;
        let job = world.job(id).await;
        let (warnings, pages) = source(&world.pool, id).await;
        assert!(warnings.iter().any(|warning| warning.contains(said)), "{name}: {warnings:?}");
        let report = std::fs::read_to_string(world.workspace().join(format!("job_{id}/output/report.html")));
        let report = report.unwrap_or_else(|error| panic!("{name}: {error}: {job:?}"));
        let opening = opening(&world.pool, id).await;
        let reasons = without_text(&world.pool, id).await;
        let pages_of_reasons: Vec<i32> = reasons.iter().filter_map(|(page, _)| *page).collect();
        assert_eq!((&pages, &pages_of_reasons), (&unread, &unread), "{name}: {warnings:?}");
        for warning in &warnings {
            let shown = warning.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            assert!(report.contains(&shown), "{name}: {warning}");
            assert!(opening.contains(warning), "{name}: {warning}: {opening}");
        }
        let named =
            |reason: &Option<String>| reason.as_ref().is_some_and(|reason| warnings.iter().any(|w| reason.contains(w)));
        assert!(reasons.iter().all(|(_, reason)| named(reason)), "{name}: {reasons:?} {warnings:?}");
    }
    world.finish().await;
}

/// A scan, and an XFA form: the worker's findings are reported before the first request.
#[sqlx::test(migrations = false)]
async fn a_job_none_of_whose_documents_has_text_fails_before_its_first_request(pool: PgPool) {
    let world = World::new(pool).await;
    let empty = b"<html><body><noscript><p>It shall be kept.</p></noscript></body></html>".to_vec();
    for (name, bytes) in [("scan.pdf", documents::fixture("scan.pdf")), ("empty.html", empty)] {
        let id = world.insert(&NewJob::with_content(name, &bytes)).await;
        world.work_until_idle().await;
        let (status, kind, message, requests): (String, Option<String>, Option<String>, i64) = sqlx::query_as(
            "SELECT status, error_details ->> 'kind', error_message,
                    (SELECT count(*) FROM llm_requests r WHERE r.job_id = jobs.id) FROM jobs WHERE id = $1",
        )
        .bind(id)
        .fetch_one(&world.pool)
        .await
        .expect("the job is there");
        assert_eq!((status.as_str(), kind.as_deref(), requests), ("failed", Some("no_text"), 0), "{name}: {message:?}");
        let message = message.unwrap_or_default();
        let (warnings, _) = source(&world.pool, id).await;
        assert!(warnings.iter().all(|warning| message.contains(warning)), "{name}: {message}: {warnings:?}");
        let reasons = without_text(&world.pool, id).await;
        assert!(!reasons.is_empty() && reasons.iter().all(|(_, reason)| reason.is_some()), "{name}: {reasons:?}");
    }
    world.finish().await;
}
