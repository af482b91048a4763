//! The report at the real binary: a file of the job, written in the step that ends it, and the same by command.

use plumbline_system_tests::{
    PgPool, Uuid, World, documents,
    jobs::NewJob,
    scripted::{Reply, Scripted},
};
use serde_json::json;

/// The file as the job's last step left it, and that step.
async fn stored(world: &World, id: Uuid) -> Option<(String, i64)> {
    let row: Option<(String, i64)> = sqlx::query_as(
        "SELECT convert_from(workspace_file(job_id, path), 'UTF8'), step FROM workspace_files
         WHERE job_id = $1 AND path = 'output/report.html'",
    )
    .bind(id)
    .fetch_optional(&world.pool)
    .await
    .expect("the rows can be read");
    row
}

#[sqlx::test(migrations = false)]
async fn a_job_that_ends_leaves_its_documents_with_each_quote_marked(pool: PgPool) {
    let world = World::new(pool).await;
    let id = world.insert(&NewJob::with_content("policy.pdf", &documents::sample("pdf"))).await;
    world.work_until_idle().await;
    let job = world.job(id).await;
    assert_eq!(job.status, "completed", "{job:?}");
    let (html, step) = stored(&world, id).await.expect("the job has its report");
    assert_eq!(step, job.step, "it is written in the step that ends the job");
    for page in 1..=12 {
        assert_eq!(html.matches(&format!(" id=\"page-{page}\">")).count(), 1, "page {page}");
    }
    let citations: Vec<(String, i32)> = sqlx::query_as("SELECT id, page FROM citations WHERE job_id = $1 AND verified")
        .bind(id)
        .fetch_all(&world.pool)
        .await
        .expect("the rows can be read");
    assert!(citations.len() > 50, "{}", citations.len());
    let pages: Vec<&str> = html.split("<section id=\"page-").skip(1).collect();
    for (citation, page) in &citations {
        let on_page = pages[usize::try_from(page - 1).expect("pages count from 1")];
        let mark = format!("<mark id=\"c-{citation}\">");
        assert!(on_page.contains(&mark) && html.matches(&mark).count() == 1, "{citation} on page {page}");
    }
    let requirements: Vec<String> = sqlx::query_scalar("SELECT candidate_id FROM requirement_cache WHERE job_id = $1")
        .bind(id)
        .fetch_all(&world.pool)
        .await
        .expect("the rows can be read");
    assert!(requirements.iter().all(|id| html.matches(&format!("id=\"r-{id}\"")).count() == 1));
    assert!(!html.contains("Quotes whose place is not shown") && !html.contains("Not answered"));

    let printed = world.run(&["report", &id.to_string()]).await;
    assert_eq!(printed.stdout.trim_end(), html.trim_end(), "the command says of the rows what the job left");
    let written = world.run(&["report", &id.to_string(), "report.html"]).await;
    assert_eq!(written.code, Some(0), "{written:?}");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_job_that_fails_leaves_what_it_did_not_read(pool: PgPool) {
    let world = World::new(pool).await;
    let model = Scripted::start(|_, number| {
        let passages: Vec<usize> = (1..=number).collect();
        let undelivered = json!([{"passages": passages, "document": "input/policy.md", "reason": "nobody read them"}]);
        let claim = json!({"summary": "Nothing.", "deliverables": [], "undelivered": undelivered, "confidence": 0.1});
        Reply::calls(&[("job_complete", claim)])
    })
    .await;
    world.let_rows_set(&["llm.base_url"], &[&model.base_url()]);
    let config = json!({"llm": {"base_url": model.base_url()}});
    let policy = documents::policy(1);
    let with = NewJob::with_content("policy.md", policy.markdown.as_bytes());
    let id = world.insert(&NewJob { config: Some(config.clone()), ..with }).await;
    let without = world.insert(&NewJob { config: Some(config), ..NewJob::default() }).await;
    world.work_until_idle().await;
    assert_eq!(world.job(id).await.status, "failed");
    let (html, _) = stored(&world, id).await.expect("the job has its report");
    assert!(html.contains("not read to its end") && html.contains("id=\"page-1\""), "{html}");
    let not_cited = policy.sentences.iter().filter(|sentence| html.contains(&format!("Not cited: {sentence}")));
    assert_eq!(not_cited.count(), policy.sentences.len(), "{html}");
    assert_eq!(world.job(without).await.status, "failed");
    assert_eq!(stored(&world, without).await, None, "a job without documents has nothing to show");
    let printed = world.run(&["report", &without.to_string()]).await;
    assert!(printed.stdout.contains("The job has no documents."), "{printed:?}");
    world.finish().await;
}
