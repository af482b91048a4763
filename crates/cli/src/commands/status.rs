//! `plumbline status`.

use crate::{
    arguments::StatusArguments,
    environment,
    failure::Failure,
    output::{self, short, thousands},
};
use plumbline_store::{JobDetail, JobOverview, Store, TodoRow};
use serde_json::json;
use uuid::Uuid;

/// Most jobs listed; SQL shows the others.
const MOST: i64 = 200;

pub(crate) async fn run(arguments: StatusArguments) -> Result<u8, Failure> {
    let store = environment::store().await?;
    match arguments.job {
        Some(job) => one(&store, job, arguments.json).await,
        None => all(&store, arguments.json).await,
    }
}

async fn all(store: &Store, as_json: bool) -> Result<u8, Failure> {
    let jobs = store.jobs_overview(MOST).await?;
    if as_json {
        output::json(&jobs)?;
    } else if jobs.is_empty() {
        output::print("there are no jobs yet; `plumbline enqueue --prompt …` inserts one")?;
    } else {
        output::print(&list(&jobs))?;
    }
    Ok(0)
}

fn list(jobs: &[JobOverview]) -> String {
    let mut table = output::table(&["job", "type", "status", "phase", "todos", "requirements", "tokens", "prompt"]);
    for job in jobs {
        table.add_row([
            job.id.to_string(),
            job.job_type.clone(),
            job.status.clone(),
            job.phase_name
                .as_deref()
                .map(|name| format!("{} {}", job.phase_number, short(name, 24)))
                .unwrap_or_default(),
            format!("{}/{}", job.todos_done, job.todos_total),
            thousands(job.requirements),
            thousands(job.total_tokens_used),
            short(&job.prompt, 40),
        ]);
    }
    output::keep_whole(&mut table, 0);
    output::keep_whole(&mut table, 2);
    table.to_string()
}

async fn one(store: &Store, id: Uuid, as_json: bool) -> Result<u8, Failure> {
    let job = store.job_detail(id).await?.ok_or_else(|| {
        Failure::new(format!("there is no job {id} in this database; `plumbline status` lists the jobs"))
    })?;
    let todos = store.todos_of(id).await?;
    if as_json {
        output::json(&json!({ "job": job, "todos": todos }))?;
    } else {
        output::print(&detail(&job, &todos))?;
    }
    Ok(0)
}

fn detail(job: &JobDetail, todos: &[TodoRow]) -> String {
    let mut lines = vec![
        format!("job       {} ({})", job.id, job.job_type),
        format!("status    {}{}", job.status, reason(job)),
        format!("prompt    {}", short(&job.prompt, 100)),
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
        format!("          [{mark}] {}. {}{arrow}", todo.position, short(&todo.content, 90))
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
        lines.push(format!("error     {error}"));
        if let Some(hint) = job.error_details.as_ref().and_then(|details| details.get("hint")).and_then(|h| h.as_str())
        {
            lines.push(format!("hint      {hint}"));
        }
    }
    if let Some(summary) = job.result.as_ref().and_then(|result| result.get("summary")).and_then(|s| s.as_str()) {
        lines.push(format!("result    {}", short(summary, 200)));
    }
    lines.join("\n")
}

fn reason(job: &JobDetail) -> String {
    job.status_reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default()
}
