//! Names in files that are not compiled: metrics in alerts and dashboards, variables in manifests.

use plumbline_system_tests::{Answer, PgPool, Program, World, documents, eventually, jobs::NewJob, program};
use std::{
    collections::BTreeSet,
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All words of a text that begin so.
fn words(text: &str, prefix: &str) -> BTreeSet<String> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let found = text.split(|letter| !is_name(letter)).filter(|word| word.starts_with(prefix) && *word != prefix);
    found.map(str::to_owned).collect()
}

/// Every file below a folder that is text.
fn texts(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).expect("a folder can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            texts(&path, found);
        } else if let Ok(text) = fs::read_to_string(&path) {
            found.push((path, text));
        }
    }
}

/// Names that a rule or a panel may use; histograms by their parts.
fn family(name: &str) -> &str {
    ["_bucket", "_sum", "_count"].iter().find_map(|part| name.strip_suffix(part)).unwrap_or(name)
}

async fn metrics(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).await.expect("the worker listens");
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("a request can be sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer can be read");
    answer
}

/// The address that a started worker says it serves.
pub(super) async fn address(worker: &Program) -> SocketAddr {
    eventually("the worker's HTTP address", async || {
        worker.stderr().split("\"http.address\":\"").nth(1)?.split('"').next()?.parse().ok()
    })
    .await
}

/// A counter is there from its first event on, so everything that is counted happens here: a worker that dies, a commit
/// that is refused, a job that completes.
#[sqlx::test(migrations = false)]
async fn every_metric_that_is_asked_for_exists(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(1);
    let orphan = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.model.hold_from(3);
    let mortal = world.worker();
    world.model.arrived(3).await;
    mortal.kill().await;
    world.age_workers().await;

    let worker = world.start(world.command(&["worker", "--http", "127.0.0.1:0"]));
    world.model.arrived(4).await;
    world.call("SELECT pause_job($1)", orphan).await.expect("a running job can be paused");
    world.model.answers(Answer::Work);
    world.until(orphan, "paused", |job| job.status == "paused").await;
    let finished = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.becomes(finished, "completed").await;

    let asked_for: BTreeSet<String> =
        ["prometheus/alerts.yaml", "prometheus/alerts_test.yaml", "grafana/dashboard.json"]
            .iter()
            .flat_map(|file| {
                let text = fs::read_to_string(root().join("deploy").join(file)).expect("the file is there");
                words(&text, "plumbline_").into_iter().chain(words(&text, "gen_ai_client_")).collect::<Vec<_>>()
            })
            .collect();
    assert!(asked_for.len() > 10, "{asked_for:?}");
    let served = metrics(address(&worker).await).await;
    let known: BTreeSet<&str> =
        served.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let unknown: Vec<_> = asked_for.iter().filter(|name| !known.contains(family(name))).collect();
    assert!(unknown.is_empty(), "no such metrics: {unknown:?}; there are {known:?}");
    worker.stop().await;
    world.call("SELECT cancel_job($1)", orphan).await.expect("a paused job can be cancelled");
    world.finish().await;
}

#[test]
fn every_variable_that_is_named_is_read_by_the_program() {
    let (mut manifests, mut sources) = (Vec::new(), Vec::new());
    for folder in ["deploy", "docker"] {
        texts(&root().join(folder), &mut manifests);
    }
    texts(&root().join("crates"), &mut sources);
    let known: BTreeSet<String> = sources.iter().flat_map(|(_, text)| words(text, "PLUMBLINE_")).collect();
    assert!(manifests.len() > 10 && known.contains("PLUMBLINE_WORKSPACE_DIR"));
    for (path, text) in manifests {
        let unknown: Vec<_> = words(&text, "PLUMBLINE_").into_iter().filter(|name| !known.contains(name)).collect();
        assert!(unknown.is_empty(), "{}: the program reads no {unknown:?}", path.display());
    }
}

/// The words of a list that is written `[a, "b"]`.
fn list(text: &str) -> Vec<String> {
    let inside = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(inside, _)| inside);
    inside.split(',').map(|word| word.trim().trim_matches('"').to_owned()).collect()
}

/// How the files start the program: image, compose services that run it, and unit.
fn commands() -> Vec<Vec<String>> {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("the file is there");
    let mut found: Vec<Vec<String>> =
        read("docker/Dockerfile").lines().filter(|line| line.contains("CMD [")).map(list).collect();
    let mut ours = false;
    for line in read("docker/compose.yaml").lines() {
        if line.starts_with("  ") && !line.starts_with("   ") {
            ours = false;
        }
        ours |= line.trim() == "<<: *plumbline";
        if ours && line.starts_with("    command: [") {
            found.push(list(line));
        }
    }
    let unit = read("deploy/systemd/plumbline-worker.service");
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("a unit starts something");
    found.push(start.split(' ').map(str::to_owned).collect());
    for command in &mut found {
        command.retain(|word| !word.ends_with("/plumbline"));
    }
    found
}

/// Help is only given for a command whose other arguments are understood.
#[test]
fn every_command_that_is_started_is_one_of_the_program() {
    let commands = commands();
    assert!(commands.len() >= 6, "{commands:?}");
    for command in commands {
        let ended = std::process::Command::new(program::path())
            .args(&command)
            .arg("--help")
            .output()
            .expect("the program can be started");
        assert!(ended.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ended.stderr));
    }
}
