//! The commands that each role may run, tested with the real binary: the table of `deploy/README.md`.

use super::user::{User, world};
use plumbline_system_tests::{Ended, PgPool, Uuid, World, jobs::NewJob};
use serde_json::json;

const README: &str = include_str!("../../../../deploy/README.md");
/// Heads the table.
const HEAD: &str = "| command |";

/// The roles of the table, and of each command whether each of them may run it.
fn table() -> (Vec<&'static str>, Vec<(&'static str, Vec<bool>)>) {
    let mut lines = README.lines().skip_while(|line| !line.starts_with(HEAD)).take_while(|line| line.starts_with('|'));
    let cells = |line: &'static str| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>();
    let roles = cells(lines.next().expect("the page has the table"))[1..].to_vec();
    let row = |line| match &cells(line)[..] {
        [command, may @ ..] => (command.trim_matches('`'), may.iter().map(|word| is_yes(word)).collect()),
        [] => unreachable!("a line has cells"),
    };
    (roles, lines.skip(1).map(row).collect())
}

fn is_yes(word: &str) -> bool {
    assert!(["yes", "no"].contains(&word), "`{word}` is neither yes nor no");
    word == "yes"
}

/// Jobs for one role, each in the state that its command works on.
struct Jobs {
    review: Uuid,
    approved: Uuid,
    answered: Uuid,
    waiting: Uuid,
    paused: Uuid,
    cancelled: Uuid,
    begun: Uuid,
    /// One that waits for decisions on calls, and three of them.
    asked: Uuid,
    calls: [Uuid; 3],
}

impl Jobs {
    /// Inserted by whom the role sees the jobs of; the reviewed ones have to be worked on first.
    async fn of(world: &World, inserter: &PgPool) -> Self {
        let reviewed =
            NewJob { prompt: "Say what records are", config: Some(json!({"autonomy": "review"})), ..NewJob::default() };
        let later = NewJob { in_seconds: 86_400.0, ..reviewed.clone() };
        let jobs = Self {
            review: reviewed.insert(inserter).await,
            approved: reviewed.insert(inserter).await,
            answered: reviewed.insert(inserter).await,
            waiting: later.insert(inserter).await,
            paused: later.insert(inserter).await,
            cancelled: later.insert(inserter).await,
            begun: later.insert(inserter).await,
            asked: later.insert(inserter).await,
            calls: [Uuid::now_v7(), Uuid::now_v7(), Uuid::now_v7()],
        };
        ask(world, jobs.asked, &jobs.calls).await;
        for (function, job) in [("pause_job", jobs.paused), ("cancel_job", jobs.cancelled)] {
            let call = sqlx::AssertSqlSafe(format!("SELECT {function}($1)"));
            sqlx::query(call).bind(job).execute(&world.pool).await.expect("the owner commands");
        }
        jobs
    }

