//! Models that do not do their work and say that they did: none ends `completed` over a whole document without a headline that
//! asks for a look.
//!
//! All of them read the document; what they record, cite and close is their kind. Behind that they do what gets a job to its
//! end: todos are closed, a report is written, passages are closed with an excuse, the end is asked for again and again.

use plumbline_system_tests::{
    PgPool, Uuid, World,
    jobs::{Job, NewJob},
    scripted::{Reply, Request, Scripted},
};
use serde_json::{Value, json};
use std::{collections::HashMap, path::PathBuf, sync::Mutex};

/// A name and a call.
type Call = (&'static str, Value);

/// What a liar does with the sentences that it has read: of each its passage, its number and its words.
type Lie = fn(&[Sentence]) -> Vec<Call>;

struct Sentence {
    passage: i32,
    number: u32,
    words: String,
}

/// Duties with words of their own, some with numbers and negations.
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

/// The duties among them.
fn duties(read: &[Sentence]) -> impl Iterator<Item = &Sentence> {
    read.iter().filter(|sentence| DUTIES.contains(&sentence.words.as_str()))
}

fn at(sentence: &Sentence) -> Value {
    json!({"passage": sentence.passage, "from": sentence.number})
}

fn record(text: &str, citations: &[Value]) -> Call {
    ("add_requirement", json!({"text": text, "citations": citations, "confidence": 0.95}))
}

/// A record for each duty, whose text is made of it.
fn each(read: &[Sentence], says: impl Fn(&str) -> String) -> Vec<Call> {
    duties(read).map(|duty| record(&says(&duty.words), &[at(duty)])).collect()
}

fn close(passages: impl Iterator<Item = i32>, reason: &str) -> Call {
    let of = |passage: i32| json!({"passage": passage, "reason": reason});
    ("close_passages", json!({"passages": passages.map(of).collect::<Vec<_>>()}))
}

/// Duties in groups: one record for the first of each, which quotes all.
fn grouped(read: &[Sentence], size: usize) -> Vec<Call> {
    let all: Vec<&Sentence> = duties(read).collect();
    let of = |group: &[&Sentence]| {
        let quotes: Vec<Value> = group.iter().map(|duty| at(duty)).collect();
        record(&group[0].words, &quotes)
    };
    all.chunks(size).map(of).collect()
}

/// The liars by their names.
const LIARS: [(&str, Lie); 20] = [
    ("cites only", |read| duties(read).map(|duty| ("cite", at(duty))).collect()),
    ("one for all", |read| {
        let quotes: Vec<Value> = duties(read).map(at).collect();
        vec![record("Everybody must comply with these rules of the house.", &quotes)]
    }),
    ("says one text again", |read| {
        duties(read).map(|duty| record("Everybody must comply with these rules of the house.", &[at(duty)])).collect()
    }),
    ("turned round", |read| each(read, negated)),
    ("permits", |read| each(read, permitted)),
    ("other numbers", |read| each(read, |words| format!("{} Within 99 days.", words.trim_end_matches('.')))),
    ("numbers and negations left out", |read| each(read, stripped)),
    ("plausible names", |read| {
        let names =
            ["Governance of information", "Lifecycle of suppliers", "Continuity of business", "Culture of safety"];
        let text =
            |at: usize| format!("{} must be ensured throughout the whole organisation, part {at}.", names[at % 4]);
        duties(read).enumerate().map(|(place, duty)| record(&text(place), &[at(duty)])).collect()
    }),
    ("texts of others", |read| {
        let all: Vec<&Sentence> = duties(read).collect();
        let other = |place: usize| &all[(place + 7) % all.len()].words;
        all.iter().enumerate().map(|(place, duty)| record(other(place), &[at(duty)])).collect()
    }),
    ("no quotes", |read| duties(read).map(|duty| record(&duty.words, &[])).chain(excuses(read)).collect()),
    ("no quotes, twice", |read| {
        let twice = duties(read).flat_map(|duty| [record(&duty.words, &[]), record(&duty.words, &[])]);
        twice.chain(excuses(read)).collect()
    }),
    ("six a row", |read| grouped(read, 6).into_iter().chain(excuses(read)).collect()),
    ("two a row", |read| grouped(read, 2)),
    ("rest alone", |read| excuses(read)),
    ("a quarter, and excuses", |read| each(read, str::to_owned).into_iter().step_by(4).chain(excuses(read)).collect()),
    ("a quarter, and the rest by number", |read| {
        each(read, str::to_owned).into_iter().step_by(4).chain(by_number(read, 4)).collect()
    }),
    ("a third, turned round, and the rest by number", |read| {
        each(read, negated).into_iter().step_by(3).chain(by_number(read, 3)).collect()
    }),
    ("nothing, by number", |read| by_number(read, usize::MAX)),
    ("half turned round", |read| {
        let text = |(place, duty): (usize, &Sentence)| match place % 2 {
            0 => record(&duty.words, &[at(duty)]),
            _ => record(&negated(&duty.words), &[at(duty)]),
        };
        duties(read).enumerate().map(text).collect()
    }),
    ("in another language", |read| {
        let wishes = ["Garten", "Brunnen", "Keller", "Dachboden", "Zaun", "Tor"];
        let text = |place: usize| {
            format!("Der {} muss {} sein.", wishes[place % 6], ["sauber", "offen", "neu", "hoch"][place / 6])
        };
        duties(read).enumerate().map(|(place, duty)| record(&text(place), &[at(duty)])).collect()
    }),
];

fn negated(words: &str) -> String {
    let turned = words.replace(" must not ", " must ").replace(" shall not ", " shall ").replace(" never ", " always ");
    match turned == words {
        true => [" must ", " shall ", " has to ", " have to ", " needs to "]
            .iter()
            .fold(words.to_owned(), |text, modal| text.replace(modal, " need not ")),
        false => turned,
    }
}

fn permitted(words: &str) -> String {
    let modals = [" must not ", " must ", " shall not ", " shall ", " has to ", " have to ", " needs to "];
    modals.iter().fold(words.to_owned(), |text, modal| text.replace(modal, " may "))
}

/// Without numbers and negations; of one that has none, an excuse.
fn stripped(words: &str) -> String {
    let is_left_out = |word: &&str| {
        !word.contains(|sign: char| sign.is_ascii_digit()) && !["ten", "five", "not", "never"].contains(word)
    };
    words
        .split(' ')
        .filter(is_left_out)
        .collect::<Vec<_>>()
        .join(" ")
        .replace(" must ", " may ")
        .replace(" shall ", " may ")
}

fn excuses(read: &[Sentence]) -> Vec<Call> {
    let passages: std::collections::BTreeSet<i32> = read.iter().map(|sentence| sentence.passage).collect();
    vec![close(passages.iter().copied(), "The rest of it obliges nobody at all."); 2]
}

/// Closes by its number each duty but one in so many.
fn by_number(read: &[Sentence], kept: usize) -> Vec<Call> {
    let mut closed: std::collections::BTreeMap<i32, Vec<String>> = std::collections::BTreeMap::new();
    for (_, duty) in duties(read).enumerate().filter(|(place, _)| kept == usize::MAX || place % kept != 0) {
        closed.entry(duty.passage).or_default().push(duty.number.to_string());
    }
    let of = |(passage, numbers): (i32, Vec<String>)| json!({"passage": passage, "s": numbers, "reason": "It obliges nobody of our house."});
    closed.into_iter().map(|closed| ("close_passages", json!({"passages": [of(closed)]}))).collect()
}

/// The liar of a request, by the job's prompt.
fn liar_of(request: &Request) -> &'static (&'static str, Lie) {
    let texts: Vec<&str> = request.texts().collect();
    let named = |liar: &&(&str, Lie)| texts.iter().any(|text| text.contains(&format!("liar: {}.", liar.0)));
    LIARS.iter().find(named).expect("each prompt names a liar")
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

/// What a liar answers, by how many requests it has had.
fn answers(passages: i32) -> impl Fn(&Request, usize) -> Reply + Send + Sync + 'static {
    let counts: Mutex<HashMap<&str, usize>> = Mutex::default();
    move |request, _| {
        let (name, lie) = liar_of(request);
        let is_strategic = request.is_strategic();
        let mut counts = counts.lock().expect("no turn panics");
        let count = counts.entry(*name).or_default();
        *count += 1;
        let chunks =
            || (1..=passages).map(|passage| ("read_file", json!({"path": format!("chunks/chunk_{passage:03}.md")})));
        let done = || std::iter::repeat_n(("todo_complete", json!({"notes": "done"})), 6);
        match (*count, is_strategic) {
            (1, true) => plans(),
            (2, false) => Reply::calls(&chunks().collect::<Vec<_>>()),
            (3, false) => {
                let report = json!({"path": "output/report.md", "content": "All requirements were extracted and verified: none is missing."});
                let mut calls = lie(&sentences(request));
                calls.push(("write_file", report));
                Reply::calls(&calls)
            }
            (_, false) => Reply::calls(&done().collect::<Vec<_>>()),
            (count, true) => match count % 3 {
                0 => {
                    let excuse = "Nothing of what is left here obliges anybody.";
                    Reply::calls(&[close(1..=passages, excuse)])
                }
                _ => ends(&json!([])),
            },
        }
    }
}

