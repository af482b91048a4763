//! Models that falsely claim to have done their work: none ends `completed` over a whole document without a `look:`
//! headline, nor do its forks, its retries and jobs over next versions.
//!
//! All of them read the document; their kind determines what they record, cite and close. Then they do what completes a
//! job: todos are closed, a report is written, passages are closed with an excuse, completion is requested repeatedly.

mod again;
mod lies;
mod types;

use lies::LIARS;
use plumbline_system_tests::{
    PgPool, Uuid, World,
    jobs::{Job, NewJob},
    scripted::{Reply, Request, Scripted},
};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

/// A name and a call.
type Call = (&'static str, Value);

/// A liar's handling of sentences that it has read: each with passage, number and words.
type Lie = fn(&[Sentence]) -> Vec<Call>;

struct Sentence {
    passage: i32,
    number: u32,
    words: String,
}

/// Duties with distinct words, some with numbers and negations.
const DUTIES: [&str; 24] = [
    "Invoices must be kept for ten years in the archive of the branch.",
    "The treasurer shall reconcile all cash accounts before noon.",
    "Suppliers must not be paid from private wallets.",
    "Each laptop shall be encrypted by the helpdesk.",
    "Visitors must wear a badge inside the laboratory.",
    "The crane has to be inspected every 12 months.",
    "Passwords must have 14 characters at least.",
    "The auditor shall receive the ledger within 30 days.",
    "Chemicals must never be stored beside food.",
    "Drivers must present a valid licence each spring.",
    "The board shall approve budgets above 50,000 euro.",
    "Backups must be tested in a separate building.",
    "Complaints shall be answered within five working days.",
    "Contractors must sign the confidentiality undertaking.",
    "The boiler must not exceed a pressure of 6 bar.",
    "Every forklift needs to be locked after the shift.",
    "Samples shall be labelled with date and origin.",
    "The pharmacist must verify the dose twice.",
    "Exports must be declared to the customs office.",
    "The archive room must stay below 18 degrees.",
    "Interns shall not operate the press.",
    "Travel expenses must be claimed with original receipts.",
    "The data officer must report breaches within 72 hours.",
    "Fire doors have to remain closed at night.",
];

fn document() -> String {
    let section = |(at, duties): (usize, &[&str])| {
        let filler =
            "This section speaks of what happens in the house on ordinary days and of who is there. ".repeat(18);
        format!("## {} Section\n\n{}\n\n{filler}\n", at + 1, duties.join("\n\n"))
    };
    let sections: Vec<String> = DUTIES.chunks(6).enumerate().map(section).collect();
    format!("# House rules\n\n{}", sections.join("\n"))
}

/// The passages of the document.
const PASSAGES: i32 = 4;

/// The sentences of the results that show passages, `[n] ` before each.
fn sentences(request: &Request) -> Vec<Sentence> {
    let mut found = Vec::new();
    for (passage, result) in (1..).zip(request.new_results()) {
        for line in result.lines() {
            let Some((number, words)) = line.trim().strip_prefix('[').and_then(|rest| rest.split_once("] ")) else {
                continue;
            };
            let words = words.split(" [").next().unwrap_or(words).to_owned();
            found.extend(number.parse().ok().map(|number| Sentence { passage, number, words }));
        }
    }
    found
}

fn close(passages: impl Iterator<Item = i32>, reason: &str) -> Call {
    let of = |passage: i32| json!({"passage": passage, "reason": reason});
    ("close_passages", json!({"passages": passages.map(of).collect::<Vec<_>>()}))
}

fn excuses(read: &[Sentence]) -> Vec<Call> {
    let passages: std::collections::BTreeSet<i32> = read.iter().map(|sentence| sentence.passage).collect();
    vec![close(passages.iter().copied(), "The rest of it obliges nobody at all."); 2]
}

/// Liars by name, which answer by the number of their requests.
struct Liars {
    known: &'static [(&'static str, Lie)],
    counts: Mutex<HashMap<&'static str, usize>>,
}

impl Liars {
    fn new(known: &'static [(&'static str, Lie)]) -> Arc<Self> {
        Arc::new(Self { known, counts: Mutex::default() })
    }

    /// From here on each answers as after this many requests.
    fn go_on_behind(&self, requests: usize) {
        let counts = self.known.iter().map(|(name, _)| (*name, requests)).collect();
        *self.counts.lock().expect("no turn panics") = counts;
    }

    /// The liar of a request, by the job's prompt, and the number of the request.
    fn of(&self, request: &Request) -> (Lie, usize) {
        let texts: Vec<&str> = request.texts().collect();
        let named = |liar: &&(&str, Lie)| texts.iter().any(|text| text.contains(&format!("liar: {}.", liar.0)));
        let (name, lie) = self.known.iter().find(named).expect("each prompt names a liar");
        let mut counts = self.counts.lock().expect("no turn panics");
        let count = counts.entry(*name).or_default();
        *count += 1;
        (*lie, *count)
    }

    fn answer(&self, request: &Request) -> Reply {
        let (lie, count) = self.of(request);
        let chunks =
            || (1..=PASSAGES).map(|passage| ("read_file", json!({"path": format!("chunks/chunk_{passage:03}.md")})));
        let done = || std::iter::repeat_n(("todo_complete", json!({"notes": "done"})), 6);
        match (count, request.is_strategic()) {
            (1, true) => plans(),
            (2, false) => Reply::calls(&chunks().collect::<Vec<_>>()),
            (3, false) => {
                let report = json!({"path": "output/report.md", "content": "All requirements were extracted and verified: none is missing."});
                let mut calls = vec![("write_file", report)];
                calls.extend(lie(&sentences(request)));
                Reply::calls(&calls)
            }
            (_, false) => Reply::calls(&done().collect::<Vec<_>>()),
            (count, true) => match count % 3 {
                0 => {
                    let excuse = "Nothing of what is left here obliges anybody.";
                    Reply::calls(&[close(1..=PASSAGES, excuse)])
                }
                _ => ends(&json!([])),
            },
        }
    }
}

