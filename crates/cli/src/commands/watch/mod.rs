//! `plumbline watch`: a live view on a terminal, lines elsewhere, JSON lines where asked for.

mod lines;
mod live;

use crate::{arguments::WatchArguments, environment, failure::Failure, output};
use live::Live;
use plumbline_store::{Store, WatchRow};
use std::{io::IsTerminal, time::Duration};
use uuid::Uuid;

/// Time between looks; short enough to feel live, long enough to cost nothing.
const LOOK: Duration = Duration::from_millis(250);
/// Looks in a row that may fail before watching ends: a restart of the database is no reason to stop.
const MOST_FAILURES: u32 = 240;
/// The exit code of a program that Ctrl-C ended, as shells have it.
const INTERRUPTED: u8 = 130;

pub(crate) async fn run(arguments: WatchArguments) -> Result<u8, Failure> {
    let store = environment::store().await?;
    let view = if arguments.json { View::Json { last: None } } else { View::of_stdout(arguments.job)? };
    // Dropping the view gives the terminal back, whichever way this ends.
    tokio::select! {
        last = follow_in(&store, arguments.job, view) => Ok(exit_code(&last?)),
        _ = tokio::signal::ctrl_c() => Ok(INTERRUPTED),
    }
}

/// The exit code for how a job ended.
pub(crate) fn exit_code(row: &WatchRow) -> u8 {
    match row.status.as_str() {
        "completed" => 0,
        "cancelled" => 2,
        "review" => 3,
        _ => 1,
    }
}

/// Shows a job's progress until it ends or waits for a person; gives the last row.
pub(crate) async fn follow(store: &Store, job: Uuid) -> Result<WatchRow, Failure> {
    follow_in(store, job, View::of_stdout(job)?).await
}

async fn follow_in(store: &Store, job: Uuid, mut view: View) -> Result<WatchRow, Failure> {
    let mut failures = 0;
    loop {
        match look(store, job, &mut view).await {
            Ok(Some(row)) if is_over(&row) => return Ok(row),
            Ok(Some(_)) => failures = 0,
            Ok(None) => return Err(output::no_job(job)),
            Err(Trouble::Store(error)) if error.is_transient() && failures < MOST_FAILURES => failures += 1,
            Err(Trouble::Store(error)) => return Err(error.into()),
            Err(Trouble::Output(failure)) => return Err(failure),
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn is_over(row: &WatchRow) -> bool {
    matches!(row.status.as_str(), "completed" | "failed" | "cancelled" | "review")
}

/// Why a look came to nothing.
enum Trouble {
    Store(plumbline_store::Error),
    Output(Failure),
}

impl From<plumbline_store::Error> for Trouble {
    fn from(error: plumbline_store::Error) -> Self {
        Self::Store(error)
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Output(failure)
    }
}

async fn look(store: &Store, job: Uuid, view: &mut View) -> Result<Option<WatchRow>, Trouble> {
    let Some(row) = store.watch(job).await? else {
        return Ok(None);
    };
    match view {
        View::Live(live) => live.show(store, &row).await?,
        View::Lines { last } => {
            let line = lines::line(&row);
            if line != *last {
                output::print(&format!("{line} ({} tokens)", output::thousands(row.total_tokens_used)))?;
                *last = line;
            }
        }
        View::Json { last } => {
            if last.as_ref() != Some(&row) {
                output::json_line(&row)?;
                *last = Some(row.clone());
            }
        }
    }
    Ok(Some(row))
}

/// How progress is shown.
enum View {
    Live(Box<Live>),
    Lines { last: String },
    Json { last: Option<WatchRow> },
}

impl View {
    fn of_stdout(job: Uuid) -> Result<Self, Failure> {
        if !std::io::stdout().is_terminal() {
            return Ok(Self::Lines { last: String::new() });
        }
        Ok(Self::Live(Box::new(Live::begin(job)?)))
    }
}
