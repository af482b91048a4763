//! `plumbline __with-postgres -- COMMAND`: runs a command with a temporary private Postgres, whose address is in
//! `DATABASE_URL`. `make test` and the benchmarks use it.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};
use tokio::signal::unix::{self, SignalKind, signal};

use plumbline_dev_postgres::{self as dev_postgres, Error, Options, PrivatePostgres};

/// The arguments of the hidden subcommand.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Commits survive a power cut, for measurements that must count the disk
    #[arg(long)]
    durable: bool,
    /// Use the persistent cluster in this folder, like `plumbline dev`, instead of a temporary one
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// A server setting, as in postgresql.conf; repeat for several
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Starts the cluster, runs the command to its end, stops the cluster, and returns the command's exit code.
///
/// # Errors
/// If the cluster cannot be started or the command cannot be run.
pub(crate) async fn run(arguments: Arguments) -> Result<u8, Error> {
    let lasting = arguments.data.is_some();
    let postgres = dev_postgres::start(Options {
        dir: arguments.data,
        durable: arguments.durable || lasting,
        settings: arguments.settings,
    })
    .await?;
    let result = run_command(&postgres, &arguments.command).await;
    postgres.stop().await?;
    result
}

/// Reads `name=value`.
fn setting(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = pair.ok_or("write a server setting as NAME=VALUE, e.g. shared_buffers=1GB")?;
    Ok((name.to_owned(), value.to_owned()))
}

async fn run_command(postgres: &PrivatePostgres, command: &[OsString]) -> Result<u8, Error> {
    let (program, rest) = command.split_first().expect("clap requires a command");
    let program = PathBuf::from(program);
    let mut signals = Signals::listen().map_err(Error::file("listen for signals before running", &program))?;
    let mut child = Command::new(&program);
    child.args(rest).env("DATABASE_URL", postgres.url()).env("PATH", path_with(postgres.programs()));
    let child = child.spawn().map_err(Error::file("run", &program))?;
    signals.pass_on_until_end(child).await.map(exit_code).map_err(Error::file("wait for", &program))
}

/// The `PATH` with the server's client programs at its end, so that the command finds a `psql`.
fn path_with(bin_dir: &Path) -> OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":");
    path.push(bin_dir);
    path
}

/// The termination signals. Before this exists they end the process at once, and the server with it.
struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the command, forwarding signals that only this process gets. Ctrl-C at a terminal reaches the whole
    /// foreground group, including the command; many programs treat a second one as "now".
    async fn pass_on_until_end(&mut self, mut child: Child) -> std::io::Result<ExitStatus> {
        let from_terminal = std::io::stdin().is_terminal() || std::io::stderr().is_terminal();
        loop {
            tokio::select! {
                ended = child.wait() => return ended,
                _ = self.interrupt.recv() => if !from_terminal { pass_on(&child, Signal::INT) },
                _ = self.terminate.recv() => pass_on(&child, Signal::TERM),
            }
        }
    }
}

fn pass_on(child: &Child, signal: Signal) {
    if let Some(id) = child.id() {
        pass_on_to(id, signal);
    }
}

/// Sends a signal to a child that may have ended just now.
pub(crate) fn pass_on_to(child: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(child).ok().and_then(Pid::from_raw) {
        // It fails only when the command has just ended, and then the wait returns.
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// The command's exit code, or the shell's convention for a signal.
fn exit_code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(1)
}
