//! Jobs that have little or nothing to record, and one that records in its own words: none of them may be mistaken for
//! a lying model.

use super::{NAME, Options, Planted, make, prose, trial};
use crate::{World, jobs::NewJob};
use plumbline_rehearsal::misbehave::{Kind, Misbehaving, Rate, find};
use serde_json::{Value, json};
use sqlx::types::Json;

/// Sentences of each document without planted obligations.
const SENTENCES: usize = 120;

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
}

/// All kinds.
pub const KINDS: [Honest; 4] = [Honest::Definitions, Honest::NoDuty, Honest::French, Honest::OwnWords];

/// A job's outcome.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its kind.
    pub kind: Honest,
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
        has_ended_well && !is_silent && self.planted.0 == self.planted.1
    }

    /// A line about it.
    pub fn line(&self) -> String {
        let Self { kind, status, reason, coverage, headline, requirements, planted: (planted, found) } = self;
        format!(
            "{kind:?}: {status}, coverage {coverage}, {requirements} requirements, {found} of {planted} planted found; {headline} {reason}"
        )
    }
}

/// Its document, and the obligations planted in it.
fn document(kind: Honest, options: Options) -> Result<(&'static str, Planted), String> {
    let mut dice = super::Dice::new(options.seed);
    let text = match kind {
        Honest::OwnWords => return Ok((NAME, make(options)?)),
        Honest::Definitions => definitions(),
        Honest::NoDuty => (0..SENTENCES / 4).map(|_| prose::sentences(&mut dice, false, 4) + "\n\n").collect(),
        Honest::French => FRENCH.repeat(SENTENCES / 4),
    };
    Ok(("document.md", Planted { pdf: text.into_bytes(), gold: Vec::new() }))
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

/// Runs a job of each kind, in a world of its own.
///
/// # Errors
/// When the planted document has no room for its obligations: a sentence.
///
/// # Panics
/// When something other than the jobs fails.
pub async fn run(options: Options) -> Result<Vec<Ended>, String> {
    let documents = KINDS.iter().map(|kind| document(*kind, options)).collect::<Result<Vec<_>, _>>()?;
    let world = World::open().await;
    let model = Misbehaving::start().await.expect("loopback has a free port");
    world.let_rows_set(&["llm.base_url"], &[&model.address()]);
    let mut jobs = Vec::new();
    for (kind, (name, planted)) in KINDS.into_iter().zip(&documents) {
        let played: &Kind = find(if kind == Honest::OwnWords { "own_words" } else { "healthy" }).expect("a kind");
        let llm = json!({"base_url": model.base_url(played.name, Rate::percent(100), options.seed)});
        let config = json!({"llm": llm, "limits": {"max_iterations": trial::MAX_ITERATIONS}});
        jobs.push(world.insert(&NewJob { config: Some(config), ..NewJob::with_content(name, &planted.pdf) }).await);
    }
    world.work_until_idle().await;
    let mut ended = Vec::new();
    for ((kind, job), (_, planted)) in KINDS.into_iter().zip(jobs).zip(&documents) {
        let (status, reason, result, requirements, quotes): (
            String,
            String,
            Option<Json<Value>>,
            i64,
            Json<Vec<String>>,
        ) = sqlx::query_as(
            "SELECT status, coalesce(error_message, status_reason, ''), result,
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
        let found = planted.gold.iter().filter(|gold| quotes.iter().any(|quote| quote.contains(&gold.id))).count();
        ended.push(Ended {
            kind,
            status,
            reason,
            coverage: result["coverage"].clone(),
            headline: result["headline"].as_str().unwrap_or_default().to_owned(),
            requirements,
            planted: (planted.gold.len(), found),
        });
    }
    world.close().await;
    Ok(ended)
}
