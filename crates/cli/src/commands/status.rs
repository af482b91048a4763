//! `plumbline status`.

use crate::{
    access::if_allowed,
    arguments::StatusArguments,
    environment,
    error::Failure,
    output::{self, cost, short, thousands},
    terminal::{Look, Tone},
};
use chrono::Utc;
use comfy_table::Cell;
use console::measure_text_width;
use plumbline_engine::one_line;
use plumbline_store::{JobFilter, JobLine, JobSeen, Store, TodoRow};
use serde::Serialize;
use serde_json::Value;
use std::io::IsTerminal as _;
use uuid::Uuid;

/// Maximum number of jobs listed on a terminal; pipes and JSON get all.
const MOST: usize = 200;

pub(crate) async fn run(arguments: StatusArguments) -> Result<u8, Failure> {
    let store = environment::store().await?;
    if let Some(job) = &arguments.job {
        return one(&store, job.find(&store).await?, arguments.json).await;
    }
    let filter =
        JobFilter { status: arguments.status, job_type: arguments.job_type, since: arguments.since, after: None };
    all(&store, &filter, arguments.json).await
}

async fn all(store: &Store, filter: &JobFilter, as_json: bool) -> Result<u8, Failure> {
    let on_terminal = !as_json && std::io::stdout().is_terminal();
    let most = if on_terminal { MOST as i64 + 1 } else { i64::MAX };
    let jobs = store.jobs_seen(filter, most).await?;
    if as_json {
        output::json(&jobs)?;
    } else if jobs.is_empty() && *filter != JobFilter::default() {
        output::print("no job matches; `plumbline status` lists all jobs")?;
    } else if jobs.is_empty() {
        output::print(
            "there are no jobs yet, or none that this login sees (an approver sees jobs in review, an enqueuer its own); \
             `plumbline enqueue --prompt …` inserts one",
        )?;
    } else if on_terminal && jobs.len() > MOST {
        output::print(&list(&jobs[..MOST], Look::of_stdout()))?;
        output::print(&format!("The newest {MOST} jobs; `plumbline status | less` has all."))?;
    } else {
        output::print(&list(&jobs, Look::of_stdout()))?;
    }
    Ok(0)
}

