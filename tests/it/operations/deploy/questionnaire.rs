//! A job type of one's own with every gate, deployed as a folder and operated from SQL alone by logins in the six roles.

use super::user::{User, world};
use plumbline_system_tests::{PgPool, Program, Uuid, World, documents};
use serde_json::Value;
use sqlx::AssertSqlSafe;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/questionnaire")
}

/// One login a role, and a second application.
struct Logins {
    enqueue: User,
    other: User,
    steer: User,
    approve: User,
    watch: User,
    validate: User,
    work: User,
}

impl Logins {
    async fn of(world: &World) -> Self {
        Self {
            enqueue: User::of(world, "enqueue").await,
            other: User::of(world, "enqueue").await,
            steer: User::of(world, "steer").await,
            approve: User::of(world, "approve").await,
            watch: User::of(world, "watch").await,
            validate: User::of(world, "validate").await,
            work: User::of(world, "work").await,
        }
    }

    async fn leave(self, world: &World) {
        let Self { enqueue, other, steer, approve, watch, validate, work } = self;
        for user in [enqueue, other, steer, approve, watch, validate, work] {
            user.leave(world).await;
        }
    }
}

/// The five documents: four to answer from, and the questions.
fn import(world: &World) {
    for name in ["security-policy.md", "incident-page.html", "questionnaire.csv"] {
        let text = std::fs::read(folder().join("documents").join(name)).expect("the fixture is there");
        put(world, name, &text);
    }
    put(world, "records.docx", &documents::sample("docx"));
    put(world, "annex.pdf", &documents::fixture("small.pdf"));
}

fn put(world: &World, name: &str, bytes: &[u8]) {
    let folder = world.workspace().join("import/q");
    std::fs::create_dir_all(&folder).expect("the import folder can be written");
    std::fs::write(folder.join(name), bytes).expect("the import folder can be written");
}

fn worker(world: &World, work: &User) -> Program {
    let mut command = work.command(world, &["worker"]);
    command.env("PLUMBLINE_CONFIG_DIR", folder().join("configs"));
    world.start(command)
}

async fn ask(user: &User, statement: &str, job: Uuid) -> String {
    let read = sqlx::query_scalar::<_, Option<String>>(AssertSqlSafe(statement.to_owned())).bind(job);
    let read = read.fetch_one(&user.pool).await;
    read.unwrap_or_else(|error| panic!("{statement} as {}: {error}", user.name())).unwrap_or_default()
}

async fn refused(user: &User, statement: &str, job: Uuid) -> String {
    let tried = sqlx::query(AssertSqlSafe(statement.to_owned())).bind(job).execute(&user.pool).await;
    tried.expect_err(statement).to_string()
}

const FILE: &str = "SELECT convert_from(workspace_file($1, 'output/answers.json'), 'UTF8')";

#[sqlx::test(migrations = false)]
async fn a_type_with_every_gate_is_operated_from_sql_by_the_six_roles(pool: PgPool) {
    let world = world(pool).await;
    import(&world);
    let logins = Logins::of(&world).await;
    let worker = worker(&world, &logins.work);

    // The application inserts; another application's login does not see the job, and its own key is its own.
    let insert = "INSERT INTO jobs (job_type, prompt, document_path, idempotency_key)
                  VALUES ('questionnaire', 'Answer the questionnaire', 'q', 'customer-7') RETURNING id";
    let job: Uuid = sqlx::query_scalar(insert).fetch_one(&logins.enqueue.pool).await.expect("a plain insert");
    let seen = "SELECT count(*)::text FROM jobs WHERE id = $1";
    assert_eq!(ask(&logins.enqueue, seen, job).await, "1");
    assert_eq!(ask(&logins.other, seen, job).await, "0");
    assert_eq!(ask(&logins.approve, seen, job).await, "0", "it is not in review");

    // The budget pauses it; the steerer reads why and raises it, up to the ceiling.
    world.becomes(job, "paused").await;
    let reason = ask(&logins.steer, "SELECT status_reason FROM jobs WHERE id = $1", job).await;
    assert!(reason.starts_with("cost budget of 0.02 USD reached"), "{reason}");
    let above = refused(&logins.steer, "SELECT resume_job($1, limits => '{\"cost_budget_usd\": 6}')", job).await;
    assert!(above.contains("above the 5 of `limits_ceiling`"), "{above}");
    assert_eq!(logins.steer.call("resume_job($1, limits => '{\"cost_budget_usd\": 5}')", job).await, "pending");

    // The gates let it pass into review: the approver reads the answers, sends it back once, and approves.
    world.becomes(job, "review").await;
    let answers = answers(&ask(&logins.approve, FILE, job).await);
    assert_eq!(answers.len(), 12);
    assert!(quotes(&answers).all(|quote| quote["document"] != "questionnaire.csv"), "the questions are no source");
    assert_eq!(logins.approve.call("send_feedback($1, 'Look at question 12 again.')", job).await, "pending");
    world.becomes(job, "review").await;
    assert_eq!(logins.approve.call("approve_job($1)", job).await, "completed");

    outcome(&logins, job).await;
    worker.stop().await;
    logins.leave(&world).await;
    world.finish().await;
}

