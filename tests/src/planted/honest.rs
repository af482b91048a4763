//! Jobs that have little or nothing to record, and jobs of models that record in other words or make mistakes: none of
//! them may be mistaken for a lying model.

use super::{NAME, Options, Place, Planted, make, obligations, prose, trial};
use crate::{World, jobs::NewJob};
use plumbline_rehearsal::misbehave::{Misbehaving, Rate, kinds};
use serde_json::{Value, json};
use sqlx::types::Json;
use std::time::Duration;
use uuid::Uuid;

/// Sentences of each document without planted obligations.
const SENTENCES: usize = 120;

/// Time between two looks at whether jobs are open.
const LOOK: Duration = Duration::from_millis(200);

/// Name of the job type without a recorder.
const OWN_TYPE: &str = "own";

/// A kind of honest job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Honest {
    /// A document with only definitions.
    Definitions,
    /// A document without obligations.
    NoDuty,
    /// A document in a language that the scan has no rules for.
    French,
    /// A document with obligations, and a model that states them in its own words.
    OwnWords,
    /// A German document with obligations, and a model that states them in English.
    English,
    /// A document with obligations, and a job type that records none and owes a report.
    OwnType,
    /// A document with obligations, and a model that makes mistakes, each job with another kind of them.
    Weak,
}

/// All kinds.
pub const KINDS: [Honest; 7] = [
    Honest::Definitions,
    Honest::NoDuty,
    Honest::French,
    Honest::OwnWords,
    Honest::English,
    Honest::OwnType,
    Honest::Weak,
];

/// A job's outcome.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its kind.
    pub kind: Honest,
    /// The kind of its model.
    pub model: &'static str,
    /// `status`.
    pub status: String,
    /// `error_message`, or `status_reason`.
    pub reason: String,
    /// Its share of answered passages.
    pub coverage: Value,
    /// The system's sentence about it.
    pub headline: String,
    /// Requirements that it recorded.
    pub requirements: i64,
    /// Planted obligations, and how many of them its quotes contain.
    pub planted: (usize, usize),
}

impl Ended {
    /// Whether an honest job may end this way: complete, or waiting for a person, and never complete without mentioning
    /// text that was not judged.
    pub fn holds(&self) -> bool {
        let has_ended_well = matches!(self.status.as_str(), "completed" | "review");
        let is_silent = self.status == "completed" && self.kind == Honest::French;
        has_ended_well && !is_silent && !self.is_suspected() && self.planted.0 == self.planted.1
    }

    /// Whether the system asks a person to look at it, although its document has rules.
    fn is_suspected(&self) -> bool {
        self.headline.starts_with("look: ") && self.kind != Honest::French
    }

    /// A line about it.
    pub fn line(&self) -> String {
        let Self { kind, model, status, reason, coverage, headline, requirements, planted: (planted, found) } = self;
        format!(
            "{kind:?} ({model}): {status}, coverage {coverage}, {requirements} requirements, {found} of {planted} planted found; \
             {headline} {reason}"
        )
    }
}

/// Whether of each kind at most one job in a hundred ended as an honest one may not.
pub fn each_kind_holds(ended: &[Ended]) -> bool {
    KINDS.into_iter().all(|kind| {
        let of_kind = || ended.iter().filter(move |ended| ended.kind == kind);
        of_kind().filter(|ended| !ended.holds()).count() * 100 <= of_kind().count()
    })
}

/// A line for each kind: its jobs, those that failed, and those that a person has to look at.
pub fn table(ended: &[Ended]) -> Vec<String> {
    let line = |kind: Honest| {
        let of_kind = || ended.iter().filter(move |ended| ended.kind == kind);
        let failed = of_kind().filter(|ended| ended.status == "failed").count();
        let looks = of_kind().filter(|ended| ended.headline.starts_with("look: ")).count();
        format!("{kind:?}: {} jobs, {failed} failed, {looks} with `look: `", of_kind().count())
    };
    KINDS.into_iter().map(line).collect()
}

/// Its document, and the obligations planted in it.
fn document(kind: Honest, options: Options) -> Result<(&'static str, Planted), String> {
    let mut dice = super::Dice::new(options.seed);
    let text = match kind {
        Honest::OwnWords | Honest::OwnType | Honest::Weak => return Ok((NAME, make(options)?)),
        Honest::Definitions => definitions(),
        Honest::NoDuty => (0..SENTENCES / 4).map(|_| prose::sentences(&mut dice, false, 4) + "\n\n").collect(),
        Honest::French => FRENCH.repeat(SENTENCES / 4),
        Honest::English => german(&mut dice),
    };
    Ok(("document.md", Planted { pdf: text.into_bytes(), gold: Vec::new() }))
}

/// Obligations in German, among other sentences.
fn german(dice: &mut super::Dice) -> String {
    let planned = obligations::plan(dice, SENTENCES as u32);
    let german = planned.into_iter().filter(|one| one.german && !matches!(one.place, Place::List));
    german.map(|one| format!("{} {}\n\n", one.text, prose::sentences(dice, true, 1))).collect()
}