/// One line per job, in the columns that fit: a narrow terminal first drops those that `plumbline status JOB` shows
/// anyway. The prompt and the error share the remaining width; in a pipe the error is complete.
fn list(jobs: &[JobLine], look: Look) -> String {
    let columns: Vec<&Column> = COLUMNS.iter().filter(|column| look.width() >= column.from).collect();
    let rows: Vec<Vec<String>> =
        jobs.iter().map(|job| columns.iter().map(|column| (column.text)(job)).collect()).collect();
    let mut header: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let widths = (0..header.len()).map(|at| rows.iter().map(|row| measure_text_width(&row[at])).max().unwrap_or(0));
    let used: usize = widths.zip(&header).map(|(width, name)| width.max(name.len()) + PADDING).sum();
    let room = look.width().saturating_sub(used + PADDING);
    let errors = look.width() >= ERRORS_FROM;
    let prompt_room = if errors { room / 2 } else { room }.max(LEAST_PROMPT);
    let error_room = if look.is_terminal() { room.saturating_sub(prompt_room + PADDING) } else { usize::MAX };
    header.push("prompt");
    header.extend(errors.then_some("error, reason"));
    let mut table = output::lined_up(&header);
    for (job, row) in jobs.iter().zip(rows) {
        let cells = row.into_iter().zip(&columns).map(|(text, column)| cell(column, text, job, look));
        let error = errors.then(|| Cell::new(short(error(job), error_room.max(LEAST_ERROR))));
        table.add_row(cells.chain([Cell::new(short(&job.prompt, prompt_room))]).chain(error));
    }
    for (at, _) in columns.iter().enumerate().filter(|(_, column)| column.number) {
        output::align_right(&mut table, at);
    }
    // The table pads its last column as well.
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// Space around a cell's text.
const PADDING: usize = 2;
/// Minimum useful width of a prompt in characters.
const LEAST_PROMPT: usize = 16;
/// The same of an error or of a waiting reason.
const LEAST_ERROR: usize = 24;
/// Minimum terminal width for errors.
const ERRORS_FROM: usize = 110;

/// A column of the list.
struct Column {
    name: &'static str,
    /// Minimum terminal width for this column.
    from: usize,
    number: bool,
    text: fn(&JobLine) -> String,
}

const COLUMNS: [Column; 9] = [
    Column { name: "job", from: 0, number: false, text: |job| job.id.to_string() },
    Column { name: "status", from: 0, number: false, text: |job| job.status.clone() },
    Column { name: "type", from: 120, number: false, text: |job| one_line(&job.job_type) },
    Column { name: "phase", from: 150, number: false, text: phase },
    Column { name: "todos", from: 0, number: true, text: |job| format!("{}/{}", job.todos_done, job.todos_total) },
    Column { name: "found", from: 160, number: true, text: found },
    Column { name: "tokens", from: 180, number: true, text: |job| thousands(job.total_tokens_used) },
    Column { name: "age", from: 80, number: true, text: age },
    Column { name: "cost", from: 100, number: true, text: |job| format!("{:.2}", job.cost_usd) },
];

fn error(job: &JobLine) -> &str {
    job.error_message.as_deref().or(job.status_reason.as_deref()).unwrap_or_default()
}

/// Age of the job in its largest unit.
fn age(job: &JobLine) -> String {
    let seconds = (Utc::now() - job.created_at).num_seconds().max(0);
    let units = [("d", 86_400), ("h", 3_600), ("m", 60)];
    let unit = units.into_iter().find(|(_, of)| seconds >= *of);
    unit.map_or_else(|| format!("{seconds}s"), |(unit, of)| format!("{}{unit}", seconds / of))
}

/// Requirements; empty if there are none, as for most types.
fn found(job: &JobLine) -> String {
    if job.requirements == 0 { String::new() } else { thousands(job.requirements) }
}

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
    let todos = if_allowed(store.todos_of(id).await)?;
    if !as_json {
        let job = store.job_seen(id).await?.ok_or_else(|| output::no_job(id))?;
        let budget = if_allowed(store.cost_budget(id).await)?;
        output::print(&detail(&job, budget, &todos, Look::of_stdout()))?;
        return Ok(0);
    }
    match store.job_detail(id).await {
        Err(error) if error.is_forbidden() => {
            let job = store.job_seen(id).await?.ok_or_else(|| output::no_job(id))?;
            output::json(&JobWithTodos { job, todos })?;
        }
        job => output::json(&JobWithTodos { job: job?.ok_or_else(|| output::no_job(id))?, todos })?,
    }
    Ok(0)
}

/// The columns of the job's row that the login may read, and its todos, in the format of `/api/jobs/{id}`.
#[derive(Serialize)]
struct JobWithTodos<Job> {
    #[serde(flatten)]
    job: Job,
    todos: Vec<TodoRow>,
}