/// What each login reads of the job that is completed.
async fn outcome(logins: &Logins, job: Uuid) {
    assert_eq!(ask(&logins.enqueue, "SELECT status FROM jobs WHERE id = $1", job).await, "completed");
    assert_eq!(answers(&ask(&logins.enqueue, FILE, job).await).len(), 12);
    let counts = ask(&logins.watch, "SELECT (result->'counts')::text FROM jobs WHERE id = $1", job).await;
    let counts: Value = serde_json::from_str(&counts).expect("counts");
    assert!(counts["quotes_checked"].as_i64() >= Some(12), "{counts}");
    assert_eq!(counts["documents"], 4, "a document of `no_sources` is not counted: {counts}");
    what_it_rests_on(logins, job).await;
    let commands = "SELECT string_agg(command, ' ' ORDER BY at) FROM job_commands WHERE job_id = $1";
    assert_eq!(ask(&logins.watch, commands, job).await, "resume_job send_feedback approve_job");
    logins.validate.must_not(&["SELECT approve_job(id) FROM jobs", "UPDATE jobs SET status = 'cancelled'"]).await;
    logins.watch.must_not(&["SELECT approve_job(id) FROM jobs"]).await;
}

/// The quotes that the gate looked up are rows, marked in the report and listed by file; coverage is not mentioned.
async fn what_it_rests_on(logins: &Logins, job: Uuid) {
    let rests_on = "SELECT string_agg(f.path || ': ' || jsonb_array_length(f.ids), ', ' ORDER BY f.path)
                    FROM jobs, jsonb_each(result -> 'rests_on') AS f(path, ids) WHERE id = $1";
    let rests_on = ask(&logins.watch, rests_on, job).await;
    assert!(rests_on.starts_with("output/answers.json: ") && rests_on.contains(", output/answers.md: "), "{rests_on}");
    let lost = "SELECT count(*)::text FROM jobs, jsonb_each(result -> 'rests_on') AS f(path, ids),
                jsonb_array_elements_text(ids) AS i(id)
                WHERE jobs.id = $1 AND NOT EXISTS (SELECT FROM citations c WHERE c.job_id = $1 AND c.id = i.id AND c.verified)";
    assert_eq!(ask(&logins.watch, lost, job).await, "0", "each is a row");
    let report = "SELECT convert_from(workspace_file($1, 'output/report.html'), 'UTF8')";
    let report = ask(&logins.watch, report, job).await;
    let marks = report.matches("<mark id=\"c-cit_").count();
    let rows = "SELECT count(*)::text FROM citations WHERE job_id = $1";
    assert_eq!(marks.to_string(), ask(&logins.watch, rows, job).await, "each is marked");
    assert!(report.contains("It rests on ") && report.contains("Nothing is quoted from this document"), "{report}");
    for words in ["Not answered", "passages are answered", "Not cited:", "andidates cited"] {
        assert!(!report.contains(words), "{words}");
    }
    let headline = ask(&logins.watch, "SELECT headline FROM job_summary WHERE id = $1", job).await;
    assert!(headline.contains("quotes found in the documents") && !headline.contains("passage"), "{headline}");
    assert_eq!(ask(&logins.watch, "SELECT coverage::text FROM job_summary WHERE id = $1", job).await, "");
}

fn answers(file: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(file).unwrap_or_else(|error| panic!("{error}: {file}"));
    file["answers"].as_array().cloned().unwrap_or_default()
}

fn quotes(answers: &[Value]) -> impl Iterator<Item = &Value> {
    answers.iter().filter_map(|answer| answer["quotes"].as_array()).flatten()
}
