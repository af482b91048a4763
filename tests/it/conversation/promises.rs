//! Guarantees about conversation and phases, with the real binary: with a scripted model, and with the rehearsal model
//! in windows that are too small.

use plumbline_system_tests::{
    PgPool, Uuid, World, documents,
    jobs::{Job, NewJob},
    scripted::{Reply, Request, Scripted},
};
use serde_json::{Value, json};
use sqlx::postgres::PgListener;

/// A plan with this many phases and no ticked step.
fn plan(phases: usize) -> (&'static str, Value) {
    let sections: String = (1..=phases).map(|n| format!("\n## Phase {n}: Part {n}\n- [ ] section {n}\n")).collect();
    ("write_plan", json!({"content": format!("# Plan\n{sections}")}))
}

/// Five todos of a name.
pub(crate) fn todos(name: &str) -> (&'static str, Value) {
    let todos: Vec<Value> = (1..=5).map(|id| json!({"id": id, "content": format!("{name}, part {id}")})).collect();
    ("todo_write", json!({"phase": name, "description": "x", "todos": todos}))
}

pub(crate) fn closing(count: usize) -> impl Iterator<Item = (&'static str, Value)> {
    (0..count).map(|_| ("todo_complete", json!({})))
}

/// The turn that closes todos after reading as many texts, which is evidence for each of them and has no other effect.
fn looks_and_closes(count: usize) -> Reply {
    let texts = ["workspace.md", "main_plan.md", "todos.yaml", "progress.md", "instructions.md"];
    let looks = texts.into_iter().take(count).map(|path| ("read_file", json!({"path": path})));
    Reply::calls(&looks.chain(closing(count)).collect::<Vec<_>>())
}

/// A line in the memory of the job.
fn note(text: &str) -> (&'static str, Value) {
    ("write_file", json!({"path": "workspace.md", "content": format!("- {text}\n"), "append": true}))
}

/// The turn that plans `phases` phases and opens the first.
pub(crate) fn opens(phases: usize, name: &str) -> Reply {
    Reply::calls(
        &[note("Invoices matter."), plan(phases), todos(name)].into_iter().chain(closing(4)).collect::<Vec<_>>(),
    )
}

/// The turn that opens a further phase.
pub(crate) fn goes_on(name: &str) -> Reply {
    let notes = ["the phase is done", "the next one begins"].map(|text| note(&format!("{name}: {text}")));
    Reply::calls(&notes.into_iter().chain([todos(name)]).chain(closing(4)).collect::<Vec<_>>())
}

/// The turn that does a phase: a file for each todo, and every todo closed.
pub(crate) fn does(name: &str) -> Reply {
    let files =
        (1..=5).map(|part| if part == 1 { format!("output/{name}.md") } else { format!("work/{name}_{part}.md") });
    let work =
        files.map(|path| ("write_file", json!({"path": path, "content": "Invoices must be kept for ten years."})));
    Reply::calls(&work.chain(closing(5)).collect::<Vec<_>>())
}

pub(crate) fn completes() -> Reply {
    let file = ("write_file", json!({"path": "output/end.md", "content": "Invoices must be kept for ten years."}));
    let end = json!({"summary": "Done.", "deliverables": ["output/end.md"], "confidence": 0.5});
    Reply::calls(&[file, ("job_complete", end)])
}

/// Runs a job without documents by a script, to its end.
async fn by_script(
    world: &World,
    config: Value,
    answers: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static,
) -> (Job, Uuid, Vec<Request>) {
    let model = Scripted::start(answers).await;
    let job = world.insert(&NewJob { prompt: "Note what holds", config: Some(config), ..NewJob::default() }).await;
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env("OPENAI_BASE_URL", model.base_url());
    let ended = world.start(command).ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    (world.job(job).await, job, model.seen())
}

/// A record whose quote is nowhere: refused.
fn record(n: usize) -> (&'static str, Value) {
    let citation = json!({"source": "input/none.pdf", "page": 1, "quote": "Invoices must be kept for ten years."});
    let arguments = json!({
        "text": format!("Invoices of kind {n} must be kept for ten years."), "name": format!("Kind {n}"),
        "type": "compliance", "priority": "high", "source_document": "input/none.pdf", "source_location": {"page": 1},
        "citations": [citation], "confidence": 0.9});
    ("add_requirement", arguments)
}