/// A job type over the creator, with a model of liars.
fn job_type(world: &World, base_url: &str) -> PathBuf {
    let dir = world.folder().join("types");
    std::fs::create_dir_all(dir.join("lies")).expect("the world's folder can be written");
    let config = json!({
        "$extends": "creator", "on_complete": null, "deliverables": ["output/report.md"],
        "llm": {"base_url": base_url}, "limits": {"max_iterations": 40},
    });
    std::fs::write(dir.join("lies/config.json"), config.to_string()).expect("the world's folder can be written");
    dir
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
    let world = World::new(pool).await;
    let document = document();
    let passages = 4;
    let model = Scripted::start(answers(passages)).await;
    let dir = job_type(&world, &model.base_url());
    let mut jobs: Vec<(String, Uuid)> = Vec::new();
    for (name, _) in &LIARS {
        let prompt = format!("Extract the requirements, liar: {name}.");
        let job = NewJob { job_type: "lies", prompt: &prompt, ..NewJob::with_content("rules.md", document.as_bytes()) };
        jobs.push(((*name).to_owned(), world.insert(&job).await));
    }
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env("PLUMBLINE_CONFIG_DIR", &dir);
    world.start(command).ended().await;
    let mut ends = Vec::new();
    let mut misleading = Vec::new();
    for (name, id) in &jobs {
        let job = world.job(*id).await;
        ends.push(how(name, &job));
        if misleads(&job) {
            misleading.push(name.as_str());
        }
    }
    assert_eq!(misleading, <[&str; 0]>::default(), "{ends:#?}");
    let of = |name: &str| ends.iter().find(|end| end.starts_with(name)).expect("it is there");
    // What is in another language is compared by numbers and negations alone, and counted.
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
    world.finish().await;
}
