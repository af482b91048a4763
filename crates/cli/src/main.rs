//! The binary `plumbline`: one command per file under `commands/`, the private Postgres of `dev` and of the tests
//! beside them. Every error is one sentence on stderr; exit codes are 0 done, 1 failed, 2 wrong usage or cancelled.

mod access;
mod arguments;
mod commands;
mod duration;
mod environment;
mod error;
mod job_ref;
mod output;
mod reaper;
mod signals;
mod terminal;
mod time;
mod values;
mod with_postgres;

use arguments::{Cli, Command};
use clap::{CommandFactory as _, error::ErrorKind};
use error::Failure;
use plumbline_engine::one_line;
use std::process::ExitCode;

/// A step allocates memory some hundreds of times, forty of them larger than the C library's per-thread cache.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    // The document child parses hostile input under tight limits: it starts no runtime and reads its own arguments.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == "__extract") {
        return plumbline_documents::run_child();
    }
    if let Some(code) = reaper::run_as_child() {
        return code;
    }
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Failure::new(format!("the runtime could not be started: {error}")).report(),
    };
    let missing_rights = access::missing_rights(&cli.command);
    let ended = runtime.block_on(run(cli.command));
    signals::end(runtime);
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(failure) => failure.explained(&missing_rights).report(),
    }
}

/// Help and version as clap prints them; usage errors in one line, like every other failure.
fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        error.exit();
    }
    let text = error.to_string();
    let said = text.split("\n\nUsage:").next().unwrap_or_default();
    let said = said.split("\n\nFor more information").next().unwrap_or_default();
    let line = one_line(&said.trim_start_matches("error: ").replace("\n\n  tip: ", "; "));
    let help = subcommand().map_or_else(|| "plumbline".to_owned(), |name| format!("plumbline {name}"));
    Failure::usage(format!("{line}; see `{help} --help`")).report()
}

/// The subcommand that was called, if there is one of that name.
fn subcommand() -> Option<String> {
    let named = std::env::args().nth(1)?;
    Cli::command().find_subcommand(&named).map(|command| command.get_name().to_owned())
}

async fn run(command: Command) -> Result<u8, Failure> {
    match command {
        Command::Migrate => commands::migrate::run().await,
        Command::Roles { database, print } => commands::roles::run(database, print).await,
        Command::Worker(arguments) => commands::worker::run(arguments).await,
        Command::Enqueue(arguments) => commands::enqueue::run(arguments).await,
        Command::Status(arguments) => commands::status::run(arguments).await,
        Command::Watch(arguments) => commands::watch::run(arguments).await,
        Command::Cancel(arguments) => commands::control::cancel(arguments).await,
        Command::Pause(arguments) => commands::control::pause(arguments).await,
        Command::Resume(arguments) => commands::control::resume(arguments).await,
        Command::Retry(arguments) => commands::control::retry(arguments).await,
        Command::Approve(arguments) => commands::control::approve(arguments).await,
        Command::Approvals(arguments) => commands::approvals::list(arguments).await,
        Command::ApproveCall { id } => commands::approvals::approve(id).await,
        Command::RejectCall { id, reason } => commands::approvals::reject(id, reason).await,
        Command::EditCall { id, arguments } => commands::approvals::edit(id, &arguments).await,
        Command::GrantCalls { job, tool, count } => commands::approvals::grant(&job, &tool, count).await,
        Command::Feedback(arguments) => commands::control::feedback(arguments).await,
        Command::Coverage(arguments) => commands::coverage::run(arguments).await,
        Command::Trace(arguments) => commands::trace::run(arguments).await,
        Command::Replay(arguments) => commands::replay::run(arguments).await,
        Command::Fork { job, step, new_config } => commands::fork::run(&job, step, new_config).await,
        Command::Files { job, prefix } => commands::files::list(&job, prefix.as_deref().unwrap_or_default()).await,
        Command::Cat { job, path } => commands::files::cat(&job, &path).await,
        Command::Export { job, dir, only } => {
            commands::files::export(&job, &dir, only.as_deref().unwrap_or_default()).await
        }
        Command::Report { job, file } => commands::report::run(&job, file.as_deref()).await,
        Command::Eval(arguments) => commands::eval::run(arguments).await,
        Command::Candidates(arguments) => commands::candidates::run(arguments).await,
        Command::Config(what) => commands::config::run(what),
        Command::Models(arguments) => commands::models::run(arguments),
        Command::Prune(arguments) => commands::prune::run(arguments).await,
        Command::Init(arguments) => commands::init::run(arguments).await,
        Command::Dev(arguments) => commands::dev::run(arguments).await,
        Command::Rehearse(arguments) => commands::rehearse::run(arguments).await,
        Command::Doctor(arguments) => commands::doctor::run(arguments).await,
        Command::Completions { shell } => commands::manual::completions(shell),
        Command::Manual { dir } => commands::manual::run(dir.as_deref()),
        Command::Probe => commands::healthcheck::run().await,
        Command::WithPostgres(arguments) => with_postgres::run(arguments).await.map_err(Failure::from),
    }
}
