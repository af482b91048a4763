//! `plumbline status`.

use crate::{
    arguments::StatusArguments,
    environment,
    failure::Failure,
    output::{self, short, thousands},
    terminal::{Look, Tone},
};
use comfy_table::Cell;
use console::measure_text_width;
use plumbline_store::{JobDetail, JobFilter, JobLine, Store, TodoRow};
use serde::Serialize;
use std::io::IsTerminal as _;
use uuid::Uuid;

/// Most jobs listed on a terminal, which nobody reads further; pipes and JSON get all.
const MOST: usize = 200;

pub(crate) async fn run(arguments: StatusArguments) -> Result<u8, Failure> {
    let store = environment::store().await?;
    match arguments.job {
        Some(job) => one(&store, job, arguments.json).await,
        None => all(&store, arguments.json).await,
    }
}

async fn all(store: &Store, as_json: bool) -> Result<u8, Failure> {
    let on_terminal = !as_json && std::io::stdout().is_terminal();
    let most = if on_terminal { MOST as i64 + 1 } else { i64::MAX };
    let jobs = store.job_page(&JobFilter::default(), most).await?;
    if as_json {
        output::json(&jobs)?;
    } else if jobs.is_empty() {
        output::print("there are no jobs yet; `plumbline enqueue --prompt …` inserts one")?;
    } else if on_terminal && jobs.len() > MOST {
        output::print(&list(&jobs[..MOST], Look::of_stdout()))?;
        output::print(&format!("The newest {MOST} jobs; `plumbline status | less` has all."))?;
    } else {
        output::print(&list(&jobs, Look::of_stdout()))?;
    }
    Ok(0)
}

/// A line a job, in the columns that fit: what is dropped first on a narrow terminal is what `plumbline status JOB`
/// shows anyway. The prompt takes the room that is left.
fn list(jobs: &[JobLine], look: Look) -> String {
    let columns: Vec<&Column> = COLUMNS.iter().filter(|column| look.width() >= column.from).collect();
    let rows: Vec<Vec<String>> =
        jobs.iter().map(|job| columns.iter().map(|column| (column.text)(job)).collect()).collect();
    let mut header: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let widths = (0..header.len()).map(|at| rows.iter().map(|row| measure_text_width(&row[at])).max().unwrap_or(0));
    let used: usize = widths.zip(&header).map(|(width, name)| width.max(name.len()) + PADDING).sum();
    let room = look.width().saturating_sub(used + PADDING).max(LEAST_PROMPT);
    header.push("prompt");
    let mut table = output::lined_up(&header);
    for (job, row) in jobs.iter().zip(rows) {
        let cells = row.into_iter().zip(&columns).map(|(text, column)| cell(column, text, job, look));
        table.add_row(cells.chain([Cell::new(short(&job.prompt, room))]));
    }
    for (at, _) in columns.iter().enumerate().filter(|(_, column)| column.number) {
        output::align_right(&mut table, at);
    }
    // The table pads its last column as well.
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// Space around a cell's text.
const PADDING: usize = 2;
/// A prompt says something from so many characters on.
const LEAST_PROMPT: usize = 16;

/// A column of the list.
struct Column {
    name: &'static str,
    /// Columns of the terminal from which it is shown.
    from: usize,
    number: bool,
    text: fn(&JobLine) -> String,
}

const COLUMNS: [Column; 7] = [
    Column { name: "job", from: 0, number: false, text: |job| job.id.to_string() },
    Column { name: "status", from: 0, number: false, text: |job| job.status.clone() },
    Column { name: "type", from: 120, number: false, text: |job| job.job_type.clone() },
    Column { name: "phase", from: 100, number: false, text: phase },
    Column { name: "todos", from: 0, number: true, text: |job| format!("{}/{}", job.todos_done, job.todos_total) },
    Column { name: "found", from: 110, number: true, text: |job| thousands(job.requirements) },
    Column { name: "tokens", from: 140, number: true, text: |job| thousands(job.total_tokens_used) },
];

fn phase(job: &JobLine) -> String {
    let name = job.phase_name.as_deref();
    name.map(|name| format!("{} {}", job.phase_number, short(name, 24))).unwrap_or_default()
}

fn cell(column: &Column, text: String, job: &JobLine, look: Look) -> Cell {
    let cell = Cell::new(text);
    match Tone::of_status(&job.status).colour().filter(|_| column.name == "status" && look.has_colours()) {
        Some(colour) => cell.fg(colour),
        None => cell,
    }
}

async fn one(store: &Store, id: Uuid, as_json: bool) -> Result<u8, Failure> {
    let job = store.job_detail(id).await?.ok_or_else(|| output::no_job(id))?;
    let todos = store.todos_of(id).await?;
    if as_json {
        output::json(&JobWithTodos { job, todos })?;
    } else {
        output::print(&detail(&job, &todos, Look::of_stdout()))?;
    }
    Ok(0)
}

/// The columns of the job's row, and its todos beside them: the shape of `/api/jobs/{id}`.
#[derive(Serialize)]
struct JobWithTodos {
    #[serde(flatten)]
    job: JobDetail,
    todos: Vec<TodoRow>,
}

fn detail(job: &JobDetail, todos: &[TodoRow], look: Look) -> String {
    let room = look.width().saturating_sub(10).max(20);
    let mut lines = vec![
        format!("job       {} ({})", job.id, job.job_type),
        format!("status    {}{}", look.paint(Tone::of_status(&job.status), &job.status), reason(job)),
        format!("prompt    {}", short(&job.prompt, room)),
    ];
    if let (Some(phase), Some(name)) = (&job.phase, &job.phase_name) {
        lines.push(format!("phase     {} ({phase}): {name}", job.phase_number));
    }
    lines.push(format!("todos     {} of {}", job.todos_done, job.todos_total));
    lines.extend(todos.iter().filter(|todo| todo.phase_number == job.phase_number).map(|todo| {
        let mark = match todo.status.as_str() {
            "completed" => "x",
            "abandoned" => "-",
            _ => " ",
        };
        let arrow = if todo.status == "in_progress" { "  ← CURRENT" } else { "" };
        format!("          [{mark}] {}. {}{arrow}", todo.position, short(&todo.content, room.saturating_sub(20)))
    }));
    lines.push(format!(
        "used      {} requests, {} tokens ({} cached), {:.4} USD, {} steps",
        thousands(job.total_requests),
        thousands(job.total_tokens_used),
        thousands(job.cached_tokens),
        job.cost_usd,
        thousands(job.step)
    ));
    if let Some(error) = &job.error_message {
        lines.push(format!("error     {}", look.paint(Tone::Bad, error)));
        if let Some(hint) = job.error_details.as_ref().and_then(|details| details.get("hint")).and_then(|h| h.as_str())
        {
            lines.push(format!("hint      {hint}"));
        }
    }
    if let Some(summary) = job.result.as_ref().and_then(|result| result.get("summary")).and_then(|s| s.as_str()) {
        lines.push(format!("result    {}", short(summary, room.max(200))));
    }
    lines.join("\n")
}

fn reason(job: &JobDetail) -> String {
    job.status_reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default()
}
