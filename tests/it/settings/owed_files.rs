//! Deliverables, with the real binary: files that exist, satisfy their schemas, and quote the documents.

use crate::settings::own_types::{job, job_types, run, working_files};
use plumbline_system_tests::{
    PgPool, Uuid, World,
    scripted::{Reply, Scripted, reads},
};
use serde_json::{Value, json};

/// A deliverable must exist, be JSON that satisfies its schema, and its quotes must occur in the documents before a job
/// completes; the model reads the errors, and the result lists the file whether or not the model names it.
#[sqlx::test(migrations = false)]
async fn deliverables_are_checked_before_a_job_is_complete(pool: PgPool) {
    let world = World::new(pool).await;
    let write = |path: &str, content: &str| ("write_file", json!({"path": path, "content": content}));
    let complete =
        ("job_complete", json!({"summary": "Done.", "deliverables": ["output/answers.md"], "confidence": 1}));
    let tries = vec![
        vec![complete.clone()],
        vec![write("output/answers.json", "{\"answers\": 5"), complete.clone()],
        vec![write("output/answers.json", "{\"answers\": 5}"), complete.clone()],
        vec![write("output/answers.json", "{\"answers\": [\"ten years\"]}"), complete.clone()],
        vec![write("output/answers.md", "It says that invoices must be kept for ten years."), complete.clone()],
        vec![write("output/answers.md", "It says \"Invoices must be kept for two years.\" twice."), complete.clone()],
        vec![write("output/answers.md", "It says \"Invoices must be kept for ten years.\" once."), complete],
    ];
    let replies = tries.clone();
    let model = Scripted::start(move |_, number| match number {
        1 => reads(),
        2 => Reply::calls(
            &[("extract_document_text", json!({"file_path": "input/policy.md"}))]
                .into_iter()
                .chain(working_files(5))
                .chain(std::iter::repeat_n(("todo_complete", json!({})), 5))
                .collect::<Vec<_>>(),
        ),
        _ => Reply::calls(&replies[(number - 3).min(replies.len() - 1)]),
    })
    .await;
    let schema = json!({"type": "object", "properties": {"answers": {"type": "array"}}, "required": ["answers"]});
    let dir = job_types(
        &world,
        &[(
            "answers",
            json!({
                "llm": {"base_url": model.base_url()},
                "coverage": "off",
                "deliverables": ["output/answers.md", {"path": "output/answers.json", "json_schema": schema},
                                 {"path": "output/extra.json", "required": false}],
                "citations_required": ["output/answers.md"],
            }),
        )],
    );
    let id = world.insert(&job("answers", None)).await;
    assert_eq!(run(&world, &dir, &["worker", "--until-idle"]).await.code, Some(0));
    let row = world.job(id).await;
    let said = || model.seen().iter().map(|request| request.new_results().join(" | ")).collect::<Vec<_>>();
    assert_eq!(row.status, "completed", "{row:?} {:#?}", said());
    let result = row.result.unwrap_or_default();
    assert_eq!(result["deliverables"], json!(["output/answers.md", "output/answers.json"]));
    for key in ["quotes_checked", "documents", "documents_extracted"] {
        assert_eq!(result["counts"][key], 1, "{key}: {result}");
    }
    let shown = run(&world, &dir, &["status", &id.to_string()]).await.stdout;
    assert!(shown.contains("\nchecked   1 quote found in the documents\n"), "{shown}");
    assert!(shown.contains("\ncounts    0 requirements"), "{shown}");
    let seen = model.seen();
    assert_eq!(seen.len(), 2 + tries.len(), "each try was refused once, and the last one taken");
    let refusals: Vec<&str> = seen.iter().skip(3).filter_map(|request| request.new_results().last().copied()).collect();
    let words = [
        "output/answers.json does not exist",
        "output/answers.json is no JSON",
        "does not meet its JSON Schema at `/answers`",
        "output/answers.md does not exist",
        "output/answers.md holds no quote that could be looked up: 3 words or more count",
        "quotes \"Invoices must be kept for two years.\", which occurs in no document",
    ];
    assert_eq!(refusals.len(), words.len(), "{refusals:?}");
    for (refusal, words) in refusals.iter().zip(words) {
        assert!(refusal.contains(words) && refusal.starts_with("Error: the job is not complete"), "{words}: {refusal}");
    }
    let system = seen[0].texts().next().unwrap_or_default().to_owned();
    assert!(system.contains("## What this job owes") && system.contains("output/answers.json"), "{system}");
    world.finish().await;
}

