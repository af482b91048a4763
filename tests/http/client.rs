//! A minimal HTTP client: one request, one response, raw headers.

use plumbline_system_tests::{Program, World, eventually, wait::CEILING};
use std::net::SocketAddr;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// The response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// In their original order, names in lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .find_map(|line| line.split_once(": ").filter(|(known, _)| known.eq_ignore_ascii_case(name)))
            .map(|pair| pair.1)
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// A worker with its HTTP side on a free port.
pub(crate) async fn worker(world: &World) -> (Program, SocketAddr) {
    serving(world.start(world.command(&["worker", "--http", "127.0.0.1:0"]))).await
}

/// The address that a started worker says it serves.
pub(crate) async fn serving(program: Program) -> (Program, SocketAddr) {
    let address = eventually("the worker's HTTP address", async || {
        let log = program.stderr();
        let at = log.split("\"http.address\":\"").nth(1)?;
        at.split('"').next()?.parse().ok()
    })
    .await;
    (program, address)
}

/// `GET`.
pub(crate) async fn get(address: SocketAddr, path: &str) -> Answer {
    ask(address, "GET", path, "").await
}

/// Any request; `headers` are whole lines.
pub(crate) async fn ask(address: SocketAddr, method: &str, path: &str, headers: &str) -> Answer {
    let host = if headers.contains("Host: ") { String::new() } else { format!("Host: {address}\r\n") };
    let request = format!("{method} {path} HTTP/1.1\r\n{host}Connection: close\r\n{headers}\r\n");
    let text = timeout(CEILING, async {
        let mut stream = TcpStream::connect(address).await.expect("the worker listens");
        stream.write_all(request.as_bytes()).await.expect("a request can be sent");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.expect("an answer can be read");
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let text = text.await.unwrap_or_else(|_| panic!("{method} {path} was not answered"));
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer to {method} {path}: {text}"));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("an answer has a status");
    Answer { status, head: head.replace("\r\n", "\n"), body: body.to_owned() }
}

/// Reads an event stream until it ends.
pub(crate) async fn events(address: SocketAddr, path: &str) -> String {
    ask(address, "GET", path, "Accept: text/event-stream\r\n").await.body
}

/// A series of the metrics by its name and labels.
pub(crate) fn value(metrics: &str, series: &str) -> f64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("no {series} in\n{metrics}"))
}
