//! `plumbline watch`: a live view on a terminal, plain lines otherwise, JSON lines with `--json`.

mod lines;
mod live;

use crate::{access::if_allowed, arguments::WatchArguments, error::Failure, output};
use live::Live;
use plumbline_store::{Store, WatchRow};
use std::{io::IsTerminal, time::Duration};
use uuid::Uuid;

/// Polling interval: short enough to feel live, long enough to be cheap.
const LOOK: Duration = Duration::from_millis(250);
/// Consecutive failed polls before watching ends: a restart of the database must not end it.
const MOST_FAILURES: u32 = 240;
/// The exit code after Ctrl-C, as in shells.
const INTERRUPTED: u8 = 130;

pub(crate) async fn run(arguments: WatchArguments) -> Result<u8, Failure> {
    let (store, job) = arguments.job.open().await?;
    let view = if arguments.json { View::Json { last: None } } else { View::of_stdout(job)? };
    // Dropping the view restores the terminal in all cases.
    let last = tokio::select! {
        last = follow_in(&store, job, view) => last?,
        _ = tokio::signal::ctrl_c() => return Ok(INTERRUPTED),
    };
    if !arguments.json {
        say_headline(&last)?;
        needed(job, &last).map_or(Ok(()), |needed| output::print(&needed))?;
    }
    match arguments.require_coverage.filter(|_| last.status == "completed") {
        Some(least) => covered(&store, job, least).await,
        None => Ok(exit_code(&last)),
    }
}

/// The exit code of a completed job with a required coverage. A job without documents has full coverage.
async fn covered(store: &Store, job: Uuid, least: f64) -> Result<u8, Failure> {
    let whole = store.coverage(job).await?.into_iter().find(|line| line.document.is_none());
    match whole.filter(|whole| whole.share < least) {
        None => Ok(0),
        Some(whole) => Err(Failure::new(format!(
            "job {job} completed with {} of {} passages answered, a share of {}, less than the {least} required; `plumbline coverage \
             {job} --state unread,read` shows the others",
            whole.answered, whole.passages, whole.share
        ))),
    }
}

/// The system's headline, and its sentence on candidates that were decided not to be requirements.
pub(crate) fn say_headline(row: &WatchRow) -> Result<(), Failure> {
    [&row.headline, &row.decided].into_iter().flatten().try_for_each(|said| output::print(said))
}

/// The exit code for a job's end, or for waiting for a person.
pub(crate) fn exit_code(row: &WatchRow) -> u8 {
    match row.status.as_str() {
        "completed" => 0,
        "cancelled" => 2,
        "review" => 3,
        "paused" => 4,
        _ => 1,
    }
}

/// What the job needs to continue, with complete commands that can be copied.
fn needed(job: Uuid, row: &WatchRow) -> Option<String> {
    let reason = row.status_reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    match row.status.as_str() {
        // As long as calls wait, the job is not completed, resumed or sent back.
        "review" if row.waiting_calls > 0 => Some(format!(
            "job {job} is in review{reason}. An approver decides: `plumbline approvals {job}` lists the calls, \
             `plumbline approve-call ID` has one made, `plumbline reject-call ID --reason TEXT` has it refused"
        )),
        "review" => Some(format!(
            "job {job} is in review{reason}. Next steps for an approver or operator: `plumbline export {job} DIR` \
             writes its files, `plumbline approve {job}` completes it, `plumbline feedback {job} TEXT` sends it back to work"
        )),
        // If a limit was reached, the reason names the command that raises it.
        "paused" if reason.contains("`plumbline resume") => {
            Some(format!("job {job} is paused{reason}. An operator may do so"))
        }
        "paused" => {
            Some(format!("job {job} is paused{reason}. An operator may continue it with `plumbline resume {job}`"))
        }
        _ => None,
    }
}

/// Shows a job's progress until it ends or waits for a person; returns the last row.
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
            // A missing right is not an outage, so it is not retried.
            Err(failure) if failure.is_outage() && failures < MOST_FAILURES => failures += 1,
            Err(failure) => return Err(failure),
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Whether the job has ended or waits for a person.
fn is_over(row: &WatchRow) -> bool {
    matches!(row.status.as_str(), "completed" | "failed" | "cancelled" | "review" | "paused")
}

async fn look(store: &Store, job: Uuid, view: &mut View) -> Result<Option<WatchRow>, Failure> {
    let Some(row) = store.watch(job).await? else {
        return Ok(None);
    };
    match view {
        View::Live(live) => live.show(store, &row).await?,
        View::Lines { last } => {
            let line = lines::line(&row);
            if line != *last {
                // Read anew with each line: a job that was resumed may have another one.
                let budget = if_allowed(store.cost_budget(job).await)?;
                output::print(&format!("{line} ({})", lines::used(&row, budget)))?;
                *last = line;
            }
        }
        View::Json { last } => {
            if last.as_deref() != Some(&row) {
                output::json_line(&row)?;
                *last = Some(Box::new(row.clone()));
            }
        }
    }
    Ok(Some(row))
}

/// How progress is shown.
enum View {
    Live(Box<Live>),
    Lines { last: String },
    Json { last: Option<Box<WatchRow>> },
}

impl View {
    fn of_stdout(job: Uuid) -> Result<Self, Failure> {
        if !std::io::stdout().is_terminal() {
            return Ok(Self::Lines { last: String::new() });
        }
        Ok(Self::Live(Box::new(Live::begin(job)?)))
    }
}
