//! The live view: phase, todos, usage and the latest events, redrawn in place.
//!
//! The job's row is read four times a second; todos and events only after a step, because they change only with steps.

use crate::{
    access::if_allowed,
    error::Failure,
    output::{self, cost, short, thousands},
    terminal::{Look, Picture, Tone},
};
use chrono::Utc;
use plumbline_store::{JobSeen, Store, TodoRow, TracePage, TraceStep, WatchRow};
use serde_json::Value;
use uuid::Uuid;

/// Number of steps whose events are shown.
const STEPS: i64 = 4;
/// Events shown.
const EVENTS: usize = 8;
/// Columns of the progress bar.
const BAR: usize = 30;

/// The view of one job.
pub(super) struct Live {
    job: Uuid,
    picture: Picture,
    /// The step that `facts` are of.
    step: Option<(i64, String)>,
    facts: Facts,
}

/// Data read once per step.
#[derive(Default)]
struct Facts {
    detail: Option<JobSeen>,
    /// Its cost budget in USD.
    budget: Option<f64>,
    todos: Vec<TodoRow>,
    steps: Vec<TraceStep>,
}

impl Live {
    pub(super) fn begin(job: Uuid) -> Result<Self, Failure> {
        let picture = Picture::begin().map_err(unwritable)?;
        Ok(Self { job, picture, step: None, facts: Facts::default() })
    }

    pub(super) async fn show(&mut self, store: &Store, row: &WatchRow) -> Result<(), Failure> {
        let now = Some((row.step, row.status.clone()));
        if self.step != now {
            self.facts = Facts::read(store, self.job, row).await?;
            self.step = now;
        }
        // Read each time, because the window may have been resized.
        let lines = frame(Look::of_stdout(), self.job, row, &self.facts);
        self.picture.draw(&lines).map_err(unwritable)
    }
}

fn unwritable(error: std::io::Error) -> Failure {
    Failure::new(format!("the terminal could not be written to: {error}"))
}

impl Facts {
    async fn read(store: &Store, job: Uuid, row: &WatchRow) -> Result<Self, Failure> {
        let page = TracePage { after: row.step - STEPS, until: row.step, limit: STEPS };
        let mut todos = if_allowed(store.todos_of(job).await)?;
        todos.retain(|todo| todo.phase_number == row.phase_number);
        let detail = store.job_seen(job).await?;
        let budget = if_allowed(store.cost_budget(job).await)?;
        Ok(Self { detail, budget, todos, steps: if_allowed(store.trace(job, page).await)? })
    }
}

/// The whole picture.
fn frame(look: Look, job: Uuid, row: &WatchRow, facts: &Facts) -> Vec<String> {
    let mut lines = head(look, job, row, facts);
    lines.push(String::new());
    lines.push(phase(look, row));
    lines.extend(facts.todos.iter().map(|todo| todo_line(look, todo)));
    lines.push(bar(look, row));
    lines.push(String::new());
    lines.push(used(row, facts));
    let events = events(look, &facts.steps);
    if !events.is_empty() {
        lines.push(String::new());
        lines.extend(events);
    }
    if !super::is_over(row) {
        lines.push(String::new());
        lines.push(look.paint(Tone::Quiet, "Ctrl-C stops watching; the job continues."));
    }
    lines.iter().map(|line| look.fit(line)).collect()
}

fn head(look: Look, job: Uuid, row: &WatchRow, facts: &Facts) -> Vec<String> {
    let status = look.paint(Tone::of_status(&row.status), &row.status);
    let detail = facts.detail.as_ref();
    let about = detail.map(|job| format!(" · {} · {}", job.job_type, elapsed(job))).unwrap_or_default();
    let mut lines = vec![format!("{status}  {job}{about}")];
    lines.extend(detail.map(|job| short(&job.prompt, 200)));
    let reason = row.error_message.as_ref().or(row.status_reason.as_ref());
    let tone = if row.error_message.is_some() { Tone::Bad } else { Tone::Warning };
    lines.extend(reason.map(|reason| look.paint(tone, &short(reason, 300))));
    lines
}

