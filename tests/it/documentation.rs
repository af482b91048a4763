//! What the documentation says is done: SQL is run on a migrated database with a finished job, commands are run with the
//! real binary, and what needs more than a test has (containers, clusters, other people's machines) at least names
//! files, targets and flags that exist.
//!
//! A fence says what it is: `sh` and `sql` are run, `text` is output or an outline, `json` and `yaml` must parse as such
//! where that is checked elsewhere. A fence without a word is an error: nobody would know.

use plumbline_system_tests::{Ended, Uuid, World, cluster::Cluster, documents, jobs::NewJob, program};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The files whose blocks are held to their word.
const FILES: [&str; 7] = [
    "README.md",
    "migrations/README.md",
    "configs/README.md",
    "prompts/README.md",
    "deploy/README.md",
    "docker/README.md",
    "tests/README.md",
];
/// Words that a fence may have.
const LANGUAGES: [&str; 8] = ["sh", "sql", "text", "json", "yaml", "toml", "promql", "ini"];
/// Commands that are run as they stand; each ends by itself and changes nothing but its database and folder.
const RUN: [&str; 8] = ["plumbline", "psql", "pg_dump", "pg_restore", "createdb", "mkdir", "cp", "ls"];
/// Subcommands that go on for ever or need minutes: their flags are read, and that is all.
const ENDLESS: [&str; 3] = ["worker", "dev", "rehearse"];
/// Commands that need what a test has not got: the paths in them must exist.
const ELSEWHERE: [&str; 12] = [
    "docker",
    "helm",
    "kubectl",
    "install",
    "systemctl",
    "cargo",
    "curl",
    "git",
    "sudo",
    "openssl",
    "man",
    "target/debug/plumbline",
];
/// Folders of the repository that a documented path may lead into.
const FOLDERS: [&str; 8] = ["configs", "crates", "deploy", "docker", "migrations", "prompts", "tests", ".ci"];