#[sqlx::test(migrations = false)]
async fn every_result_is_shown_once(pool: PgPool) {
    let world = World::new(pool).await;
    let config = json!({"limits": {"context_threshold_tokens": 30_000, "keep_recent_tool_results": 2}});
    let (job, _, seen) = by_script(&world, config, |_, number| match number {
        1 => opens(1, "Reading"),
        2 => {
            let text = "Invoices must be kept for ten years.\n".repeat(600);
            Reply::calls(&[("write_file", json!({"path": "notes/rules.md", "content": text}))])
        }
        // Some 2,000 tokens each, and never the same.
        3..=9 => {
            let read = json!({"path": "notes/rules.md", "offset": number * 10, "limit": 200});
            Reply::calls(&[("read_file", read)])
        }
        10 => {
            let kept = (0..10).map(|n| ("add_note", json!({"text": format!("note {n}")})));
            Reply::calls(&(0..2).map(record).chain(kept).collect::<Vec<_>>())
        }
        11 => looks_and_closes(5),
        _ => completes(),
    })
    .await;
    assert_eq!(job.status, "completed", "{job:?}");
    for request in &seen {
        let unread = request.new_results();
        assert!(unread.iter().all(|result| !result.starts_with("[result cleared")), "{unread:?}");
    }
    let results = seen[10].new_results();
    assert_eq!(results.len(), 12);
    assert!(results[..2].iter().all(|result| result.starts_with("Error: ")), "{results:?}");
    let cleared: Vec<&str> = seen[10].texts().filter(|text| text.starts_with("[result cleared")).collect();
    let of_a_read = "[result cleared to save space: read it again if it is needed: notes/rules.md, lines 30 to 229]";
    assert!(cleared.contains(&of_a_read), "older ones make room and say how to read them again: {cleared:?}");
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn the_whole_calls_of_a_cut_answer_are_carried_out(pool: PgPool) {
    let world = World::new(pool).await;
    let (job, id, seen) = by_script(&world, json!({}), |_, number| match number {
        1 => opens(1, "Writing"),
        2 => {
            let file =
                |n| ("write_file", json!({"path": format!("output/{n}.md"), "content": "Invoices must be kept."}));
            Reply::cut_off(
                &(1..=28).map(file).collect::<Vec<_>>(),
                ("write_file", "{\"path\": \"output/29.md\", \"content\": \"Inv"),
            )
        }
        3 => looks_and_closes(5),
        _ => completes(),
    })
    .await;
    assert_eq!(job.status, "completed", "{job:?}");
    let written = "SELECT count(*) FROM workspace_files WHERE job_id = $1 AND path ~ '^output/[0-9]+.md$'";
    let written: i64 = sqlx::query_scalar(written).bind(id).fetch_one(&world.pool).await.expect("files can be counted");
    assert_eq!(written, 28);
    let results = seen[2].new_results();
    let errors: Vec<&&str> = results.iter().filter(|result| result.starts_with("Error:")).collect();
    assert_eq!((results.len(), errors.len()), (29, 1), "{results:?}");
    let said =
        "Error: Your answer was cut off at the limit of 8192 tokens; the 28 calls before this one were carried out";
    assert!(errors[0].starts_with(said) && errors[0].contains("may now hold 16384 tokens"), "{errors:?}");
    assert!(seen[2].texts().all(|text| !text.contains("\"Inv")), "the torn words are gone");
    let system = seen[1].texts().next().unwrap_or_default();
    assert!(system.contains("An answer holds 8192 tokens at most: some 136 records"), "{system}");
    world.finish().await;
}

/// A plan of three phases with every box open, and the second phase abandoned once.
#[sqlx::test(migrations = false)]
async fn a_rewound_phase_does_not_end_the_plan(pool: PgPool) {
    let world = World::new(pool).await;
    let (job, id, seen) = by_script(&world, json!({}), |_, number| match number {
        1 => opens(3, "One"),
        2 => does("one"),
        3 => goes_on("Two"),
        4 => Reply::calls(&[("todo_rewind", json!({"issue": "the annex was missing"}))]),
        5 => Reply::calls(
            &[note("The annex is there."), todos("Two again")].into_iter().chain(closing(3)).collect::<Vec<_>>(),
        ),
        6 => does("two"),
        7 => goes_on("Three"),
        8 => does("three"),
        _ => completes(),
    })
    .await;
    assert_eq!(job.status, "completed", "{job:?}");
    for (request, number) in seen.iter().zip(1..) {
        let too_early = request.texts().any(|text| text.contains("Every phase of the plan is done"));
        assert!(!too_early, "request {number}: no box is ticked");
    }
    assert!(seen[6].is_strategic() && seen[6].texts().all(|text| !text.contains("steps are not ticked")));
    let named =
        seen[8].texts().any(|text| text.contains("3 of its steps are not ticked") && text.contains("- section 2"));
    assert!(named, "what is open is named at the end");
    let outcomes: Vec<Option<String>> =
        sqlx::query_scalar("SELECT outcome FROM phases WHERE job_id = $1 AND kind = 'tactical' ORDER BY phase_number")
            .bind(id)
            .fetch_all(&world.pool)
            .await
            .expect("phases can be read");
    assert_eq!(
        outcomes.iter().flatten().map(String::as_str).collect::<Vec<_>>(),
        ["completed", "rewound", "completed", "completed"]
    );
    world.finish().await;
}

/// 199 phases were planned, and their todos closed without any work.
#[sqlx::test(migrations = false)]
async fn phases_without_results_end_the_job(pool: PgPool) {
    let world = World::new(pool).await;
    let script = |request: &Request, number: usize| match (request.is_strategic(), number) {
        (true, 1) => opens(199, "Phase 1"),
        (true, number) => goes_on(&format!("Phase {number}")),
        (false, _) => looks_and_closes(5),
    };
    let (job, _, seen) = by_script(&world, json!({}), script).await;
    // In the second phase the texts are known: the first closing is refused once.
    assert_eq!((job.status.as_str(), seen.len()), ("failed", 5), "{job:?}");
    assert_eq!(job.details.expect("details")["kind"], "no_progress");
    assert!(seen[2].texts().any(|text| text.contains("In phase 2 nothing was written or recorded")));
    let (job, ..) = by_script(&world, json!({"autonomy": "review"}), script).await;
    assert_eq!(job.status, "review", "{job:?}");
    assert!(job.reason.expect("a reason").contains("nothing written or recorded"));
    world.finish().await;
}

/// The sample in windows that are too small for two of its chunks and their findings.
#[sqlx::test(migrations = false)]
async fn a_window_that_is_too_small_is_named_within_sixty_requests(pool: PgPool) {
    let world = World::new(pool).await;
    let sample = documents::sample("pdf");
    for (threshold, result) in [(8_192, 8_000), (8_192, 6_000), (12_000, 8_000), (16_000, 8_000)] {
        let limits = json!({"context_threshold_tokens": threshold, "max_tool_result_tokens": result});
        let config = Some(json!({"limits": limits}));
        let new = NewJob { config, ..NewJob::with_content("policy.pdf", &sample) };
        let job = world.insert(&new).await;
        world.work_until_idle().await;
        let job = world.job(job).await;
        println!("{threshold}: {} after {} requests: {:?}", job.status, job.requests, job.error);
        match job.status.as_str() {
            "completed" => assert!(job.requests <= 120, "{job:?}"),
            _ => {
                let error = job.error.unwrap_or_default();
                assert!(job.requests <= 60 && error.contains(&format!("the context of {threshold} tokens")), "{error}");
            }
        }
    }
    world.finish().await;
}

/// The id is a row's key, for other tables and for ON CONFLICT; and listeners are notified of new rows.
#[sqlx::test(migrations = false)]
async fn requirements_have_one_key_and_are_announced(pool: PgPool) {
    let world = World::new(pool).await;
    let mut listener = PgListener::connect_with(&world.pool).await.expect("the database can be listened to");
    listener.listen("plumbline_requirements").await.expect("a channel can be listened to");
    let policy = documents::policy(1);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.work_until_idle().await;
    let mut told = 0;
    while told < policy.sentences.len() as u64 {
        let heard: Value = serde_json::from_str(listener.recv().await.expect("a word").payload()).expect("JSON");
        assert_eq!(heard["job_id"], job.to_string());
        told += heard["count"].as_u64().expect("a count");
    }
    for statement in [
        "CREATE TABLE mine (requirement uuid REFERENCES requirement_cache (id))",
        "INSERT INTO mine SELECT id FROM requirement_cache",
        "INSERT INTO requirement_cache (id, job_id, text)
         SELECT id, job_id, 'The same row once more.' FROM requirement_cache ON CONFLICT (id) DO NOTHING",
    ] {
        sqlx::query(statement).execute(&world.pool).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    sqlx::query("DROP TABLE mine").execute(&world.pool).await.expect("a table can be dropped");
    world.finish().await;
}

/// A row of another producer, whose quote is in no available document.
#[sqlx::test(migrations = false)]
async fn a_row_of_another_producer_is_judged_on_what_it_has(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(1);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.work_until_idle().await;
    let insert = "INSERT INTO requirement_cache (job_id, text, name, type, priority, citations)
                  VALUES ($1, 'Suppliers must be told of a change within two weeks.', 'Notice to suppliers', 'compliance', 'high',
                          '[{\"source\": \"contract.pdf\", \"quote\": \"told of a change within two weeks\"}]')";
    sqlx::query(insert).bind(job).execute(&world.pool).await.expect("anybody may insert rows");
    let validator = "INSERT INTO jobs (job_type, prompt, context) VALUES ('validator', 'Check', jsonb_build_object('parent_job_id', $1))";
    sqlx::query(validator).bind(job).execute(&world.pool).await.expect("a validator can be enqueued");
    world.work_until_idle().await;
    let judged = "SELECT status, validation_result FROM requirement_cache WHERE job_id = $1 AND step IS NULL";
    let (status, result): (String, Value) =
        sqlx::query_as(judged).bind(job).fetch_one(&world.pool).await.expect("the row can be read");
    assert_eq!((status.as_str(), &result["integration"]), ("pending", &json!("switched off")), "{result}");
    let remarks = result["checks"]["remarks"].as_array().expect("remarks");
    assert!(
        remarks.iter().any(|remark| remark == "none of its 1 citations was verified against its source"),
        "{result}"
    );
    world.finish().await;
}

/// A job without records has no follow-up job, and one with records has one.
#[sqlx::test(migrations = false)]
async fn no_validator_follows_where_there_is_nothing_to_validate(pool: PgPool) {
    let world = World::new(pool).await;
    let follows = json!({"on_complete": {"enqueue": "validator"}});
    let without = NewJob { prompt: "Say what holds", config: Some(follows.clone()), ..NewJob::default() };
    let without = world.insert(&without).await;
    let policy = documents::policy(1);
    let with = NewJob { config: Some(follows), ..NewJob::with_content("policy.md", policy.markdown.as_bytes()) };
    let with = world.insert(&with).await;
    world.work_until_idle().await;
    let followed: Vec<Uuid> = sqlx::query_scalar("SELECT parent_job_id FROM jobs WHERE job_type = 'validator'")
        .fetch_all(&world.pool)
        .await
        .expect("jobs can be read");
    assert_eq!((world.job(without).await.status.as_str(), followed), ("completed", vec![with]));
    world.finish().await;
}

pub(crate) fn offered(request: &Request) -> Vec<&str> {
    let tools = request.0["tools"].as_array().expect("a turn has tools");
    tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).collect()
}

/// One answer per phase, and the system closes todos that the state answers. Aliases are accepted and not offered.
#[sqlx::test(migrations = false)]
async fn a_strategic_phase_takes_one_answer_and_no_ritual(pool: PgPool) {
    let world = World::new(pool).await;
    let (job, id, seen) = by_script(&world, json!({}), |_, number| match number {
        1 => Reply::calls(&[
            ("add_note", json!({"text": "Invoices matter."})),
            ("complete_task", json!({"task_number": 1})),
            plan(2),
            ("todo_complete", json!({})),
            todos("One"),
            ("todo_complete", json!({})),
        ]),
        2 => does("one"),
        3 => Reply::calls(&[("generate_workspace_summary", json!({}))]),
        4 => Reply::calls(
            &[note("One is done."), note("Two begins."), todos("Two")]
                .into_iter()
                .chain(closing(3))
                .collect::<Vec<_>>(),
        ),
        5 => does("two"),
        _ => completes(),
    })
    .await;
    assert_eq!((job.status.as_str(), seen.len()), ("completed", 6), "{job:?}");
    let every_tool = seen.iter().flat_map(offered);
    assert!(every_tool.clone().all(|name| !["complete_task", "write_requirement_to_db"].contains(&name)));
    let opening = seen[2].texts().find(|text| text.starts_with("A strategic phase begins")).expect("an opening");
    for said in [
        "Todo 1 is closed already: the system wrote workspace_summary.md",
        "- output/one.md (36 bytes): a result for the user",
        "- Last phase of work (job phase 2): One, 5 of 5 todos closed",
        "Elapsed: less than a minute, 2 model requests.",
        "## Notes\n\n- Invoices matter.",
    ] {
        assert!(opening.contains(said), "{said}: {opening}");
    }
    let again = seen[3].new_results();
    assert!(again[0].contains("One, 5 of 5 todos closed") && !again[0].contains("0 of 4"), "{again:?}");
    let noted = "SELECT notes FROM todos WHERE job_id = $1 AND phase_number = 1 AND position = 3";
    let noted: String = sqlx::query_scalar(noted).bind(id).fetch_one(&world.pool).await.expect("a todo has a note");
    assert_eq!(noted, "main_plan.md has 2 phases");
    let todos: Vec<&str> =
        seen.iter().flat_map(Request::texts).filter(|text| text.contains("ACTIVE TODO LIST")).collect();
    for never in ["instructions.md", "generate_workspace_summary", "summary_report.md"] {
        assert!(todos.iter().all(|list| !list.contains(never)), "{never}");
    }
    world.finish().await;
}

/// Closing a todo reports its results, and refusals.
#[sqlx::test(migrations = false)]
async fn closing_a_todo_counts_what_the_rows_have(pool: PgPool) {
    let world = World::new(pool).await;
    let file = |n: usize| {
        ("write_file", json!({"path": format!("output/{n}.md"), "content": "Invoices must be kept for ten years."}))
    };
    let (job, _, seen) = by_script(&world, json!({}), move |_, number| match number {
        1 => opens(1, "Reading"),
        2 => Reply::calls(&[file(1), file(2), file(2), record(1), ("todo_complete", json!({}))]),
        3 => Reply::calls(&[("get_progress", json!({})), ("todo_complete", json!({}))]),
        4 => looks_and_closes(4),
        _ => completes(),
    })
    .await;
    assert_eq!(job.status, "completed", "{job:?}");
    assert!(seen[2].new_results()[4].starts_with("Error: not carried out: an earlier call of this answer failed"));
    let results = seen[3].new_results();
    assert!(results[0].contains(" elapsed, "), "{results:?}");
    assert_eq!(
        results[1],
        "Task 1 'Reading, part 1' marked complete. 4 tasks remaining. During it: 2 files written, 1 call refused."
    );
    world.finish().await;
}

/// The folder contains the reason for any failure.
#[sqlx::test(migrations = false)]
async fn a_job_that_fails_leaves_its_phase_and_the_reason_in_its_folder(pool: PgPool) {
    let world = World::new(pool).await;
    let (job, id, _) = by_script(&world, json!({}), |request, number| match (request.is_strategic(), number) {
        (_, 1) => opens(2, "One"),
        (_, 2) => Reply::calls(&closing(2).collect::<Vec<_>>()),
        _ => Reply::calls(&[]),
    })
    .await;
    assert_eq!(job.status, "failed", "{job:?}");
    let folder = world.workspace().join(format!("job_{id}"));
    let read =
        |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(read("error.md").contains(&job.error.expect("a sentence")));
    assert!(!folder.join("todos.yaml").exists(), "the list is on record in archive/");
    let last = std::fs::read_dir(folder.join("archive")).expect("phases are on record").count();
    assert!(read(&format!("archive/phase_{last}.yaml")).contains("outcome: failed"));
    world.finish().await;
}
