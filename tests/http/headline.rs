//! The headline of a job: the same in each place, before the model's own words.

use crate::client::{get, worker};
use plumbline_system_tests::{PgPool, Program, World, documents, jobs::NewJob, program};
use serde_json::{Value, json};

/// A page and the API say how much of its budget a job has cost.
#[sqlx::test(migrations = "../migrations")]
async fn cost_is_shown_of_its_budget(pool: PgPool) {
    let world = World::new(pool).await;
    let job = world.insert(&NewJob::with_content("policy.md", documents::policy(1).markdown.as_bytes())).await;
    let (program, address) = worker(&world).await;
    world.becomes(job, "completed").await;
    let (page, api) = (format!("/jobs/{job}"), format!("/api/jobs/{job}"));
    assert!(!get(address, &page).await.body.contains(" USD"), "there is no budget");
    let paid = "UPDATE jobs SET cost_usd = 0.29, raised_limits = '{\"cost_budget_usd\": 1}' WHERE id = $1";
    sqlx::query(paid).bind(job).execute(&world.pool).await.expect("the row can be changed");
    let shown = get(address, &page).await.body;
    assert!(shown.contains("<dd>0.29 of 1 USD "), "{shown}");
    let shown: Value = serde_json::from_str(&get(address, &api).await.body).expect("it is JSON");
    assert_eq!((&shown["cost_usd"], &shown["cost_budget_usd"]), (&json!(0.29), &json!(1.0)));
    program.stop().await;
    world.finish().await;
}

/// Where in a text the sentence and the words are.
fn order(place: &str, text: &str, headline: &str, said: &str) {
    let first = text.find(headline).unwrap_or_else(|| panic!("{place} does not say {headline:?}: {text}"));
    if let Some(words) = text.find(said) {
        assert!(first < words, "{place} has the model's words first: {text}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn six_places_say_it_before_the_models_words(pool: PgPool) {
    let world = World::new(pool).await;
    let job = world.insert(&NewJob::with_content("record-keeping-policy.pdf", &documents::sample("pdf"))).await;
    let (program, address) = worker(&world).await;
    let row = world.becomes(job, "completed").await;
    let result = row.result.expect("a completed job has a result");
    let headline = result["headline"].as_str().expect("a headline").to_owned();
    let said = result["summary"].as_str().expect("a summary").chars().take(40).collect::<String>();
    let count = |name: &str| result["counts"][name].as_i64().unwrap_or_else(|| panic!("no {name} in {result}"));
    let beginning = format!(
        "{} requirements for {} of {} candidate sentences",
        count("requirements"),
        count("candidates_cited"),
        count("candidates")
    );
    assert!(headline.contains(&beginning), "{headline} is not {beginning}");
    assert!(headline.contains(&format!("{} of {} sentences quoted", count("sentences_quoted"), count("sentences"))));

    let id = job.to_string();
    for command in [vec!["status", &id], vec!["watch", &id]] {
        let ended = world.run(&command).await;
        order(command[0], &ended.stdout, &headline, &said);
    }
    let page = get(address, &format!("/jobs/{job}")).await.body;
    order("the dashboard", &page, &headline, &said);
    assert!(page.contains("The model's words:"), "{page}");
    let report: String = sqlx::query_scalar("SELECT convert_from(workspace_file($1, 'output/report.html'), 'UTF8')")
        .bind(job)
        .fetch_one(&world.pool)
        .await
        .expect("the job has its report");
    order("the report", &report, &headline, &said);
    let summary: Option<String> = sqlx::query_scalar("SELECT headline FROM job_summary WHERE id = $1")
        .bind(job)
        .fetch_one(&world.pool)
        .await
        .expect("the view has the job");
    assert_eq!(summary.as_deref(), Some(headline.as_str()));

    // The same document and the same model.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = program::command(&["dev"]);
    command.current_dir(folder.path());
    let ended = Program::start(command, folder.path()).ended().await;
    order("dev", &ended.stdout, &headline, &said);
    program.stop().await;
    world.finish().await;
}
