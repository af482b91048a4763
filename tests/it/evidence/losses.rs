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

/// A document, what its warnings say, and its pages without text.
struct Loss {
    name: &'static str,
    bytes: Vec<u8>,
    said: &'static [&'static str],
    unread: &'static [i32],
}

const fn loss(name: &'static str, bytes: Vec<u8>, said: &'static [&'static str]) -> Loss {
    Loss { name, bytes, said, unread: &[] }
}

fn losses() -> Vec<Loss> {
    let file = |name: &'static str, said| loss(name, documents::of_jobs(&format!("losses/{name}")), said);
    let unread = |loss: Loss, unread| Loss { unread, ..loss };
    let header: &[&str] = &["left out as a running header or footer: \u{ab}"];
    let mut all = vec![
        file("header.pdf", header),
        file("long-header.pdf", header),
        file("printed.txt", header),
        file("portfolio.pdf", &["a file of this portfolio, \u{ab}contract.txt\u{bb}"]),
        unread(file("undecodable.pdf", &["Page 1: "]), &[1]),
        unread(file("xfa.pdf", &["an XFA form", "\u{ab}Invoices must be kept for ten years.\u{bb}"]), &[1]),
        file(
            "form.pdf",
            &[
                "a field without a place on a page, \u{ab}Letters must be kept for five years.\u{bb}",
                "Page 1: not in the text: an attached file, \u{ab}annex.txt\u{bb}",
                "Page 1: left out as hidden: \u{ab}Drafts must be destroyed.\u{bb}",
            ],
        ),
        file("hidden.docx", &["Left out as hidden: \u{ab}"]),
        file(
            "parts.docx",
            &[
                "an embedded object, \u{ab}Equation.3\u{bb}",
                "a part in another format, \u{ab}word/clause.rtf\u{bb}",
                "an attached file, \u{ab}o.bin\u{bb}",
            ],
        ),
        unread(loss("partly.pdf", documents::fixture("partly_scanned.pdf"), &["no text layer"]), &[2, 3]),
        loss(
            "bad-byte.txt",
            b"Pr\xc3\xbcfung \xff muss sein. Belege m\xc3\xbcssen bleiben.".to_vec(),
            &["U+FFFD in the text"],
        ),
        loss(
            "bad-byte.csv",
            b"Nr;Regel\n1;Die Pr\xc3\xbcfung \xff muss sein.\n2;Belege m\xc3\xbcssen bleiben.\n".to_vec(),
            &["U+FFFD in the text"],
        ),
    ];
    all.extend(of_pages());
    all
}

/// Losses of web pages.
fn of_pages() -> impl Iterator<Item = Loss> {
    let kept = "<p>Invoices must be kept for ten years.</p>";
    let parts: [(&str, &str, &[&str]); 6] = [
        ("struck.html", "<p><del>Old rule.</del></p>", &["Left out as struck out: \u{ab}Old rule.\u{bb}"]),
        ("scripts.html", "<noscript><p>Letters must be kept.</p></noscript>", &["\u{ab}Letters must be kept.\u{bb}"]),
        (
            "choice.html",
            "<form><select><option selected>Two years</option><option>Letters must be kept for five years</option>\
             </select></form>",
            &["Left out as not chosen: \u{ab}Letters must be kept for five years\u{bb}"],
        ),
        (
            "picture.html",
            "<p>The time is at most <img src='formula.png'> ms.</p>",
            &["Not in the text: a picture, \u{ab}formula.png\u{bb}"],
        ),
        (
            "frame.html",
            "<iframe src='annex.html'></iframe>",
            &["a page or program within the page, \u{ab}annex.html\u{bb}"],
        ),
        ("comment.html", "<!-- Letters must be kept for five years. -->", &["Left out as a comment: \u{ab}Letters"]),
    ];
    parts
        .into_iter()
        .map(move |(name, part, said)| loss(name, format!("<h1>Records</h1>{kept}{part}").into_bytes(), said))
}

#[sqlx::test(migrations = false)]
async fn what_is_not_in_the_text_is_in_four_places(pool: PgPool) {
    let world = World::new(pool).await;
    for Loss { name, bytes, said, unread } in losses() {
        let id = world.insert(&NewJob::with_content(name, &bytes)).await;
        world.work_until_idle().await;
        let job = world.job(id).await;
        let (warnings, pages) = source(&world.pool, id).await;
        let is_said = |said: &&str| warnings.iter().any(|warning| warning.contains(said));
        assert!(said.iter().all(is_said), "{name}: {warnings:?}");
        let report = std::fs::read_to_string(world.workspace().join(format!("job_{id}/output/report.html")));
        let report = report.unwrap_or_else(|error| panic!("{name}: {error}: {job:?}"));
        let opening = opening(&world.pool, id).await;
        let reasons = without_text(&world.pool, id).await;
        let pages_of_reasons: Vec<i32> = reasons.iter().filter_map(|(page, _)| *page).collect();
        assert_eq!((&pages[..], &pages_of_reasons[..]), (unread, unread), "{name}: {warnings:?}");
        for warning in &warnings {
            let shown = warning.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('/', "&#x2f;");
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
