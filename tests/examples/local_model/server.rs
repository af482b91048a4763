//! The inference server: start, state, kill.

use plumbline_llm::{Api, ModelConfig};
use plumbline_system_tests::{Command, eventually, port};
use std::{fs::File, path::PathBuf, process::Stdio, time::Duration};
use tokio::{io::AsyncReadExt as _, io::AsyncWriteExt as _, net::TcpStream, process::Child};

/// The server to start.
pub(crate) struct Program {
    /// `llama-server`.
    pub(crate) server: PathBuf,
    /// The model's file.
    pub(crate) model: PathBuf,
}

/// A running server; dropping it kills it.
pub(crate) struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts one at a free port and waits until it answers.
    pub(crate) async fn start(program: &Program, window: u32, others: &[&str]) -> Self {
        let server = Self::launch(program, port::free(), window, others);
        server.answers().await;
        server
    }

    /// Starts one at this port without waiting for it. Its output is in `server.log` beside the model.
    pub(crate) fn launch(program: &Program, port: u16, window: u32, others: &[&str]) -> Self {
        let mut command = Command::new(&program.server);
        command.arg("--model").arg(&program.model).args(["--host", "127.0.0.1", "--offline", "--no-ui"]);
        command.args(["--parallel", "1", "--threads", "2"]).args(others);
        command.arg("--port").arg(port.to_string()).arg("--ctx-size").arg(window.to_string());
        let log = File::create(program.model.with_file_name("server.log")).expect("the model's folder can be written");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).kill_on_drop(true);
        let child = command.spawn().unwrap_or_else(|error| panic!("llama-server could not be started: {error}"));
        Self { child, port }
    }

    /// Waits until its model is loaded.
    pub(crate) async fn answers(&self) {
        eventually("llama-server to have loaded its model", async || (self.health().await == Some(200)).then_some(()))
            .await;
    }

    /// Waits until it takes connections, its model loaded or not.
    pub(crate) async fn listens(&self) {
        eventually("llama-server to listen", async || self.health().await).await;
    }

    /// Waits until it is in the middle of an answer.
    pub(crate) async fn is_answering(&self) {
        let begun = |slots: &String| slots.split("\"n_decoded\":").skip(1).any(|count| !count.starts_with("0,"));
        eventually("llama-server to answer", async || self.get("/slots").await.filter(begun)).await;
    }

    /// The status of its answer when it is asked how it is.
    async fn health(&self) -> Option<u16> {
        self.get("/health").await?.split(' ').nth(1)?.parse().ok()
    }

    /// Its response, head and body.
    async fn get(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.ok()?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok()?;
        Some(answer)
    }

    /// As if the machine had taken its memory; where it was.
    pub(crate) async fn kill(mut self) -> u16 {
        self.child.kill().await.expect("a running server can be killed");
        self.port
    }

    /// The address for clients.
    pub(crate) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// A client's configuration for it.
    pub(crate) fn config(&self, api: Api) -> ModelConfig {
        let mut config = ModelConfig::new(self.base_url(), "nonsense");
        config.api = Some(api);
        config.timeouts.total = Duration::from_secs(600);
        config
    }
}