/// A fenced block.
struct Block {
    place: String,
    language: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn blocks(file: &str) -> Vec<Block> {
    let text = fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in (1..).zip(text.lines()) {
        match (line.trim().strip_prefix("```"), &mut open) {
            (Some(language), None) => {
                let (place, language) = (format!("{file}:{number}"), language.trim().to_owned());
                open = Some(Block { place, language, text: String::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{file}: a fence is not closed");
    blocks
}

#[test]
fn every_fence_says_what_it_is() {
    for file in FILES {
        for Block { place, language, .. } in blocks(file) {
            assert!(LANGUAGES.contains(&language.as_str()), "{place}: ```{language} is none of {LANGUAGES:?}");
        }
    }
}

/// A cluster, because some blocks make roles and set server settings; a finished job; the folder in which commands run.
async fn stage() -> (Cluster, World, Uuid) {
    let cluster = Cluster::start();
    let world = World::new(cluster.database().await).await;
    let policy = documents::policy(2);
    world.import("policy.pdf", documents::sample("pdf"));
    fs::write(world.folder().join("policy.pdf"), documents::sample("pdf")).expect("a file can be written");
    for folder in FOLDERS {
        let target = root().join(folder).canonicalize().expect("a folder of the repository");
        std::os::unix::fs::symlink(target, world.folder().join(folder)).expect("a link can be made");
    }
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.work_until_idle().await;
    world.becomes(job, "completed").await;
    let applied = psql(&world, &fs::read_to_string(root().join("deploy/roles.sql")).expect("the roles")).await;
    assert_eq!(applied.code, Some(0), "deploy/roles.sql: {}", applied.stderr);
    (cluster, world, job)
}

/// Runs a command line of a shell in the world's folder, the binary under test first in its path.
async fn shell(world: &World, line: &str) -> Ended {
    let mut command = world.command(&[]);
    let own = program::path().parent().expect("a program lies in a folder").to_owned();
    let path = std::env::var("PATH").unwrap_or_default();
    let environment: Vec<_> =
        command.as_std().get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
    command = tokio::process::Command::new("sh");
    command.args(["-euc", line]).env_clear().current_dir(world.folder());
    for (name, value) in environment {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    // The rest of the address is for the driver, and `psql` would refuse it.
    let url = world.url();
    command.env("DATABASE_URL", url.split('?').next().unwrap_or(&url));
    command.env("PATH", format!("{}:{path}", own.display()));
    world.start(command).ended().await
}

async fn psql(world: &World, statements: &str) -> Ended {
    let file = world.folder().join("block.sql");
    fs::write(&file, statements).expect("a file can be written");
    shell(world, "psql -X -q -v ON_ERROR_STOP=1 \"$DATABASE_URL\" -f block.sql").await
}

#[tokio::test]
async fn sql_blocks_are_run() {
    let (_cluster, world, job) = stage().await;
    for file in FILES {
        for block in blocks(file).into_iter().filter(|block| block.language == "sql") {
            let ended = psql(&world, &with_job(&block.text, job)).await;
            assert_eq!(ended.code, Some(0), "{}: {}\n{}", block.place, ended.stderr, block.text);
        }
    }
    statements_in_tables(&world, job).await;
    world.finish().await;
}

/// Statements in the tables of the SQL interface: each is understood; that a finished job cannot be paused is the
/// database's own sentence.
async fn statements_in_tables(world: &World, job: Uuid) {
    let text = fs::read_to_string(root().join("migrations/README.md")).expect("the SQL interface");
    let mut count = 0;
    for line in text.lines().filter(|line| line.starts_with('|')) {
        let codes = line.split('`').skip(1).step_by(2);
        let starts = ["SELECT ", "INSERT ", "UPDATE ", "LISTEN "];
        for code in codes.filter(|code| starts.iter().any(|start| code.starts_with(start))) {
            let ended = psql(world, &with_job(code, job)).await;
            let understood = ended.code == Some(0) || ended.stderr.contains(&format!("ERROR:  job {job}"));
            assert!(understood, "migrations/README.md: {code}\n{}", ended.stderr);
            count += 1;
        }
    }
    assert!(count >= 10, "only {count} statements were found in the tables");
}

/// The documents write a job's id as `…` or JOB.
fn with_job(text: &str, job: Uuid) -> String {
    text.replace("'…'", &format!("'{job}'")).replace("\"…\"", &format!("\"{job}\"")).replace("JOB", &job.to_string())
}

#[tokio::test]
async fn sh_blocks_are_run_or_name_what_exists() {
    let (_cluster, world, job) = stage().await;
    let mut count = 0;
    for file in FILES {
        for block in blocks(file).into_iter().filter(|block| block.language == "sh") {
            for line in commands(&block.text) {
                check(&world, &block.place, &with_job(&line, job)).await;
                count += 1;
            }
        }
    }
    assert!(count >= 20, "only {count} commands were found in the documents");
    world.finish().await;
}

/// The command lines of a block, continued ones joined, comments left out.
fn commands(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(|line| line.split(" #").next().unwrap_or(line).trim());
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

async fn check(world: &World, place: &str, line: &str) {
    let words: Vec<&str> = line.split_whitespace().skip_while(|word| is_assignment(word)).collect();
    let first = words.first().copied().unwrap_or_default();
    match first {
        "export" => assert!(words[1..].iter().all(|word| is_known_variable(word)), "{place}: {line}"),
        "make" => makes(place, &words[1..]),
        "plumbline" if words.get(1).is_some_and(|command| ENDLESS.contains(command)) => {
            let ended = shell(world, &format!("{} --help", plain(line))).await;
            assert_eq!(ended.code, Some(0), "{place}: {line}\n{}", ended.stderr);
        }
        first if RUN.contains(&first) => {
            let ended = shell(world, line).await;
            assert_eq!(ended.code, Some(0), "{place}: {line}\n{}{}", ended.stdout, ended.stderr);
        }
        first if ELSEWHERE.contains(&first) => paths_exist(place, &words),
        other => panic!("{place}: `{other}` is a command that this test does not know: {line}"),
    }
}

/// The line without what a shell makes of its end: where the output goes.
fn plain(line: &str) -> &str {
    line.split(['|', '>', '&']).next().unwrap_or(line).trim()
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    })
}

fn is_known_variable(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    ["DATABASE_URL", "RUST_LOG", "NO_COLOR"].contains(&name)
        || ["PLUMBLINE_", "OPENAI_", "OTEL_"].iter().any(|prefix| name.starts_with(prefix))
}

fn makes(place: &str, words: &[&str]) {
    let makefile = fs::read_to_string(root().join("Makefile")).expect("the Makefile");
    let target = words.iter().find(|word| !is_assignment(word) && !word.starts_with(['"', '-'])).copied();
    let target = target.unwrap_or("help");
    let known = makefile.lines().any(|line| line.starts_with(&format!("{target}:")));
    assert!(known, "{place}: the Makefile has no target `{target}`");
}

fn paths_exist(place: &str, words: &[&str]) {
    for word in words {
        let path = word.trim_matches(['"', '\'', ',']);
        let leads_in = FOLDERS.iter().any(|folder| path.starts_with(&format!("{folder}/")));
        assert!(!leads_in || root().join(path).exists(), "{place}: {path} does not exist");
    }
}

/// Links between the documents lead somewhere.
#[test]
fn links_lead_to_files() {
    for file in FILES {
        let text = fs::read_to_string(root().join(file)).expect("a document");
        let folder = root().join(file).parent().expect("a file lies in a folder").to_owned();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = target.split('#').next().unwrap_or(target);
            if !path.is_empty() && !path.contains("://") {
                assert!(folder.join(path).exists(), "{file}: the link to {target} leads nowhere");
            }
        }
    }
}

/// The command's own manual and the completions name what `--help` names, and shells take them.
#[test]
fn completions_are_taken_by_their_shells() {
    for shell in ["bash", "zsh", "fish"] {
        let script = Command::new(program::path()).args(["completions", shell]).output().expect("the program runs");
        let script = String::from_utf8(script.stdout).expect("a script is text");
        assert!(script.contains("replay") && !script.contains("__with"), "{shell}: {script}");
        if shell == "bash" {
            let taken = Command::new("bash").args(["-n", "-c", &script]).output().expect("bash is there");
            assert!(taken.status.success(), "{}", String::from_utf8_lossy(&taken.stderr));
        }
    }
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let made = Command::new(program::path()).arg("manual").arg(folder.path()).output().expect("the program runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for page in ["plumbline.1", "plumbline-worker.1", "plumbline-config-show.1", "plumbline-replay.1"] {
        let text = fs::read_to_string(folder.path().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(text.contains(".SH SYNOPSIS"), "{page}: {text}");
    }
    assert!(!folder.path().join("plumbline-__with-postgres.1").exists(), "internals have no page");
}

/// What security.md promises is held by tests that exist.
#[test]
fn every_promise_of_security_names_a_test() {
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let promises = read("docs/security.md");
    let table =
        promises.split("## What is promised").nth(1).and_then(|rest| rest.split("## ").next()).unwrap_or_default();
    let held = table.split('`').collect::<Vec<_>>();
    let mut tests = 0;
    for (name, place) in held.iter().skip(1).step_by(2).zip(held.iter().skip(2).step_by(2)) {
        let Some(file) = place.strip_prefix(" in ").and_then(|rest| rest.split([' ', ',', '\n']).next()) else {
            continue;
        };
        assert!(read(file).contains(&format!("fn {name}(")), "{file} has no test {name}");
        tests += 1;
    }
    assert!(tests >= 15, "only {tests} tests are named");
}
