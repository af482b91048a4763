//! The measured programs: the released `plumbline` and the scripted model, each in a separate process.

use crate::error::{During, Error};
use crate::model::Trace;
use rustix::process::{Pid, Signal, kill_process};
use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tokio::io::{AsyncBufReadExt, BufReader};

/// A worker that has not ended after this time is killed, and the measurement fails.
const ENDS_WITHIN: Duration = Duration::from_secs(30);

/// A running program; dropping it kills it.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
}

impl Program {
    /// Starts a command without input and output.
    pub(crate) fn start(mut command: Command) -> Result<Self, Error> {
        let shown = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Ok(Self { child: command.spawn().during(&format!("start {shown}"))? })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn signal(&self, signal: Signal) -> Result<(), Error> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| Error::new("the system gave a process an impossible number"))?;
        kill_process(pid, signal).during("signal the worker")
    }

    /// Asks it to stop and waits for its end; returns the duration.
    pub(crate) fn stop(mut self) -> Result<Duration, Error> {
        self.signal(Signal::TERM)?;
        let started = Instant::now();
        while started.elapsed() < ENDS_WITHIN {
            if self.child.try_wait()?.is_some() {
                return Ok(started.elapsed());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(Error::new(format!("a worker that was asked to stop had not stopped after {ENDS_WITHIN:?}")))
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) -> Result<(), Error> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Both fail only for an ended process.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The scripted model in its process.
#[derive(Debug)]
pub(crate) struct Model {
    address: String,
    http: reqwest::Client,
    _child: tokio::process::Child,
}

impl Model {
    /// Starts another process of this program, as the model.
    pub(crate) async fn start(delay: Duration) -> Result<Self, Error> {
        let mut command = tokio::process::Command::new(std::env::current_exe()?);
        command.args(["model", "--delay-ms", &delay.as_millis().to_string()]);
        let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().during("start the model")?;
        let stdout = child.stdout.take().ok_or_else(|| Error::new("the model's output is not connected"))?;
        let line = BufReader::new(stdout).lines().next_line().await.during("read the model's address")?;
        let address = line.ok_or_else(|| Error::new("the model ended before it said its address"))?;
        Ok(Self { address, http: crate::proxy::client()?, _child: child })
    }

    /// The value of `OPENAI_BASE_URL`.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The model's data about a job.
    pub(crate) async fn trace(&self, tag: &str) -> Result<Trace, Error> {
        let url = format!("http://{}/trace/{tag}", self.address);
        let answer = self.http.get(url).send().await?.error_for_status()?.bytes().await?;
        serde_json::from_slice(&answer).during(&format!("read the model's trace of {tag}"))
    }

    /// The time of one request of this size, sent sequentially by a plain client: median of 50.
    pub(crate) async fn speed(&self, bytes: usize) -> Result<Duration, Error> {
        let filler = "x".repeat(bytes.saturating_sub(200));
        let body = format!(
            "{{\"model\":\"bench\",\"messages\":[\"bench tag=speed turns=9 bytes=2048 tool=write trace=0\",\"{filler}\"]}}"
        );
        let url = format!("{}/chat/completions", self.base_url());
        let mut times = Vec::new();
        for _ in 0..50 {
            let started = Instant::now();
            self.http.post(&url).body(body.clone()).send().await?.error_for_status()?.bytes().await?;
            times.push(started.elapsed());
        }
        times.sort();
        Ok(times[times.len() / 2])
    }
}

/// The program under test, and how its commands are run.
#[derive(Clone, Debug)]
pub(crate) struct Plumbline {
    pub(crate) path: std::path::PathBuf,
}

impl Plumbline {
    /// A command of the program, on a database, in a clean environment.
    pub(crate) fn command(&self, database_url: &str, workspace: &Path) -> Command {
        let mut command = Command::new(&self.path);
        command.env_clear();
        for kept in ["PATH", "HOME", "LANG", "TMPDIR"] {
            if let Some(value) = std::env::var_os(kept) {
                command.env(kept, value);
            }
        }
        command.env("DATABASE_URL", database_url).env("PLUMBLINE_WORKSPACE_DIR", workspace).env("RUST_LOG", "error");
        command
    }
}
