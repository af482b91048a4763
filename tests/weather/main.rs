//! Failures that are not the job's fault, of each kind that a database or a model's server can report, through the real
//! worker: the outcome of the job, as a table.
//!
//! A sample is part of the ordinary tests. `make weather` runs all: each class of SQLSTATE and each status from 300 to
//! 599, once and for a day (which is two seconds here), and each way in which servers count a prompt, in each protocol.

mod cases;
mod server;

use cases::{APIS, Case, CaseKind, Ends, all, drawn};
use plumbline_rehearsal::MODEL;
use plumbline_system_tests::{PgPool, World, documents, jobs::NewJob, seed::Seed, wait::eventually};
use serde_json::json;
use server::{Cutting, Server};
use sqlx::Row;
use std::path::PathBuf;
use uuid::Uuid;

/// The day of these jobs, in seconds.
const DAY: u32 = 2;

/// Concurrent jobs in the queue: those that return are queued after all that were never claimed.
const AT_ONCE: usize = 48;

#[sqlx::test(migrations = false)]
async fn what_becomes_of_jobs_in_trouble(pool: PgPool) {
    let is_full = std::env::var("PLUMBLINE_WEATHER").as_deref() == Ok("full");
    let number = std::env::var("PLUMBLINE_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(41);
    let cases = if is_full { all() } else { drawn(&mut Seed::from(number)) };
    let world = World::new(pool).await;
    raise_where_asked(&world.pool, &cases).await;
    let server = Server::start(None).await;
    let types = job_types(&world, &server.base_url());
    let mut differences = Vec::new();
    // A failure that ends has a whole day before jobs give up: they may return late on a busy machine.
    for (lasts, day) in [(false, 86_400), (true, DAY)] {
        let mut command = world.command(&["worker", "--concurrency", "16"]);
        command.env("OPENAI_BASE_URL", server.base_url()).env("PLUMBLINE_GIVE_UP_SECS", day.to_string());
        command.env("PLUMBLINE_CONFIG_DIR", &types);
        let worker = world.start(command);
        let of_these = cases.iter().copied().filter(|case| case.lasts == lasts);
        // A limit learned from a 429 applies to all jobs at the endpoint, so it comes last.
        let (limited, others): (Vec<Case>, Vec<Case>) = of_these.partition(Case::is_limit);
        for cases in others.chunks(AT_ONCE).chain([&limited[..]]) {
            differences.extend(differences_of(&world, cases).await);
        }
        worker.stop().await;
    }
    println!("weather: {number}, {} cases, {} differences", cases.len(), differences.len());
    assert!(differences.is_empty(), "{differences:#?}");
    let cancel = "SELECT cancel_job(id) FROM jobs WHERE status IN ('pending', 'paused')";
    sqlx::query(cancel).execute(&world.pool).await.expect("jobs that wait can be cancelled");
    world.finish().await;
}

/// The folder with a type of each protocol.
fn job_types(world: &World, base_url: &str) -> PathBuf {
    let types = world.folder().join("types");
    for api in APIS {
        let folder = types.join(api.name());
        std::fs::create_dir_all(&folder).expect("the world's folder can be written");
        let llm = json!({"api": api.name(), "stream": "off", "base_url": base_url, "model": MODEL});
        let config = json!({"$extends": "creator", "llm": llm}).to_string();
        std::fs::write(folder.join("config.json"), config).expect("the world's folder can be written");
    }
    types
}

/// The unexpected outcomes of these jobs.
async fn differences_of(world: &World, cases: &[Case]) -> Vec<String> {
    let mut differences = Vec::new();
    for (case, job) in cases.iter().zip(inserted(world, cases).await) {
        let end = end_of(&world.pool, job, *case).await;
        println!("{:<24} {:<10} {:>3} {}", case.to_string(), end.status, end.requests, end.told());
        if let Some(why) = end.differs(*case) {
            differences.push(format!("{case}: {why}: {} {}", end.status, end.told()));
        }
    }
    differences
}

/// Ollama's window, its token count and its name for it.
#[sqlx::test(migrations = false)]
async fn a_server_that_really_cuts_its_input_pauses_the_job_with_its_number(pool: PgPool) {
    let world = World::new(pool).await;
    let server = Server::start(Some(Cutting { window: 2048 })).await;
    let mut command = world.command(&["worker"]);
    command.env("OPENAI_BASE_URL", server.base_url());
    let worker = world.start(command);
    let document = documents::policy(2);
    let job = world.insert(&NewJob::with_content("policy.md", document.markdown.as_bytes())).await;
    let paused = world.becomes(job, "paused").await;
    let reason = paused.reason.unwrap_or_default();
    assert!(reason.contains("it says that it has 2048 tokens") && reason.contains("it read 1300 of about"), "{reason}");
    worker.stop().await;
    world.finish().await;
}

/// A job's outcome.
struct End {
    status: String,
    reason: Option<String>,
    message: Option<String>,
    requests: i64,
    kind: Option<String>,
    code: Option<String>,
    /// Seconds between the first and the last error.
    lasted: Option<f64>,
}

impl End {
    fn told(&self) -> String {
        let told = self.message.as_deref().or(self.reason.as_deref()).unwrap_or_default();
        told.chars().take(100).collect()
    }

    /// Why it is not as expected.
    fn differs(&self, case: Case) -> Option<&'static str> {
        let day = f64::from(DAY);
        match case.ends() {
            Ends::Completed if self.status != "completed" => Some("it should go on"),
            Ends::Completed if matches!(case.kind, CaseKind::Usage(..)) && self.requests < 14 => {
                Some("it is too short")
            }
            Ends::Paused if self.status != "paused" => Some("it should wait for a person"),
            Ends::Waiting if self.status != "pending" || self.reason.is_none() => Some("it should wait and say why"),
            Ends::FailedAtOnce if self.status != "failed" || self.lasted.is_some_and(|lasted| lasted >= day) => {
                Some("it should fail at once")
            }
            Ends::FailedAfterADay if self.status != "failed" || self.lasted.is_none() => {
                Some("it should fail after a day")
            }
            Ends::FailedAfterADay if self.lasted.is_some_and(|lasted| lasted < day) => {
                Some("it failed before the day was over")
            }
            Ends::FailedAfterTries if self.status != "failed" || self.lasted.is_none() => {
                Some("it should fail after some tries")
            }
            _ if matches!(case.kind, CaseKind::Sql(_)) && self.status == "failed" => self.differs_in_sql(case),
            _ => None,
        }
    }

    fn differs_in_sql(&self, case: Case) -> Option<&'static str> {
        let CaseKind::Sql(code) = case.kind else { return None };
        let is_named = case.ends() == Ends::FailedAtOnce || self.code.as_deref() == Some(code);
        (self.kind.as_deref() != Some("internal") || !is_named).then_some("kind or code")
    }
}