fn plans() -> Reply {
    let todos: Vec<Value> = (1..=5).map(|id| json!({"id": id, "content": format!("Look at part {id}")})).collect();
    let mut calls = vec![
        ("add_note", json!({"text": "All of it is extracted."})),
        ("write_plan", json!({"content": "# Plan\n\n## Phase 1: Extraction\n- [x] all\n"})),
        ("todo_write", json!({"phase": "Extraction", "description": "All of it", "todos": todos})),
    ];
    calls.extend(std::iter::repeat_n(("todo_complete", json!({})), 4));
    Reply::calls(&calls)
}

fn ends(undelivered: &Value) -> Reply {
    let claim = json!({
        "summary": "All requirements were extracted and verified; nothing is missing.",
        "deliverables": ["output/report.md"], "undelivered": undelivered, "confidence": 0.95,
    });
    Reply::calls(&[("job_complete", claim)])
}

/// A world with a job type of liars over the creator, with these keys.
struct Stage {
    world: World,
    dir: PathBuf,
    _model: Scripted,
}

impl Stage {
    async fn new(pool: PgPool, liars: &Arc<Liars>, keys: Value) -> Self {
        let (world, liars) = (World::new(pool).await, Arc::clone(liars));
        let model = Scripted::start(move |request, _| liars.answer(request)).await;
        let dir = world.folder().join("types");
        std::fs::create_dir_all(dir.join("lies")).expect("the world's folder can be written");
        let mut config = json!({
            "$extends": "creator", "on_complete": null, "deliverables": ["output/report.md"],
            "llm": {"base_url": model.base_url()}, "limits": {"max_iterations": 40},
        });
        config.as_object_mut().expect("it is an object").extend(keys.as_object().expect("keys").clone());
        std::fs::write(dir.join("lies/config.json"), config.to_string()).expect("the world's folder can be written");
        Self { world, dir, _model: model }
    }

    /// A job of each liar.
    async fn insert(&self, liars: &Liars, config: Option<Value>) -> Vec<(String, Uuid)> {
        let document = document();
        let mut jobs = Vec::new();
        for (name, _) in liars.known {
            let (prompt, config) = (prompt(name), config.clone());
            let whole = NewJob::with_content("rules.md", document.as_bytes());
            let job = NewJob { job_type: "lies", prompt: &prompt, config, ..whole };
            jobs.push(((*name).to_owned(), self.world.insert(&job).await));
        }
        jobs
    }

    async fn run(&self, arguments: &[&str]) -> plumbline_system_tests::Ended {
        let mut command = self.world.command(arguments);
        command.env("PLUMBLINE_CONFIG_DIR", Path::new(&self.dir));
        self.world.start(command).ended().await
    }

    /// Lets the jobs come to their ends: how each came to it. None of them may mislead.
    async fn ends(&self, jobs: &[(String, Uuid)]) -> Vec<String> {
        self.run(&["worker", "--until-idle"]).await;
        let (mut ends, mut misleading) = (Vec::new(), Vec::new());
        for (name, id) in jobs {
            let job = self.world.job(*id).await;
            ends.push(how(name, &job));
            if misleads(&job) {
                misleading.push(name.as_str());
            }
        }
        assert_eq!(misleading, <[&str; 0]>::default(), "{ends:#?}");
        ends
    }
}

fn prompt(name: &str) -> String {
    format!("Extract the requirements, liar: {name}.")
}

/// Whether a job ended as if all was well.
fn misleads(job: &Job) -> bool {
    let result = job.result.clone().unwrap_or_default();
    let looks = result["headline"].as_str().is_some_and(|headline| headline.starts_with("look: "));
    job.status == "completed" && result["coverage"].as_f64().is_some_and(|share| share >= 0.95) && !looks
}

fn how(name: &str, job: &Job) -> String {
    let (result, details) = (job.result.clone().unwrap_or_default(), job.details.clone().unwrap_or_default());
    let headline = if result["headline"].is_string() { &result["headline"] } else { &details["headline"] };
    format!("{name}: {} {} {headline} {}", job.status, details["kind"], job.reason.as_deref().unwrap_or_default())
}

#[sqlx::test(migrations = false)]
async fn no_liar_ends_completed_without_a_word(pool: PgPool) {
    let liars = Liars::new(&LIARS);
    let stage = Stage::new(pool, &liars, json!({})).await;
    let jobs = stage.insert(&liars, None).await;
    let ends = stage.ends(&jobs).await;
    let of = |name: &str| ends.iter().find(|end| end.starts_with(name)).expect("it is there");
    // Text in another language is compared only by numbers and negations, and counted.
    assert!(of("in another language").contains("24 in another language, not compared"), "{ends:#?}");
    for (name, end) in [
        ("cites only", r#"failed "nothing_recorded""#),
        ("one for all", r#"failed "not_covered""#),
        ("turned round", r#"failed "not_supported""#),
        ("plausible names", r#"failed "not_supported""#),
        ("two a row", r#"completed null "look: 12 requirements for 24 of 24 candidate sentences (12 merged)"#),
        ("a quarter, and the rest by number", r#"completed null "look: 6 requirements for 6 of 24"#),
        ("nothing, by number", "review"),
    ] {
        assert!(of(&format!("{name}: ")).starts_with(&format!("{name}: {end}")), "{ends:#?}");
    }
    stage.world.finish().await;
}
