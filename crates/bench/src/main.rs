//! `plumbline-bench`: measures the released `plumbline` from outside and holds it against its targets.
//!
//! ```text
//! make bench                      a private Postgres whose commits reach the disk, then this program
//! plumbline-bench --quick         small sizes, to see that everything works
//! plumbline-bench --only P5,P8    some figures
//! plumbline-bench --guard         ratios and counts, for continuous integration
//! ```
//!
//! Three processes take part: Postgres, the scripted model (this program once more, see [`model`]) and the worker, which
//! is the real binary. Nothing of it runs in this process but the store's commit and claim, which are measured alone.
//! Each figure has a file in [`figures`] and stands beside its floor: the same work done by the plainest means, in the
//! same run, on the same machine.

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

/// The worker's own: what is counted here of its code is then what it does there, and the model has room at hand for
/// long requests. With the C library's it asks the system for that room, page by page, at each of them.
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

/// Ends at a signal like at any other error, so that the workers and models end with it: they are killed when dropped.
async fn unless_stopped(measuring: impl Future<Output = Result<bool, Error>>) -> Result<bool, Error> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::select! {
        done = measuring => done,
        _ = interrupt.recv() => Err(Error::new("interrupted before all figures were measured")),
        _ = terminate.recv() => Err(Error::new("asked to stop before all figures were measured")),
    }
}