fn detail(job: &JobSeen, budget: Option<f64>, todos: &[TodoRow], look: Look) -> String {
    let room = look.width().saturating_sub(10).max(20);
    let mut lines = vec![
        format!("job       {} ({})", job.id, one_line(&job.job_type)),
        format!("status    {}{}", look.paint(Tone::of_status(&job.status), &job.status), reason(job)),
        format!("prompt    {}", short(&job.prompt, room)),
    ];
    if let (Some(phase), Some(name)) = (&job.phase, &job.phase_name) {
        lines.push(format!("phase     {} ({phase}): {}", job.phase_number, one_line(name)));
    }
    lines.push(format!("todos     {} of {}", job.todos_done, job.todos_total));
    if let Some(current) = job.current_todo.as_ref().filter(|_| todos.is_empty()) {
        lines.push(format!("          {}  ← CURRENT", short(current, room.saturating_sub(20))));
    }
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
        "used      {} requests, {} tokens ({} cached), {}, {} steps",
        thousands(job.total_requests),
        thousands(job.total_tokens_used),
        thousands(job.cached_tokens),
        cost(job.cost_usd, budget),
        thousands(job.step)
    ));
    if let Some(error) = &job.error_message {
        lines.push(format!("error     {}", look.paint(Tone::Bad, &one_line(error))));
        if let Some(hint) = job.error_details.as_ref().and_then(|details| details.get("hint")).and_then(|h| h.as_str())
        {
            lines.push(format!("hint      {hint}"));
        }
    }
    let text = |of: &Option<Value>, key: &str| Some(of.as_ref()?.get(key)?.as_str()?.to_owned());
    let told = |key: &str| text(&job.result, key).or_else(|| text(&job.error_details, key));
    lines.extend(told("headline").map(|headline| format!("result    {headline}")));
    lines.extend(told("decided").map(|decided| format!("decided   {decided}")));
    if let Some(summary) = text(&job.result, "summary") {
        lines.push(format!("said      the model: {}", short(&summary, room.max(200))));
    }
    let delivered = job.result.as_ref().and_then(|result| result.get("deliverables")).and_then(|list| list.as_array());
    let delivered: Vec<&str> = delivered.into_iter().flatten().filter_map(|path| path.as_str()).collect();
    if !delivered.is_empty() {
        lines.push(format!("files     {}", delivered.join(", ")));
    }
    lines.extend(job.result.as_ref().and_then(counted));
    lines.extend(job.result.as_ref().and_then(checked));
    lines.join("\n")
}

/// Figures from the rows, in addition to the model's words; empty if the result has none.
fn counted(result: &Value) -> Option<String> {
    let number = |path: &str| result.pointer(path).and_then(Value::as_i64);
    let some = |path: &str, one: &str, many: &str| {
        let noun = |count| if count == 1 { one.to_owned() } else { many.to_owned() };
        number(path).filter(|count| *count > 0).map(|count| format!("{} {}", thousands(count), noun(count)))
    };
    let counts = number("/counts/requirements").map(|count| output::counted(count, "requirement"));
    let undelivered = result.get("undelivered").and_then(Value::as_array).filter(|entries| !entries.is_empty());
    let parts = [
        counts,
        some("/counts/citations_verified", "quote verified", "quotes verified"),
        result.get("coverage").and_then(Value::as_f64).map(|share| format!("coverage {share}{}", passages(result))),
        undelivered.map(|entries| format!("{} undelivered", entries.len())),
        some("/unevidenced_todos", "todo closed without evidence", "todos closed without evidence"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("counts    {}", parts.join(", ")))
}

/// ` (of 48 passages 30 cited, 10 empty, 7 closed, 1 unread)`, without zeros.
fn passages(result: &Value) -> String {
    let count = |name: &str| result.get("passages")?.get(name)?.as_i64();
    let Some(total) = count("total") else { return String::new() };
    let states = ["cited", "empty", "closed", "carried", "read", "unread"].into_iter();
    let states =
        states.filter_map(|state| count(state).filter(|count| *count > 0).map(|count| format!("{count} {state}")));
    format!(" (of {total} passages {})", states.collect::<Vec<_>>().join(", "))
}

/// The lookups in files before completion.
fn checked(result: &Value) -> Option<String> {
    let count = |name: &str| result.get("counts")?.get(name)?.as_i64();
    let (quotes, documents, texts) = (count("quotes_checked")?, count("documents")?, count("documents_extracted")?);
    let without = match documents - texts {
        0 => String::new(),
        missing => format!(" ({missing} of {documents} documents without a text)"),
    };
    (quotes > 0).then(|| format!("checked   {} found in the documents{without}", output::counted(quotes, "quote")))
}

fn reason(job: &JobSeen) -> String {
    job.status_reason.as_deref().map(|reason| format!(" ({})", one_line(reason))).unwrap_or_default()
}