/// A job that failed because of its deliverables is retried: the model reads the reason, has a todo, and delivers. An
/// existing file is not also listed as undelivered.
#[sqlx::test(migrations = false)]
async fn a_job_that_owed_a_file_delivers_it_after_a_retry(pool: PgPool) {
    let world = World::new(pool).await;
    let complete = |deliverables: &[&str], undelivered: &[&str]| {
        let claim =
            json!({"summary": "Done.", "deliverables": deliverables, "undelivered": undelivered, "confidence": 1});
        ("job_complete", claim)
    };
    let missing = "output/answers.md: the policy says nothing of it";
    let contradicts = complete(&["output/answers.md"], &[missing]);
    let (gives_up, delivers) = (complete(&[], &[missing]), complete(&[], &[]));
    let write = ("write_file", json!({"path": "output/answers.md", "content": "Invoices must be kept for ten years."}));
    let extract = ("extract_document_text", json!({"file_path": "input/policy.md"}));
    let model = Scripted::start(move |_, number| match number {
        1 => reads(),
        2 => Reply::calls(
            &[extract.clone()]
                .into_iter()
                .chain(working_files(5))
                .chain(std::iter::repeat_n(("todo_complete", json!({})), 5))
                .collect::<Vec<_>>(),
        ),
        3 => Reply::calls(std::slice::from_ref(&gives_up)),
        4 => Reply::calls(&[
            ("read_file", json!({"path": "chunks/policy.md"})),
            ("todo_complete", json!({"notes": "It does say something."})),
        ]),
        5 => Reply::calls(&[write.clone(), contradicts.clone()]),
        _ => Reply::calls(std::slice::from_ref(&delivers)),
    })
    .await;
    let keys = json!({"llm": {"base_url": model.base_url()}, "coverage": "off", "deliverables": ["output/answers.md"]});
    let dir = job_types(&world, &[("answers", keys)]);
    let id = world.insert(&job("answers", None)).await;
    let works = async || assert_eq!(run(&world, &dir, &["worker", "--until-idle"]).await.code, Some(0));
    works().await;
    let row = world.job(id).await;
    let why = row.error.clone().unwrap_or_default();
    assert_eq!((row.status.as_str(), model.seen().len()), ("failed", 3), "{row:?}");
    assert!(why.starts_with("output/answers.md was owed and not delivered: "), "{why}");

    assert_eq!(run(&world, &dir, &["retry", &id.to_string()]).await.code, Some(0));
    works().await;
    let row = world.job(id).await;
    assert_eq!(row.status, "completed", "{row:?}");
    let result = row.result.unwrap_or_default();
    assert_eq!((&result["deliverables"], &result["undelivered"]), (&json!(["output/answers.md"]), &json!([])));
    let seen = model.seen();
    let asked: String = seen[3].texts().collect::<Vec<_>>().join("\n");
    assert!(
        asked.contains("has been told to go on") && asked.contains(&format!("Why it had failed: {why}")),
        "{asked}"
    );
    let list = asked.rsplit("ACTIVE TODO LIST").next().unwrap_or_default();
    assert!(list.contains("← CURRENT") && list.contains("Complete task 1, then call"), "{list}");
    let results = |at: usize| seen[at].new_results().join(" | ");
    assert!(results(4).contains("Task 1 ") && !results(4).contains("Error"), "{}", results(4));
    assert!(results(5).contains("output/answers.md is there and counts as delivered"), "{}", results(5));
    world.finish().await;
}