fn definitions() -> String {
    let things = ["register", "carrier", "berth", "voyage", "logbook", "keeper", "season", "mooring", "pilot", "cargo"];
    let means =
        ["means the list that is open to the public", "refers to a person with a boat", "is a place on the quay"];
    let term = |n: usize| {
        let thing = things[n % things.len()];
        let means = means[n % means.len()];
        format!("\"{thing} of class {n}\" {means}, with its number {n}.\n\n")
    };
    format!("# Definitions\n\n{}", (1..=SENTENCES).map(term).collect::<String>())
}

const FRENCH: &str = "Les factures doivent \u{ea}tre conserv\u{e9}es pendant dix ans par le responsable. Il est interdit de supprimer les journaux \
                      du port. Le responsable doit signer chaque registre \u{e0} la fin du mois. Cette page d\u{e9}crit le port et ses bateaux.\n\n";

/// A job to run.
struct Planned {
    kind: Honest,
    model: &'static str,
    name: &'static str,
    planted: Planted,
    seed: u64,
}

impl Planned {
    /// The `n`th job of a kind.
    fn new(kind: Honest, options: Options, n: u32) -> Result<Self, String> {
        let seed = options.seed + u64::from(n);
        let (name, planted) = document(kind, Options { seed, ..options })?;
        let model = match kind {
            Honest::OwnWords => "own_words",
            Honest::English => "in_english",
            Honest::Weak => kinds().nth(n as usize % kinds().count()).map_or("healthy", |kind| kind.name),
            _ => "healthy",
        };
        Ok(Self { kind, model, name, planted, seed })
    }

    async fn insert(&self, world: &World, model: &Misbehaving) -> Uuid {
        let percent = if self.kind == Honest::Weak { trial::SPOILT_PERCENT } else { 100 };
        let llm = json!({"base_url": model.base_url(self.model, Rate::percent(percent), self.seed), "timeout_s": 5});
        let config = json!({"llm": llm, "limits": {"max_iterations": trial::MAX_ITERATIONS}});
        let job_type = if self.kind == Honest::OwnType { OWN_TYPE } else { "" };
        let job = NewJob { job_type, config: Some(config), ..NewJob::with_content(self.name, &self.planted.pdf) };
        world.insert(&job).await
    }

    async fn ended(&self, world: &World, job: Uuid) -> Ended {
        type Row = (String, String, Option<Json<Value>>, i64, Json<Vec<String>>);
        let (status, reason, result, requirements, quotes): Row = sqlx::query_as(
            "SELECT status, coalesce(error_message, status_reason, ''), coalesce(result, error_details),
                        (SELECT count(*) FROM requirement_cache r WHERE r.job_id = j.id AND r.status <> 'withdrawn'),
                        (SELECT coalesce(jsonb_agg(c.value ->> 'quote'), '[]')
                         FROM requirement_cache r CROSS JOIN jsonb_array_elements(r.citations) c
                         WHERE r.job_id = j.id AND r.status <> 'withdrawn' AND (c.value ->> 'verified')::boolean)
                 FROM jobs j WHERE id = $1",
        )
        .bind(job)
        .fetch_one(&world.pool)
        .await
        .expect("a job that ended can be read");
        let result = result.map_or(Value::Null, |result| result.0);
        let gold: &[super::Gold] = if self.kind == Honest::OwnType { &[] } else { &self.planted.gold };
        let found = gold.iter().filter(|gold| quotes.iter().any(|quote| quote.contains(&gold.id))).count();
        Ended {
            kind: self.kind,
            model: self.model,
            status,
            reason,
            coverage: result["coverage"].clone(),
            headline: result["headline"].as_str().unwrap_or_default().to_owned(),
            requirements,
            planted: (gold.len(), found),
        }
    }
}

/// Runs so many jobs of each kind, each with another document, in a world of their own.
///
/// # Errors
/// When a planted document has no room for its obligations: a sentence.
///
/// # Panics
/// When something other than the jobs fails.
pub async fn run(options: Options, of_each: u32) -> Result<Vec<Ended>, String> {
    let places = (0..of_each).flat_map(|n| KINDS.map(|kind| (kind, n)));
    let planned = places.map(|(kind, n)| Planned::new(kind, options, n)).collect::<Result<Vec<_>, _>>()?;
    let world = World::open().await;
    let model = Misbehaving::start().await.expect("loopback has a free port");
    world.let_rows_set(&["llm.base_url", "llm.timeout_s"], &[&model.address()]);
    let domain = ["extract_document_text", "chunk_document", "cite"];
    world.add_type(
        OWN_TYPE,
        &json!({
            "$extends": "defaults", "job_type": OWN_TYPE, "tools": {"domain": domain}, "deliverables": ["output/report.md"],
            "job_may_set": ["llm.base_url", "llm.timeout_s"], "addresses_allowed": [model.address()],
        }),
        "Write a report that quotes each obligation of the documents.\n",
    );
    let mut jobs = Vec::new();
    for planned in &planned {
        jobs.push(planned.insert(&world, &model).await);
    }
    let worker = trial::worker(&world, 0);
    while world.wake_open_jobs().await.is_some() {
        tokio::time::sleep(LOOK).await;
    }
    drop(worker);
    let mut ended = Vec::new();
    for (planned, job) in planned.iter().zip(jobs) {
        ended.push(planned.ended(&world, job).await);
    }
    world.close().await;
    Ok(ended)
}