/// The run time so far, or in total.
fn elapsed(job: &JobSeen) -> String {
    let Some(from) = job.started_at else { return "not started yet".into() };
    let seconds = (job.completed_at.unwrap_or_else(Utc::now) - from).num_seconds().max(0);
    output::duration(seconds)
}

fn phase(look: Look, row: &WatchRow) -> String {
    let text = match (&row.phase, &row.phase_name) {
        (Some(kind), Some(name)) => format!("Phase {} ({kind}): {name}", row.phase_number),
        _ => "Before the first phase".to_owned(),
    };
    look.paint(Tone::Strong, &text)
}

fn todo_line(look: Look, todo: &TodoRow) -> String {
    let (mark, tone) = match todo.status.as_str() {
        "completed" => ("✔", Tone::Good),
        "in_progress" => ("▸", Tone::Active),
        "abandoned" => ("-", Tone::Quiet),
        _ => (" ", Tone::Quiet),
    };
    let text = format!("{}. {}", todo.position, short(&todo.content, 200));
    let text = if todo.status == "in_progress" { look.paint(Tone::Active, &text) } else { text };
    format!("  {} {text}", look.paint(tone, mark))
}

fn bar(look: Look, row: &WatchRow) -> String {
    let (done, total) = (row.todos_done.max(0) as usize, row.todos_total.max(0) as usize);
    let filled = (BAR * done).checked_div(total).unwrap_or(0).min(BAR);
    let bar = format!("{}{}", "█".repeat(filled), "░".repeat(BAR - filled));
    format!("  {} {done} of {total} todos", look.paint(Tone::Good, &bar))
}

fn used(row: &WatchRow, facts: &Facts) -> String {
    format!(
        "{} steps · {} requests · {} tokens ({} cached) · {}",
        thousands(row.step),
        thousands(row.total_requests),
        thousands(row.total_tokens_used),
        thousands(row.cached_tokens),
        cost(row.cost_usd, facts.budget)
    )
}