    /// The words of a command of the table.
    fn arguments(&self, command: &str, folder: &str) -> Vec<String> {
        let (name, _) = command.split_once(' ').unwrap_or((command, ""));
        let job = match name {
            "cancel" => self.waiting,
            "pause" => self.begun,
            "resume" => self.paused,
            "retry" => self.cancelled,
            "approve" => self.approved,
            "feedback" => self.answered,
            "approvals" | "grant-calls" => self.asked,
            "approve-call" => self.calls[0],
            "reject-call" => self.calls[1],
            "edit-call" => self.calls[2],
            _ => self.review,
        };
        let more: &[&str] = match name {
            "enqueue" => &["--prompt", "Say what records are"],
            "feedback" => &["In one sentence."],
            "fork" => &["--at", "1"],
            "prune" => &["--older-than", "0s"],
            "export" => &[folder],
            "cat" => &["main_plan.md"],
            "reject-call" => &["--reason", "not this one"],
            "edit-call" => &["--arguments", r#"{"url": "https://example.org/"}"#],
            "grant-calls" => &["fetch_page", "1"],
            _ => &[],
        };
        let before: &[&str] = if name == "eval" { &["gold.jsonl", "--job"] } else { &[] };
        let job = [" JOB", " ID"].iter().any(|end| command.ends_with(end)).then(|| job.to_string());
        [name]
            .iter()
            .chain(before)
            .map(ToString::to_string)
            .chain(job)
            .chain(more.iter().map(ToString::to_string))
            .collect()
    }
}

/// Puts a job into review for these calls.
async fn ask(world: &World, job: Uuid, calls: &[Uuid]) {
    let statements = format!(
        "INSERT INTO workers (id, hostname, version, concurrency) VALUES ('{job}', 'host', '1', 1);
         UPDATE jobs SET run_at = now() WHERE id = '{job}';
         UPDATE jobs SET status = 'running', worker_id = '{job}', lease_epoch = 1, attempt = 1 WHERE id = '{job}';
         INSERT INTO attempts (job_id, attempt, lease_epoch, worker_id) VALUES ('{job}', 1, 1, '{job}');
         UPDATE jobs SET status = 'review' WHERE id = '{job}';
         DELETE FROM workers WHERE id = '{job}'"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(statements)).execute(&world.pool).await.expect("the owner may do all");
    for call in calls {
        let ask = "INSERT INTO approvals (id, job_id, step, call_id, tool, tool_sha256, arguments, arguments_sha256, shown, expires_at)
                   VALUES ($1, $2, 0, $1::text, 'fetch_page', sha256(''), '{}', sha256(''), '{}', now() + interval '1 day')";
        sqlx::query(ask).bind(call).bind(job).execute(&world.pool).await.expect("the owner may do all");
    }
}

/// Either done, or refused with one sentence that names who may.
fn holds(ended: &Ended, may: bool, who_may: &[&str], what: &str) {
    if may {
        // Watching ends with 3 at a job in review.
        assert!(
            matches!(ended.code, Some(0 | 3)) && ended.stderr.is_empty() && !ended.stdout.is_empty(),
            "{what}: {ended:?}"
        );
        return;
    }
    assert_eq!((ended.code, ended.stderr.lines().count()), (Some(1), 1), "{what}: {ended:?}");
    assert!(
        ended.stderr.contains("this login may not") && ended.stderr.contains("the database owner"),
        "{what}: {ended:?}"
    );
    let said: Vec<&str> = ended
        .stderr
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter_map(|word| word.strip_prefix("plumbline_"))
        .collect();
    assert_eq!(said, who_may, "{what}: {ended:?}");
}

#[sqlx::test(migrations = false)]
async fn each_role_can_run_the_commands_that_the_table_says(pool: PgPool) {
    let world = world(pool).await;
    let (roles, commands) = table();
    assert!(commands.len() >= 15, "{commands:?}");
    let mut users = Vec::new();
    for role in &roles {
        let user = User::of(&world, role).await;
        let inserter = if *role == "enqueue" { &user.pool } else { &world.pool };
        let jobs = Jobs::of(&world, inserter).await;
        users.push((user, jobs));
    }
    world.work_until_idle().await;
    let gold = "{\"document\": \"policy.md\", \"text\": \"Records must be kept.\"}\n";
    std::fs::write(world.folder().join("gold.jsonl"), gold).expect("the world's folder can be written");
    for (_, jobs) in &users {
        world.becomes(jobs.review, "review").await;
    }
    for (command, may) in &commands {
        let who_may: Vec<&str> = roles.iter().zip(may).filter(|(_, may)| **may).map(|(role, _)| *role).collect();
        for ((role, (user, jobs)), may) in roles.iter().zip(&users).zip(may) {
            let arguments = jobs.arguments(command, &format!("exported-by-{role}"));
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let ended = world.start(user.command(&world, &arguments)).ended().await;
            holds(&ended, *may, &who_may, &format!("`{command}` as {role}"));
            let names_a_job = command.starts_with("status") || command.starts_with("watch");
            assert!(!may || !names_a_job || !ended.stdout.contains("permission"), "{ended:?}");
            if *may && command.starts_with("status") {
                assert!(ended.stdout.contains(&jobs.review.to_string()), "{role}: {ended:?}");
                // The list cuts it to the room that is left.
                assert!(ended.stdout.contains("Say what rec"), "{role} reads what the job is about: {ended:?}");
            }
        }
    }
    for (role, (user, _)) in roles.iter().zip(&users) {
        for (arguments, who_may) in [(&["migrate"][..], &[][..]), (&["worker", "--until-idle"], &["work"])] {
            if who_may.contains(role) {
                continue;
            }
            let ended = world.start(user.command(&world, arguments)).ended().await;
            holds(&ended, false, who_may, &format!("{arguments:?} as {role}"));
        }
        let ended = world.start(user.command(&world, &["roles"])).ended().await;
        holds(&ended, false, &[], &format!("`roles` as {role}"));
        assert!(
            ended.stderr.contains("owner with CREATEROLE"),
            "the message names the right that the owner lacks: {ended:?}"
        );
    }
    for (user, _) in users {
        user.leave(&world).await;
    }
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_row_that_its_login_may_not_insert_is_refused_with_the_reason(pool: PgPool) {
    let world = world(pool).await;
    let other = NewJob { prompt: "Say what records are", ..NewJob::default() }.insert(&world.pool).await;
    let user = User::of(&world, "enqueue").await;
    let previous = json!({"previous_job_id": other}).to_string();
    for (more, said) in [
        (["--type", "validator"], "name a job of your own in context.parent_job_id"),
        (["--context", &previous], "context.previous_job_id names a job of another login"),
    ] {
        let arguments = [&["enqueue", "--prompt", "Judge it"], &more[..]].concat();
        let ended = world.start(user.command(&world, &arguments)).ended().await;
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(1), 1), "{ended:?}");
        assert!(ended.stderr.contains(said) && !ended.stderr.contains("may not run"), "{ended:?}");
    }
    user.leave(&world).await;
    world.finish().await;
}
