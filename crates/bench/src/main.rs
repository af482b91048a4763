//! `plumbline-bench`: measures the released `plumbline` from outside and compares it with its targets.
//!
//! ```text
//! make bench                      a private Postgres whose commits reach the disk, then this program
//! plumbline-bench --quick         small sizes, to see that everything works
//! plumbline-bench --only P5,P8    some figures
//! plumbline-bench --guard         ratios and counts, for continuous integration
//! ```
//!
//! Three processes take part: Postgres, the scripted model (another process of this program, see [`model`]) and the
//! worker, which is the real binary. Only the store's commit and claim, which are measured separately, run in this
//! process. Each figure has a file in [`figures`] and is reported with its floor: the same work done by the simplest
//! means, in the same run, on the same machine.

mod child;
mod database;
mod error;
mod figures;
mod fixture;
mod instructed;
mod machine;
mod model;
mod options;
mod procfs;
mod proxy;
mod report;
mod sizes;

use clap::Parser;
use error::Error;
use options::{Cli, Command};
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

/// The worker's allocator, so that counts of its code are comparable and the model has memory ready for long requests.
/// With the C library's allocator, each long request would fetch it from the system page by page.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Some(Command::Model(arguments)) => model::serve(arguments).await.map(|()| true),
        Some(Command::Instructed(task)) => instructed::perform_task(task).map(|()| true),
        None => unless_stopped(figures::run(cli.options)).await,
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Ends on a signal as on any error, so that workers and models end too: they are killed when dropped.
async fn unless_stopped(measuring: impl Future<Output = Result<bool, Error>>) -> Result<bool, Error> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::select! {
        done = measuring => done,
        _ = interrupt.recv() => Err(Error::new("interrupted before all figures were measured")),
        _ = terminate.recv() => Err(Error::new("asked to stop before all figures were measured")),
    }
}