/// A document that a job's own row lists in `no_sources`, which its type opens, cannot be quoted; and the first request
/// shows the job's documents.
#[sqlx::test(migrations = false)]
async fn nothing_is_quoted_from_a_document_that_is_no_source(pool: PgPool) {
    let world = World::new(pool).await;
    std::fs::create_dir_all(world.workspace().join("import/both")).expect("the import folder can be written");
    world.import("both/policy.md", "# Records\n\nInvoices must be kept for ten years.\n");
    world.import("both/questions.md", "# Questions\n\nFor how long must invoices be kept?\n");
    let write =
        |quote: &str| ("write_file", json!({"path": "output/answers.md", "content": format!("It says \"{quote}\".")}));
    let complete = ("job_complete", json!({"summary": "Done.", "deliverables": [], "confidence": 1}));
    let tries = [write("For how long must invoices be kept?"), write("Invoices must be kept for ten years.")];
    let model = Scripted::start(move |_, number| match number {
        1 => reads(),
        2 => {
            let extract = |file: &str| ("extract_document_text", json!({"file_path": file}));
            let mut calls = vec![extract("input/policy.md"), extract("input/questions.md")];
            calls.extend(working_files(5));
            calls.extend(std::iter::repeat_n(("todo_complete", json!({})), 5));
            Reply::calls(&calls)
        }
        3 => Reply::calls(&[tries[0].clone(), complete.clone()]),
        _ => Reply::calls(&[tries[1].clone(), complete.clone()]),
    })
    .await;
    let keys = json!({"llm": {"base_url": model.base_url()}, "coverage": "off", "deliverables": ["output/answers.md"],
                      "citations_required": ["output/answers.md"], "job_may_set": ["no_sources"]});
    let dir = job_types(&world, &[("answers", keys)]);
    let id: Uuid = sqlx::query_scalar(
        "INSERT INTO jobs (job_type, prompt, document_path, context, config)
         VALUES ('answers', 'Answer the questions', 'both', '{\"client\": \"ACME\"}',
                 '{\"no_sources\": [\"questions.md\"], \"on_complete\": {\"enqueue\": null}}')
         RETURNING id",
    )
    .fetch_one(&world.pool)
    .await
    .expect("a job can be inserted");
    assert_eq!(run(&world, &dir, &["worker", "--until-idle"]).await.code, Some(0));
    let row = world.job(id).await;
    assert_eq!(row.status, "completed", "{row:?}");
    let counts = &row.result.unwrap_or_default()["counts"];
    for key in ["quotes_checked", "documents", "documents_extracted", "phases_done"] {
        assert_eq!(counts[key], 1, "{key}: {counts}");
    }
    assert_eq!(counts["files"], 2, "the model's and the report: {counts}");
    let seen = model.seen();
    let first = seen[0].texts().collect::<Vec<_>>().join("\n");
    for words in ["### input/context.json", "\"client\": \"ACME\"", "These documents are no sources", "`questions.md`"]
    {
        assert!(first.contains(words), "{words}: {first}");
    }
    let refused = seen[3].new_results().join(" | ");
    assert!(
        refused.contains(
            "quotes \"For how long must invoices be kept?\", which stands only in input/questions.md, which is no source"
        ),
        "{refused}"
    );
    world.finish().await;
}

/// A row may require more, not less.
#[sqlx::test(migrations = false)]
async fn a_row_adds_to_what_is_owed_and_takes_nothing_away(pool: PgPool) {
    let world = World::new(pool).await;
    let owed = json!({"deliverables": ["output/requirements.md"], "citations_required": ["output/requirements.md"]});
    let dir = job_types(&world, &[("owing", owed)]);
    let with = |deliverables: Value| job("owing", Some(json!({"deliverables": deliverables})));
    let less = world.insert(&with(json!([]))).await;
    let other = world.insert(&with(json!([{"path": "output/requirements.md", "required": false}]))).await;
    let quotes = world.insert(&job("owing", Some(json!({"citations_required": null})))).await;
    let more = world.insert(&with(json!(["output/requirements.md", "output/summary_report.md"]))).await;
    assert_eq!(run(&world, &dir, &["worker", "--until-idle"]).await.code, Some(0));
    for (id, key) in [(less, "deliverables"), (other, "deliverables"), (quotes, "citations_required")] {
        let row = world.job(id).await;
        let details = row.details.unwrap_or_default();
        assert_eq!((row.status.as_str(), row.requests, &details["key"]), ("failed", 0, &json!(key)), "{:?}", row.error);
        assert!(row.error.unwrap_or_default().contains("`output/requirements.md` is missing or asked less of"));
    }
    let row = world.job(more).await;
    assert_eq!(row.status, "completed", "{row:?}");
    world.finish().await;
}
