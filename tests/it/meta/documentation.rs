//! Runs the examples of the documentation: SQL on a migrated database with a finished job, commands with the real
//! binary; for examples that need more than a test has (containers, clusters, other machines), checks that the named
//! files, targets and flags exist.
//!
//! Fences are labelled: `sh` and `sql` are run, `text` is output or an outline, `json` and `yaml` are checked
//! elsewhere. A fence without a label is an error.

use plumbline_system_tests::{Ended, PgPool, Uuid, World, cluster::Cluster, documents, jobs::NewJob, program};
use sqlx::migrate::Migrator;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The files whose blocks are held to their word.
const FILES: [&str; 13] = [
    "README.md",
    "ARCHITECTURE.md",
    "docs/README.md",
    "docs/guide.md",
    "docs/recipes.md",
    "docs/sql.md",
    "docs/example-contract-comparison/README.md",
    "migrations/README.md",
    "configs/README.md",
    "prompts/README.md",
    "deploy/README.md",
    "docker/README.md",
    "tests/README.md",
];
/// Words that a fence may have.
const LANGUAGES: [&str; 8] = ["sh", "sql", "text", "json", "yaml", "toml", "promql", "ini"];
/// Commands that are run verbatim; each ends by itself and changes only its database and folder.
const RUN: [&str; 8] = ["plumbline", "psql", "pg_dump", "pg_restore", "createdb", "mkdir", "cp", "ls"];
/// Subcommands that do not end or need minutes: only their flags are checked.
const ENDLESS: [&str; 3] = ["worker", "dev", "rehearse"];
/// Commands with prerequisites that a test lacks: the paths in them must exist.
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
const FOLDERS: [&str; 9] = ["configs", "crates", "deploy", "docker", "docs", "migrations", "prompts", "tests", ".ci"];

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
    let text = fs::read_to_string(root().join("docs/sql.md")).expect("the SQL interface");
    let mut count = 0;
    for line in text.lines().filter(|line| line.starts_with('|')) {
        let codes = line.split('`').skip(1).step_by(2);
        let starts = ["SELECT ", "INSERT ", "UPDATE ", "LISTEN "];
        for code in codes.filter(|code| starts.iter().any(|start| code.starts_with(start))) {
            let ended = psql(world, &with_job(code, job)).await;
            let refusals = [format!("ERROR:  job {job}"), format!("ERROR:  there is no call {job} that was asked for")];
            let understood = ended.code == Some(0) || refusals.iter().any(|refusal| ended.stderr.contains(refusal));
            assert!(understood, "docs/sql.md: {code}\n{}", ended.stderr);
            count += 1;
        }
    }
    assert!(count >= 10, "only {count} statements were found in the tables");
}

/// The documents write a job's id as `…` or JOB.
fn with_job(text: &str, job: Uuid) -> String {
    text.replace("'…'", &format!("'{job}'")).replace("\"…\"", &format!("\"{job}\"")).replace("JOB", &job.to_string())
}