/// The latest calls and effects, oldest first.
fn events(look: Look, steps: &[TraceStep]) -> Vec<String> {
    let mut events = Vec::new();
    for step in steps {
        let number = look.paint(Tone::Quiet, &format!("  step {:<5}", step.step));
        let failed = step.requests.iter().filter_map(|request| request.error.as_ref());
        events.extend(failed.map(|error| format!("{number} {}", look.paint(Tone::Bad, &short(error, 200)))));
        for message in &step.messages {
            let calls = message.tool_calls.as_ref().and_then(Value::as_array).into_iter().flatten();
            events.extend(calls.map(|call| {
                let part = |key: &str| call.get(key).and_then(Value::as_str).unwrap_or_default();
                format!("{number} {} {}", part("name"), look.paint(Tone::Quiet, &short(part("arguments"), 200)))
            }));
        }
        let shown = step.effects.iter().filter(|effect| effect.kind.starts_with("phase ") || effect.kind == "feedback");
        events.extend(shown.map(|effect| format!("{number} {}: {}", effect.kind, short(&effect.what, 200))));
    }
    events.drain(..events.len().saturating_sub(EVENTS));
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::watch::lines;
    use plumbline_store::{TraceEffect, TraceMessage};
    use serde_json::json;

    fn row() -> WatchRow {
        WatchRow {
            status: "running".into(),
            status_reason: None,
            phase_number: 4,
            phase: Some("tactical".into()),
            phase_name: Some("Requirement extraction".into()),
            todos_done: 1,
            todos_total: 3,
            current_todo: Some("Process chunks 4-6".into()),
            step: 34,
            total_requests: 33,
            total_tokens_used: 123_456,
            cached_tokens: 98_765,
            cost_usd: 0.25,
            error_message: None,
            headline: None,
            decided: None,
            waiting_calls: 0,
            created_at: "2026-11-21T09:00:00Z".parse().unwrap(),
        }
    }

    fn facts() -> Facts {
        let at = "2026-11-21T09:00:00Z".parse().unwrap();
        let todo = |position, status: &str, content: &str| TodoRow {
            phase_number: 4,
            position,
            content: content.into(),
            status: status.into(),
            notes: None,
            created_at: at,
            completed_at: None,
        };
        let call = json!([{"id": "c", "name": "add_requirement", "arguments": "{\"text\":\"Keep it\"}"}]);
        let message = TraceMessage {
            seq: 9,
            role: "assistant".into(),
            kind: "reply".into(),
            content: String::new(),
            tool_calls: Some(call),
            tool_call_id: None,
        };
        let effect = |kind: &str, what: &str| TraceEffect { kind: kind.into(), what: what.into(), size: None };
        let step = TraceStep {
            step: 34,
            phase_number: 4,
            phase: None,
            phase_name: None,
            created_at: at,
            lease_epoch: 1,
            requests: Vec::new(),
            messages: vec![message],
            effects: vec![
                effect("file written", "a.md"),
                effect("phase opened", "4 (tactical): Requirement extraction"),
            ],
        };
        let todos = vec![
            todo(1, "completed", "Process chunks 1-3"),
            todo(2, "in_progress", "Process chunks 4-6"),
            todo(3, "pending", "Consolidate the findings of all chunks into one list"),
        ];
        Facts { detail: None, budget: Some(1.0), todos, steps: vec![step] }
    }

    #[test]
    fn the_picture_shows_what_is_going_on_and_fits() {
        let lines = frame(Look::plain(48), Uuid::nil(), &row(), &facts());
        assert_eq!(
            lines.join("\n"),
            "running  00000000-0000-0000-0000-000000000000\n\
             \n\
             Phase 4 (tactical): Requirement extraction\n\
             \u{20}\u{20}✔ 1. Process chunks 1-3\n\
             \u{20}\u{20}▸ 2. Process chunks 4-6\n\
             \u{20}\u{20}\u{20}\u{20}3. Consolidate the findings of all chunks i…\n\
             \u{20}\u{20}██████████░░░░░░░░░░░░░░░░░░░░ 1 of 3 todos\n\
             \n\
             34 steps · 33 requests · 123,456 tokens (98,765…\n\
             \n\
             \u{20}\u{20}step 34    add_requirement {\"text\":\"Keep it\"}\n\
             \u{20}\u{20}step 34    phase opened: 4 (tactical): Requir…\n\
             \n\
             Ctrl-C stops watching; the job continues."
        );
    }

    #[test]
    fn cost_is_shown_of_its_budget() {
        let of = |budget| used(&row(), &Facts { budget, ..Facts::default() });
        let before = "34 steps · 33 requests · 123,456 tokens (98,765 cached) · ";
        assert_eq!(of(Some(1.0)), format!("{before}0.25 of 1 USD"));
        assert_eq!(of(None), format!("{before}0.2500 USD"));
        assert_eq!(lines::used(&row(), Some(2.5)), "123,456 tokens, 98,765 cached, 0.25 of 2.5 USD");
        let free = WatchRow { cost_usd: 0.0, cached_tokens: 0, ..row() };
        assert_eq!(lines::used(&free, None), "123,456 tokens");
        let little = WatchRow { cost_usd: 0.001, ..free };
        assert_eq!(lines::used(&little, Some(1.0)), "123,456 tokens, 0.0010 of 1 USD");
    }

    #[test]
    fn a_failed_job_says_why() {
        let row = WatchRow { status: "failed".into(), error_message: Some("no document".into()), ..row() };
        let lines = frame(Look::plain(80), Uuid::nil(), &row, &Facts::default());
        assert_eq!(lines[..2], ["failed  00000000-0000-0000-0000-000000000000", "no document"]);
        assert!(!lines.iter().any(|line| line.contains("Ctrl-C")), "{lines:?}");
    }
}
