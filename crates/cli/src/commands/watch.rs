//! `plumbline watch`: a progress bar on a terminal, lines elsewhere.

use crate::{
    environment,
    failure::Failure,
    output::{self, short, thousands},
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use plumbline_store::{Store, WatchRow};
use std::{io::IsTerminal, time::Duration};
use uuid::Uuid;

/// Time between looks; short enough to feel live, long enough to cost nothing.
const LOOK: Duration = Duration::from_millis(250);
/// Looks in a row that may fail before watching ends: a restart of the database is no reason to stop.
const MOST_FAILURES: u32 = 240;

pub(crate) async fn run(job: Uuid) -> Result<u8, Failure> {
    let store = environment::store().await?;
    let last = follow(&store, job).await?;
    Ok(exit_code(&last))
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
    let mut view = View::new();
    let mut failures = 0;
    loop {
        match store.watch(job).await {
            Ok(Some(row)) => {
                failures = 0;
                view.show(&row)?;
                if matches!(row.status.as_str(), "completed" | "failed" | "cancelled" | "review") {
                    view.finish();
                    return Ok(row);
                }
            }
            Ok(None) => {
                return Err(Failure::new(format!(
                    "there is no job {job} in this database; `plumbline status` lists the jobs"
                )));
            }
            Err(error) if error.is_transient() && failures < MOST_FAILURES => failures += 1,
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(LOOK).await;
    }
}

enum View {
    Bar(ProgressBar),
    Lines { last: String },
}

impl View {
    fn new() -> Self {
        if !std::io::stdout().is_terminal() {
            return Self::Lines { last: String::new() };
        }
        let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stdout());
        let template = if std::env::var_os("NO_COLOR").is_some() {
            "{prefix} {bar:24} {pos}/{len}  {wide_msg}"
        } else {
            "{prefix:.cyan} {bar:24.green} {pos}/{len}  {wide_msg}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self::Bar(bar)
    }

    fn show(&mut self, row: &WatchRow) -> Result<(), Failure> {
        match self {
            Self::Bar(bar) => {
                bar.set_length(u64::try_from(row.todos_total).unwrap_or(0).max(1));
                bar.set_position(u64::try_from(row.todos_done).unwrap_or(0));
                bar.set_prefix(phase(row));
                bar.set_message(message(row));
                Ok(())
            }
            Self::Lines { last } => {
                let line = format!("{} {}/{} {}", phase(row), row.todos_done, row.todos_total, what(row));
                if line == *last {
                    return Ok(());
                }
                output::print(&format!("{line} ({} tokens)", thousands(row.total_tokens_used)))?;
                *last = line;
                Ok(())
            }
        }
    }

    fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn phase(row: &WatchRow) -> String {
    match (&row.phase, &row.phase_name) {
        (Some(kind), Some(name)) => format!("{} [{kind} {}: {}]", row.status, row.phase_number, short(name, 32)),
        _ => row.status.clone(),
    }
}

fn what(row: &WatchRow) -> String {
    let reason = row.error_message.as_ref().or(row.status_reason.as_ref());
    reason.or(row.current_todo.as_ref()).map(|text| short(text, 80)).unwrap_or_default()
}

fn message(row: &WatchRow) -> String {
    format!("{}  {} tokens", what(row), thousands(row.total_tokens_used))
}