/// A trigger that raises the error that a job's prompt names: at each attempt to write its messages, or at the third to
/// sixth.
async fn raise_where_asked(pool: &PgPool, cases: &[Case]) {
    let mut branches = String::new();
    for case in cases {
        let CaseKind::Sql(code) = case.kind else { continue };
        let name = case.to_string().replace([' ', '-'], "_").to_lowercase();
        // A sequence also counts attempts that are rolled back.
        let sequence = format!("CREATE SEQUENCE weather_{name}");
        sqlx::query(sqlx::AssertSqlSafe(sequence)).execute(pool).await.expect("a sequence can be made");
        let is_due = match case.lasts {
            true => "true".to_owned(),
            false => format!("nextval('weather_{name}') BETWEEN 3 AND 6"),
        };
        branches.push_str(&format!(
            "IF said = '{}' AND {is_due} THEN RAISE EXCEPTION 'the test asked for it' USING ERRCODE = '{code}'; END IF;\n",
            case.key()
        ));
    }
    let function = format!(
        "CREATE FUNCTION weather() RETURNS trigger LANGUAGE plpgsql AS $$
         DECLARE said text;
         BEGIN
             SELECT substring(prompt FROM 'weather-[0-9A-Za-z-]+') INTO said FROM jobs WHERE id = NEW.job_id;
             {branches}
             RETURN NEW;
         END $$"
    );
    sqlx::query(sqlx::AssertSqlSafe(function)).execute(pool).await.expect("the function can be made");
    let trigger = "CREATE TRIGGER weather BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION weather()";
    sqlx::query(trigger).execute(pool).await.expect("the trigger can be made");
}

async fn inserted(world: &World, cases: &[Case]) -> Vec<Uuid> {
    let mut jobs = Vec::new();
    for case in cases {
        let sections = if matches!(case.kind, CaseKind::Usage(..)) { 8 } else { 1 };
        let document = documents::policy(sections);
        let prompt = format!("Extract the requirements ({})", case.key());
        let job_type = match case.kind {
            CaseKind::Usage(_, api) => api.name(),
            CaseKind::Sql(_) | CaseKind::Status(_) => "chat",
        };
        let job =
            NewJob { prompt: &prompt, job_type, ..NewJob::with_content("policy.md", document.markdown.as_bytes()) };
        jobs.push(world.insert(&job).await);
    }
    jobs
}

/// Waits for the expected outcome of the job, or for another end. Waits in the queue are cut short.
async fn end_of(pool: &PgPool, job: Uuid, case: Case) -> End {
    eventually(&case.to_string(), async || {
        let waits = case.ends() == Ends::Waiting;
        if !waits {
            let wake = "UPDATE jobs SET run_at = now() WHERE status = 'pending' AND run_at > now()";
            sqlx::query(wake).execute(pool).await.expect("waiting jobs can be woken");
        }
        let row = sqlx::query(
            "SELECT status, status_reason, error_message, total_requests, error_details ->> 'kind', error_details ->> 'code',
                    extract(epoch FROM (error_details ->> 'last_error_at')::timestamptz
                                       - (error_details ->> 'first_error_at')::timestamptz)::double precision
             FROM jobs WHERE id = $1",
        )
        .bind(job)
        .fetch_one(pool)
        .await
        .expect("a job can be read");
        let end = End {
            status: row.get(0),
            reason: row.get(1),
            message: row.get(2),
            requests: row.get::<i64, _>(3),
            kind: row.get(4),
            code: row.get(5),
            lasted: row.get(6),
        };
        let has_ended = matches!(end.status.as_str(), "completed" | "failed" | "paused" | "review" | "cancelled");
        (has_ended || waits && end.status == "pending" && end.reason.is_some()).then_some(end)
    })
    .await
}
