//! The dashboard, read without JavaScript.

use crate::client::{Answer, get, worker};
use plumbline_system_tests::{PgPool, Uuid, World, documents, jobs::NewJob};

async fn page(address: std::net::SocketAddr, path: &str) -> Answer {
    let answer = get(address, path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    assert!(answer.body.contains("<main id=\"main\"") && answer.body.contains("lang=\"en\""), "{path}");
    answer
}

#[sqlx::test(migrations = "../migrations")]
async fn every_page_of_a_finished_job_says_what_the_rows_say(pool: PgPool) {
    let world = World::new(pool).await;
    let pdf = documents::sample("pdf");
    let job = world.insert(&NewJob::with_content("record-keeping-policy.pdf", &pdf)).await;
    let (program, address) = worker(&world).await;
    let row = world.becomes(job, "completed").await;
    let base = format!("/jobs/{job}");

    let overview = page(address, &base).await.body;
    assert!(
        overview.contains("<svg") && overview.contains("role=\"img\"") && overview.contains("<caption"),
        "{overview}"
    );
    assert!(overview.contains("output&#x2f;requirements.md"), "{overview}");
    let timeline = page(address, &format!("{base}/timeline")).await.body;
    assert!(timeline.contains(&format!("id=\"step-{}\"", row.step)) && timeline.contains("job_complete"), "{timeline}");
    let earlier = page(address, &format!("{base}/timeline?before=3")).await.body;
    assert!(earlier.contains("id=\"step-2\"") && !earlier.contains("id=\"step-3\""), "{earlier}");
    let plan = page(address, &format!("{base}/plan")).await.body;
    assert!(plan.contains("todo-completed") && plan.contains("Phase 1"), "{plan}");
    let files = page(address, &format!("{base}/files")).await.body;
    assert!(files.contains("main_plan.md") && files.contains("input&#x2f;record-keeping-policy.pdf"), "{files}");
    let file = page(address, &format!("{base}/file?path=main_plan.md")).await.body;
    assert!(file.contains("<h3>Plan"), "{file}");
    let binary = page(address, &format!("{base}/file?path=input/record-keeping-policy.pdf")).await.body;
    assert!(binary.contains("This is no text"), "{binary}");
    let raw = get(address, &format!("{base}/raw?path=input/record-keeping-policy.pdf")).await;
    assert_eq!(raw.header("content-type"), Some("application/octet-stream"));
    assert_eq!(raw.header("content-length"), Some(pdf.len().to_string().as_str()));
    assert!(raw.header("content-disposition").is_some_and(|how| how.starts_with("attachment")), "{}", raw.head);
    let missing = get(address, &format!("{base}/file?path=none.md")).await;
    assert_eq!(missing.status, 404);
    program.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn tables_of_markdown_files_are_tables(pool: PgPool) {
    let world = World::new(pool).await;
    let text =
        "# Differences\n\n| clause | what <b> |\n|---|---|\n| 7.2 | *liability* & more |\n\nNothing else differs.\n";
    let job = world.insert(&NewJob::with_content("differences.md", text.as_bytes())).await;
    let (program, address) = worker(&world).await;
    world.becomes(job, "completed").await;
    let shown = page(address, &format!("/jobs/{job}/file?path=input/differences.md")).await.body;
    for part in [
        "<th scope=\"col\">what &lt;b&gt;</th>",
        "<td>7.2</td><td><em>liability</em> &amp; more</td>",
        "<h3>Differences</h3>",
        "Nothing else differs.",
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    assert!(!shown.contains("|---|"), "{shown}");
    program.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn every_quote_is_marked_in_the_page_it_is_from(pool: PgPool) {
    let world = World::new(pool).await;
    let pdf = documents::sample("pdf");
    let job = world.insert(&NewJob::with_content("record-keeping-policy.pdf", &pdf)).await;
    let (program, address) = worker(&world).await;
    world.becomes(job, "completed").await;
    let found: Vec<Uuid> = sqlx::query_scalar("SELECT id FROM requirement_cache WHERE job_id = $1 ORDER BY id")
        .bind(job)
        .fetch_all(&world.pool)
        .await
        .expect("requirements can be listed");
    assert!(found.len() > 100);
    let first = page(address, &format!("/jobs/{job}/requirements")).await.body;
    assert!(first.contains(&found[0].to_string()) && first.contains(&format!("after={}", found[24])), "{first}");
    for id in found {
        let shown = page(address, &format!("/jobs/{job}/requirements/{id}")).await.body;
        assert!(shown.contains("<mark id=\"quote-1\">"), "no mark for {id}: {shown}");
    }
    let none = get(address, &format!("/jobs/{job}/requirements/{}", Uuid::nil())).await;
    assert_eq!(none.status, 404);
    program.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = "../migrations")]
async fn text_of_a_job_never_becomes_markup(pool: PgPool) {
    const EVIL: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'\u{1b}[2J\u{202e}fdp.";
    let world = World::new(pool).await;
    let job: Uuid = sqlx::query_scalar(
        "INSERT INTO jobs (prompt, job_type, status, status_reason) VALUES ($1, $1, 'paused', $1) RETURNING id",
    )
    .bind(EVIL)
    .fetch_one(&world.pool)
    .await
    .expect("a job can be inserted");
    for statement in [
        "INSERT INTO phases (job_id, phase_number, kind, name, opened_step) VALUES ($1, 1, 'tactical', $2, 0)",
        "INSERT INTO todos (job_id, phase_number, position, content, notes, created_step) VALUES ($1, 1, 1, $2, $2, 0)",
        "INSERT INTO checkpoints (job_id, step, phase_number, state, lease_epoch) VALUES ($1, 1, 1, '{}', 1)",
        "INSERT INTO messages (job_id, seq, step, phase_number, role, kind, content, tokens) VALUES ($1, 1, 1, 1, 'assistant', 'reply', $2, 1)",
        "INSERT INTO messages (job_id, seq, step, phase_number, role, kind, content, tool_calls, tokens)
         VALUES ($1, 2, 1, 1, 'assistant', 'reply', '', json_build_array(json_build_object('id', $2, 'name', $2, 'arguments', $2)), 1)",
        "INSERT INTO blobs (job_id, sha256, content) VALUES ($1, sha256($2::text::bytea), $2::text::bytea)",
        "INSERT INTO file_versions (job_id, path, step, sha256, size, placeholder) VALUES ($1, $2, 1, sha256($2::text::bytea), 1, false)",
        "INSERT INTO requirement_cache (job_id, text, name, citations) VALUES ($1, $2, $2, jsonb_build_array(jsonb_build_object('source', $2, 'quote', $2)))",
        "UPDATE jobs SET phase_number = 1, phase = 'tactical', phase_name = $2, todos_total = 1, current_todo = $2 WHERE id = $1",
    ] {
        sqlx::query(statement).bind(job).bind(EVIL).execute(&world.pool).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    let (program, address) = worker(&world).await;
    for path in [
        "/".into(),
        format!("/jobs/{job}"),
        format!("/jobs/{job}/timeline"),
        format!("/jobs/{job}/plan"),
        format!("/jobs/{job}/files"),
        format!("/jobs/{job}/requirements"),
    ] {
        let shown = page(address, &path).await.body;
        assert!(
            shown.contains("&lt;script&gt;") && !shown.contains("<script>") && !shown.contains("<img"),
            "{path}: {shown}"
        );
        assert!(
            !shown.contains(['\u{1b}', '\u{202e}']),
            "{path} has what a program obeys and does not show: {shown:?}"
        );
    }
    program.stop().await;
    // These rows were never a job's, and no invariant holds of them.
    sqlx::query("DELETE FROM jobs").execute(&world.pool).await.expect("a job can be deleted");
    world.finish().await;
}
