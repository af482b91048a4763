//! `plumbline dev` in an empty folder: works without setup, and leaves no processes.

use plumbline_system_tests::{
    Program, Signal, Uuid, eventually,
    invariants::check_invariants,
    jobs, program,
    wait::{CEILING, LOOK},
};
use sqlx::{PgPool, postgres::PgConnectOptions};
use std::{fs, path::Path, time::Instant};
use tempfile::TempDir;

fn dev(folder: &TempDir, arguments: &[&str]) -> Program {
    let mut command = program::command(&[&["dev"], arguments].concat());
    command.current_dir(folder.path());
    Program::start(command, folder.path())
}

/// Processes that work in the folder or name it in their command line, this test's own aside.
fn processes_of(folder: &Path) -> Vec<String> {
    let folder = folder.display().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc can be read").flatten() {
        let cwd = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        if cwd.starts_with(&folder) || command.contains(&folder) {
            found.push(format!("{} {command}", entry.file_name().display()));
        }
    }
    found
}

/// Asserts that nothing of a run that has ended is left; a process that is just ending may still be seen.
async fn assert_nothing_runs_in(folder: &Path) {
    let mut left = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < CEILING {
        left = processes_of(folder);
        if left.is_empty() {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
    panic!("left behind: {left:?}");
}

/// The value printed after a label.
fn printed(dev: &Program, label: &str) -> Option<String> {
    let stdout = dev.stdout();
    let line = stdout.lines().find(|line| line.starts_with(label))?;
    Some(line[label.len()..].trim().to_owned())
}

/// The database of a run, from the output line with its address and password file.
fn database(dev: &Program) -> PgConnectOptions {
    let line = printed(dev, "Database").expect("the database is printed");
    let (address, file) = line.split_once(" (password in ").expect("the file is printed");
    let password = fs::read_to_string(file.trim_end_matches(')')).expect("its user can read it");
    address.parse::<PgConnectOptions>().expect("an address").password(password.trim())
}

#[tokio::test]
async fn a_first_run_shows_the_sample_and_leaves_nothing_running() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = dev(&folder, &[]).ended().await;
    assert_eq!(first.code, Some(0), "{}\n{}", first.stdout, first.stderr);
    assert!(first.stdout.contains("rule-based, no LLM"), "it must say what the model is: {}", first.stdout);
    assert!(first.stdout.contains("Job completed. 12"), "{}", first.stdout);
    for heading in ["page", "requirement", "quote", "Its files", "psql "] {
        assert!(first.stdout.contains(heading), "`{heading}` is not in: {}", first.stdout);
    }
    assert_nothing_runs_in(folder.path()).await;
    let cluster = fs::read(folder.path().join(".plumbline/postgres/data/global/pg_control"));

    let second = dev(&folder, &["--prompt", "Say what records are"]).ended().await;
    assert_eq!(second.code, Some(0), "{}\n{}", second.stdout, second.stderr);
    assert_nothing_runs_in(folder.path()).await;
    let again = fs::read(folder.path().join(".plumbline/postgres/data/global/pg_control"));
    // The first eight bytes are the cluster's own number.
    assert_eq!(cluster.expect("a cluster")[..8], again.expect("a cluster")[..8], "the second run made a new cluster");
}

#[tokio::test]
async fn an_interrupted_run_stops_everything_and_the_next_one_continues() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let interrupted = dev(&folder, &[]);
    eventually("the job to run", async || interrupted.stdout().contains("running [").then_some(())).await;
    let job: Uuid = printed(&interrupted, "Job").expect("the job is printed").parse().expect("an id");
    interrupted.signal(Signal::INT);
    let ended = interrupted.ended().await;
    assert_eq!(ended.code, Some(2), "{}\n{}", ended.stdout, ended.stderr);
    assert_nothing_runs_in(folder.path()).await;

    let next = dev(&folder, &["--keep", "--prompt", "Say what records are"]);
    eventually("the next job to end", async || next.stdout().contains("Job completed").then_some(())).await;
    let pool = PgPool::connect_with(database(&next)).await.expect("it is up");
    let row = jobs::becomes(&pool, job, "completed").await;
    assert_eq!(row.attempt, 1, "an interruption costs no attempt");
    check_invariants(&pool).await;
    pool.close().await;
    next.signal(Signal::INT);
    let ended = next.ended().await;
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    assert_nothing_runs_in(folder.path()).await;
}