/// The recipe of an upgrade, begun with the first chapter of the schema.
#[sqlx::test(migrations = false)]
async fn the_upgrade_recipe_takes_the_first_chapter_to_this_release(pool: PgPool) {
    let world = World::with_empty_database(pool).await;
    let first: Vec<_> = plumbline_store::MIGRATOR.iter().take(1).cloned().collect();
    let first = Migrator { migrations: first.into(), ..Migrator::DEFAULT };
    first.run(&world.pool).await.expect("the first chapter can be applied");
    let unready = world.run(&["worker", "--until-idle"]).await;
    assert!(unready.code == Some(1) && unready.stderr.contains("plumbline migrate"), "{}", unready.stderr);

    let mut recipes = blocks("docs/recipes.md").into_iter().filter(|block| block.text.contains("plumbline migrate"));
    let upgrade = recipes.next().expect("there is a recipe of an upgrade");
    for line in commands(&upgrade.text) {
        let ended = shell(&world, &line).await;
        assert_eq!(ended.code, Some(0), "{}: {line}\n{}{}", upgrade.place, ended.stdout, ended.stderr);
    }
    let job = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    world.work_until_idle().await;
    world.becomes(job, "completed").await;
    world.finish().await;
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

/// The line without redirections and pipes.
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

/// Files and folders that a README, ARCHITECTURE.md or a page of docs/ names exist: below the folder it lies in, or one above.
#[test]
fn files_named_in_documents_exist() {
    let folder = root().canonicalize().expect("the repository");
    let mut all = Vec::new();
    collect(&folder, &folder, &mut all);
    let is_document = |path: &&String| {
        path.ends_with("README.md")
            || *path == "ARCHITECTURE.md"
            || (path.starts_with("docs/") && path.ends_with(".md"))
    };
    let mut checked = 0;
    for document in all.iter().filter(is_document) {
        let text = fs::read_to_string(folder.join(document)).expect("a document");
        for name in names_of_files(&text) {
            checked += 1;
            assert!(is_there(document, name, &all), "{document} names `{name}`, which does not exist");
        }
    }
    assert!(checked > 60, "{checked} names were checked");
    let known = ["crates/a/README.md", "crates/a/src/b/c.rs", "tests/it/d.rs"].map(str::to_owned);
    assert_eq!(
        names_of_files("`b/c.rs` `c.rs` `a::b` `x` ```\n`in/a/fence.rs`\n``` `queries/`"),
        ["b/c.rs", "c.rs", "queries/"]
    );
    assert!(is_there("crates/a/README.md", "b/c.rs", &known) && is_there("crates/a/README.md", "src/b/", &known));
    assert!(is_there("crates/a/README.md", "tests/it/d.rs", &known));
    assert!(!is_there("crates/a/README.md", "d.rs", &known) && !is_there("crates/a/README.md", "b/gone.rs", &known));
}

/// The repository's files, by their paths from its root.
fn collect(folder: &Path, root: &Path, into: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if entry.is_dir() && !["target", ".git", ".plumbline", "node_modules"].contains(&name) {
            collect(&entry, root, into);
        } else if entry.is_file() {
            into.push(entry.strip_prefix(root).expect("below the root").to_string_lossy().into_owned());
        }
    }
}

/// Names in backticks outside fences that are files of the repository by their ending, or folders. Files of jobs and
/// users, build output and patterns are excluded.
fn names_of_files(text: &str) -> Vec<&str> {
    const ENDINGS: [&str; 7] = [".rs", ".sql", ".py", ".sh", ".css", ".lua", ".html"];
    const OTHERS: [&str; 8] = ["target/", "import/", "input/", "output/", "chunks/", "job_", "archive/", "/"];
    let outside = text.split("```").step_by(2);
    let spans = outside.flat_map(|part| part.split('`').skip(1).step_by(2));
    let is_pattern = |name: &str| name.contains(['<', '*', ' ', '{', ':', '$', '(']) || name.contains("YYYY");
    let leads_in = |name: &str| FOLDERS.iter().any(|folder| name.starts_with(&format!("{folder}/")));
    let is_name = |name: &&str| {
        !is_pattern(name)
            && !OTHERS.iter().any(|other| name.starts_with(other))
            && !name.ends_with("/.env")
            && (ENDINGS.iter().any(|ending| name.ends_with(ending)) || name.ends_with('/') || leads_in(name))
    };
    spans.filter(is_name).collect()
}

/// Whether a path, as a document names it, is one of these or the end of one below its own folder.
fn is_there(document: &str, name: &str, all: &[String]) -> bool {
    let folders = Path::new(document).ancestors().skip(1);
    let own = Path::new(document).parent().expect("a file lies in a folder").to_string_lossy();
    let name = name.trim_start_matches("./");
    let reached = |folder: &Path| {
        let path = folder.join(name).to_string_lossy().into_owned();
        all.iter().any(|known| *known == path || known.starts_with(&format!("{}/", path.trim_end_matches('/'))))
    };
    let below = || all.iter().filter(|known| own.is_empty() || known.starts_with(&format!("{own}/")));
    folders.map(Path::to_path_buf).any(|folder| reached(&folder))
        || below().any(|known| {
            known.ends_with(&format!("/{name}")) || known.contains(&format!("/{}/", name.trim_end_matches('/')))
        })
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
    let whole = fs::read_to_string(folder.path().join("plumbline.1")).expect("the page was read before");
    assert!(whole.contains(".SH ENVIRONMENT") && whole.contains(".SH EXIT STATUS"), "{whole}");
    assert!(!folder.path().join("plumbline-__with-postgres.1").exists(), "internals have no page");
}

/// The tests named in security.md exist.
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
