//! Small documents with duties that are easily overlooked, and a model that reads all of them and records nothing: no
//! such job completes silently.

mod made;

use super::coverage::{job_type, run};
use plumbline_system_tests::{
    PgPool, World,
    jobs::{Job, NewJob},
    scripted::{Reply, Request, Scripted},
};
use serde_json::{Value, json};
use std::{collections::HashMap, sync::Mutex};

/// How many requests each job has made, and the number of its passages, by the name of its document.
#[derive(Default)]
struct Asked(Mutex<HashMap<String, (usize, usize)>>);

impl Asked {
    fn answer(&self, request: &Request) -> Reply {
        let name = request.texts().find_map(named).expect("each prompt names its document").to_owned();
        let (count, passages) = {
            let mut asked = self.0.lock().expect("no turn panics");
            let (count, passages) = asked.entry(name).or_default();
            (*count, *passages) = (*count + 1, passages_told(request).unwrap_or(*passages));
            (*count, *passages)
        };
        match (request.is_strategic(), count) {
            (true, 1) => plans(passages),
            (true, _) => ends(passages, count),
            (false, 2) => reads(passages),
            (false, _) => looks(count),
        }
    }
}

/// The document that a text is about.
fn named(text: &str) -> Option<&str> {
    Some(text.split_once("Read the document ")?.1.split_once(';')?.0)
}

/// The passages of the job's document, if the request says so.
fn passages_told(request: &Request) -> Option<usize> {
    let told = request.texts().filter_map(|text| text.split_once(" passages (1-")?.1.split_once(')'));
    told.filter_map(|(last, _)| last.parse().ok()).last()
}

/// A plan of one phase, whose first todo names all passages.
fn plans(passages: usize) -> Reply {
    let mut todos: Vec<Value> = (1..=5).map(|id| json!({"id": id, "content": format!("Look at part {id}")})).collect();
    todos[0]["passages"] = json!(format!("1-{passages}"));
    let mut calls = vec![
        ("add_note", json!({"text": "Nothing in it obliges anybody."})),
        ("write_plan", json!({"content": "# Plan\n\n## Phase 1: Extraction\n- [x] all\n"})),
        ("todo_write", json!({"phase": "Extraction", "description": "All of it", "todos": todos})),
    ];
    calls.extend(std::iter::repeat_n(("todo_complete", json!({})), 3));
    Reply::calls(&calls)
}

fn reads(passages: usize) -> Reply {
    let read = |n| ("read_file", json!({"path": format!("chunks/chunk_{n:03}.md")}));
    Reply::calls(&(1..=passages).map(read).collect::<Vec<_>>())
}

/// Closes a todo with a file that says nothing.
fn looks(count: usize) -> Reply {
    let path = if count == 3 { "output/report.md".to_owned() } else { format!("output/{count}.md") };
    let content = format!("# Part {count}\n\nIt was read from beginning to end, and nothing in it obliges anybody.\n");
    Reply::calls(&[
        ("write_file", json!({"path": path, "content": content})),
        ("todo_complete", json!({"notes": "looked at"})),
    ])
}

/// Asks for the end: once as if all was done, once with all passages as not delivered.
fn ends(passages: usize, count: usize) -> Reply {
    let all = json!([{"passages": (1..=passages).collect::<Vec<_>>(), "reason": "nothing in it obliges anybody"}]);
    let undelivered = if count.is_multiple_of(2) { json!([]) } else { all };
    let claim = json!({
        "summary": "All of it was read; it obliges nobody.", "deliverables": ["output/report.md"],
        "undelivered": undelivered, "confidence": 0.95,
    });
    Reply::calls(&[("job_complete", claim)])
}

/// A job over each document, at its end.
async fn jobs(world: &World, documents: &[(&str, Vec<u8>)]) -> Vec<(String, Job)> {
    let asked = Asked::default();
    let model = Scripted::start(move |request, _| asked.answer(request)).await;
    let keys = json!({"llm": {"base_url": model.base_url()}, "deliverables": [], "limits": {"max_iterations": 40}});
    let dir = job_type(world, keys);
    let mut inserted = Vec::new();
    for (name, content) in documents {
        let prompt = format!("Read the document {name}; extract its requirements.");
        let job = NewJob { job_type: "mine", prompt: &prompt, ..NewJob::with_content(name, content) };
        inserted.push((name, world.insert(&job).await));
    }
    run(world, &dir, &["worker", "--until-idle"]).await;
    let mut ended = Vec::new();
    for (name, id) in inserted {
        ended.push(((*name).to_owned(), world.job(id).await));
    }
    ended
}

/// How a job ended: status, kind of error, coverage and the system's sentence.
fn end(job: &Job) -> String {
    let (result, details) = (job.result.clone().unwrap_or_default(), job.details.clone().unwrap_or_default());
    let told = |key: &str| if result[key].is_null() { details[key].clone() } else { result[key].clone() };
    format!("{} {} {} {}", job.status, details["kind"], told("coverage"), told("headline"))
}

#[sqlx::test(migrations = false)]
async fn no_document_full_of_duties_is_completed_in_silence(pool: PgPool) {
    let world = World::new(pool).await;
    let ended = jobs(&world, &made::all()).await;
    let is_told = |job: &Job| {
        let kind = job.details.as_ref().map(|details| details["kind"].as_str().unwrap_or_default().to_owned());
        job.status == "failed" && kind.is_some_and(|kind| ["nothing_recorded", "no_text"].contains(&kind.as_str()))
    };
    let silent = ended.iter().filter(|(_, job)| !is_told(job));
    let silent: Vec<String> = silent.map(|(name, job)| format!("{name}: {}", end(job))).collect();
    assert_eq!(silent, <[String; 0]>::default());
    world.finish().await;
}
