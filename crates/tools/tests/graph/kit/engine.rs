//! Neo4j as a child of the test program: one for all its tests, which use it one after another, each with an empty
//! graph.

use serde_json::{Value, json};
use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Its resource limits: its graphs have a few hundred nodes, and starting is most of its work.
const JVM: [&str; 3] = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];

/// A running Neo4j with an empty graph; dropping it passes it to the next test.
#[derive(Debug)]
pub struct Engine {
    /// Where it listens, on loopback.
    pub address: SocketAddr,
    _turn: OwnedMutexGuard<()>,
}

impl Engine {
    /// Waits for its turn and empties the graph; none, with a message, if there is no Neo4j.
    ///
    /// # Panics
    /// When it does not start or answer.
    pub async fn start() -> Option<Self> {
        static TURN: LazyLock<Arc<Mutex<()>>> = LazyLock::new(Arc::default);
        let turn = Arc::clone(&TURN).lock_owned().await;
        let Some(address) = plumbline_bounds::blocking::unbounded(running).await.unwrap() else {
            say_skipped();
            return None;
        };
        let engine = Self { address, _turn: turn };
        engine.empty().await;
        Some(engine)
    }

    async fn empty(&self) {
        ask(self.address, "MATCH (n) DETACH DELETE n").await;
        for (shown, dropped) in [("CONSTRAINTS YIELD name", "CONSTRAINT"), ("INDEXES YIELD name", "INDEX")] {
            for row in ask(self.address, &format!("SHOW {shown} RETURN name")).await {
                ask(self.address, &format!("DROP {dropped} `{}`", row[0].as_str().unwrap())).await;
            }
        }
    }
}

/// Runs a statement and returns its rows.
pub async fn ask(engine: SocketAddr, statement: &str) -> Vec<Value> {
    let body = json!({"statement": statement}).to_string();
    let (status, answer) = exchange(engine, "POST", "/db/neo4j/query/v2", body.as_bytes()).await;
    assert_eq!(status, 202, "{statement}: {}", String::from_utf8_lossy(&answer));
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    answer["data"]["values"].as_array().unwrap().clone()
}

/// One request and its response, by HTTP 1.0: the response's body ends with the connection.
pub async fn exchange(to: SocketAddr, method: &str, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
    let mut stream = TcpStream::connect(to).await.unwrap();
    let head = format!(
        "{method} {path} HTTP/1.0\r\nhost: {to}\r\naccept: application/json\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body].concat()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let status = String::from_utf8_lossy(&answer[..end]).split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_off(end + 4))
}

/// The address of this program's Neo4j, which is started on first use.
fn running() -> Option<SocketAddr> {
    // It exits when its stdin closes, which happens when this program ends for any reason.
    static RUNNING: OnceLock<Option<(SocketAddr, Child)>> = OnceLock::new();
    RUNNING.get_or_init(|| classpath().map(spawned)).as_ref().map(|(address, _)| *address)
}

fn spawned(classpath: String) -> (SocketAddr, Child) {
    let mut process = Command::new("java")
        .args(JVM)
        .args(["-cp", &classpath, "Neo4j"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let port = said.trim().trim_end_matches('/').rsplit(':').next().and_then(|port| port.parse().ok());
    let port: u16 = port.unwrap_or_else(|| panic!("Neo4j ended before it listened; it said {said:?}"));
    (SocketAddr::from(([127, 0, 0, 1], port)), process)
}

/// An unused loopback port, a different one each time: below the kernel's ephemeral range, so that no other socket gets
/// it between the check and its use.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let begin = std::process::id().wrapping_mul(89);
    let mut ports = (0..).map(|_| 15_000 + begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % 5_000);
    let free = |port: u32| u16::try_from(port).ok().filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    ports.find_map(free).unwrap()
}

/// The path where `.ci/graph-engine` has put Neo4j; a test is target/PROFILE/deps/NAME.
fn classpath() -> Option<String> {
    let test = env::current_exe().unwrap();
    let target = test.ancestors().nth(3).map(PathBuf::from)?;
    std::fs::read_to_string(target.join("tools/neo4j/classpath")).ok()
}

/// Bypasses the capture of a passed test's output: a skipped test must be visible.
fn say_skipped() {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // A closed stderr is not a failure.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: no Neo4j; enable with: .ci/graph-engine");
}
