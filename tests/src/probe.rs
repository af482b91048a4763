//! A worker's probes, as a supervisor requests them.

use crate::{Program, World, eventually};
use serde_json::Value;
use std::net::SocketAddr;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::Command,
};

/// A worker and the address of its probes.
#[derive(Debug)]
pub struct Probed {
    /// The worker.
    pub program: Program,
    address: SocketAddr,
}

impl Probed {
    /// Starts a worker with its probes on a free port. The command comes from [`World::command`] for `worker`.
    ///
    /// # Panics
    /// When it does not report its address.
    pub async fn start(world: &World, mut command: Command) -> Self {
        command.args(["--http", "127.0.0.1:0"]);
        let program = world.start(command);
        let address = eventually("the worker's HTTP address", async || {
            let log = program.stderr();
            log.split("\"http.address\":\"").nth(1)?.split('"').next()?.parse().ok()
        })
        .await;
        Self { program, address }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Requests `/healthz` or `/readyz`; returns the status code and the body.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn ask(&self, path: &str) -> (u16, Value) {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        let mut stream = TcpStream::connect(self.address).await.expect("the worker listens");
        stream.write_all(request.as_bytes()).await.expect("a request can be sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer can be read");
        let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head and a body");
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("an answer has a status");
        (status, serde_json::from_str(body).expect("the probes answer in JSON"))
    }

    /// Waits until it listens for notifications.
    ///
    /// # Panics
    /// When it does not.
    pub async fn listens(&self) {
        let heard = async || (self.ask("/healthz").await.1["listener"] == "listening").then_some(());
        eventually("the worker to listen", heard).await;
    }

    /// The report of `/healthz` about the mirror.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn mirror(&self) -> String {
        self.ask("/healthz").await.1["mirror"].as_str().unwrap_or_default().to_owned()
    }
}
