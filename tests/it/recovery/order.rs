//! The calls of one answer leave the same files, rows and results as the same calls made one an answer, wherever the worker dies
//! between them. `PLUMBLINE_ORDER_CASES` is how many answers are drawn, `PLUMBLINE_TEST_SEED` repeats a run.

use crate::settings::own_types::job_types;
use plumbline_system_tests::{
    PgPool, Uuid, World,
    jobs::NewJob,
    record::{self, Record},
    scripted::{Reply, Request, Scripted, reads},
    seed::Seed,
};
use serde_json::{Value, json};
use std::{
    cell::Cell,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

/// Answers of the ordinary run.
const CASES: u64 = 4;
/// Most calls of an answer.
const MOST: u64 = 12;
/// Where a worker may die, in a phase of work.
const PLACES: [&str; 7] =
    ["after_model", "before_tools", "after_tools", "applied", "before_commit", "written", "committed"];
/// Sentences of the document.
const SENTENCES: [&str; 3] = [
    "Invoices must be kept for ten years.",
    "Each payment shall be approved by two persons.",
    "The supplier must notify the buyer within two days.",
];

type Call = (&'static str, Value);

/// The model's calls, and the results that it has read.
struct Script {
    calls: Vec<Call>,
    /// Whether they are one answer.
    at_once: bool,
    results: Mutex<Vec<String>>,
}

impl Script {
    /// The next answer, determined by the conversation of the phase: after a kill the same request gets the same
    /// answer.
    fn answer(&self, request: &Request) -> Reply {
        if request.is_strategic() {
            let complete =
                json!({"summary": "Done.", "deliverables": ["output/answer.md"], "undelivered": [], "confidence": 0.9});
            let worked = request.texts().any(|text| text.contains("Archive note of the phase before"));
            return if worked { Reply::calls(&[("job_complete", complete)]) } else { reads() };
        }
        let answers = request.answers();
        let of_an_answer = if self.at_once { self.calls.len() } else { 1 };
        let from = answers * of_an_answer;
        if answers > 0 && from <= self.calls.len() {
            let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
            results.truncate(from - of_an_answer);
            results.extend(request.new_results().into_iter().map(str::to_owned));
        }
        match self.calls.get(from..from + of_an_answer) {
            Some(calls) if !calls.is_empty() => Reply::calls(calls),
            _ => {
                let mut end =
                    vec![("write_file", json!({"path": "output/answer.md", "content": "Three rules are binding."}))];
                end.extend(std::iter::repeat_n(("todo_complete", json!({})), 5));
                Reply::calls(&end)
            }
        }
    }
}

fn drawn(seed: &mut Seed) -> Vec<Call> {
    (0..1 + seed.below(MOST)).map(|_| call(seed)).collect()
}

fn call(seed: &mut Seed) -> Call {
    let path = ["notes/a.md", "notes/b.md", "workspace.md", "output/c.md"][seed.below(4) as usize];
    let word = ["one", "two", "three"][seed.below(3) as usize];
    let sentence = SENTENCES[seed.below(3) as usize];
    let quoted = json!([{"source": "input/policy.md", "quote": sentence}]);
    match seed.below(14) {
        0 | 1 => ("write_file", json!({"path": path, "content": format!("# Notes\n\n{word}\n")})),
        2 => ("write_file", json!({"path": path, "content": format!("{word}\n"), "append": true})),
        3 | 4 => ("edit_file", json!({"path": path, "old": word, "new": format!("{word} and more")})),
        5 => ("read_file", json!({"path": path})),
        6 => ("delete_file", json!({"path": path})),
        7 => ("list_files", json!({"path": "notes"})),
        8 => ("search_files", json!({"query": word, "path": "notes", "mode": "text"})),
        9 => ("add_note", json!({"text": word})),
        10 => ("add_accomplishment", json!({"text": word})),
        11 => ("cite", json!({"source": "input/policy.md", "quote": sentence})),
        12 => ("list_requirements", json!({})),
        _ => (
            "add_requirement",
            json!({"text": sentence, "name": word, "type": "compliance", "priority": "high",
                   "source_document": "input/policy.md", "citations": quoted, "confidence": 0.9}),
        ),
    }
}

/// A world with the type whose jobs are compared.
struct Scene {
    world: World,
    types: PathBuf,
    /// How many workers have died.
    deaths: Cell<u64>,
}

impl Scene {
    /// Runs a job by the script, on workers; the first one dies at a given fail-point, if any.
    async fn done(&self, script: Arc<Script>, dies: Option<&str>) -> Record {
        let model = Scripted::start(move |request, _| script.answer(request)).await;
        let document = format!("# Records\n\n{}\n", SENTENCES.join("\n\n"));
        let job = NewJob { job_type: "orderly", ..NewJob::with_content("policy.md", document.as_bytes()) };
        let job: Uuid = self.world.insert(&job).await;
        let worker = |fail_points: Option<&str>| {
            let mut command = self.world.command(&["worker", "--until-idle"]);
            command.env("PLUMBLINE_CONFIG_DIR", &self.types).env("OPENAI_BASE_URL", model.base_url());
            fail_points.map(|place| command.env("PLUMBLINE_FAIL_POINTS", place));
            self.world.start(command)
        };
        if let Some(place) = dies {
            let died = worker(Some(place)).ended().await.code != Some(0);
            self.deaths.set(self.deaths.get() + u64::from(died));
            self.world.age_workers().await;
        }
        let ended = worker(None).ended().await;
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        self.world.becomes(job, "completed").await;
        let mut record = record::read(&self.world.pool, job).await;
        // The system's files contain numbers of requests and times.
        record.files.retain(|path, _| path != "workspace_summary.md" && !path.starts_with("tool_results/"));
        record
    }
}

#[sqlx::test(migrations = false)]
async fn the_calls_of_an_answer_leave_what_the_same_calls_leave_one_an_answer(pool: PgPool) {
    let cases = std::env::var("PLUMBLINE_ORDER_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES);
    let world = World::new(pool).await;
    let types =
        job_types(&world, &[("orderly", json!({"coverage": "off", "on_complete": null, "llm": {"prices": "free"}}))]);
    let scene = Scene { world, types, deaths: Cell::default() };
    let mut seed = Seed::of_run(39);
    for case in 0..cases {
        let calls = drawn(&mut seed);
        let place = PLACES[seed.below(PLACES.len() as u64) as usize];
        let place = format!("{place}/tactical=crash@{}", 1 + seed.below(2));
        let script = |at_once| Arc::new(Script { calls: calls.clone(), at_once, results: Mutex::default() });
        let (together, apart) = (script(true), script(false));
        let one = scene.done(together.clone(), Some(&place)).await;
        let other = scene.done(apart.clone(), None).await;
        let results = |script: &Script| script.results.lock().unwrap_or_else(PoisonError::into_inner).clone();
        assert_eq!(results(&together).len(), calls.len(), "case {case}: each call of {calls:?} has a result");
        assert_eq!(results(&together), results(&apart), "case {case}: results of {calls:?}, killed at {place}");
        record::assert_same(&one, &other, &format!("case {case}: {calls:?}, killed at {place}"));
    }
    let deaths = scene.deaths.get();
    assert!(deaths > 0, "no worker has died: the places are passed by another name");
    println!("order: {cases} answers, {deaths} kills, 0 differences");
    scene.world.finish().await;
}
