//! Recall of a run: compares its requirements with a gold list.
//!
//! A line of the gold list is found if a requirement has a verified quote of the line's document that matches it
//! (`matching` has the rule). Each requirement matches one line, the best pair first, so that one long quote does not
//! match every line.

mod gold;
mod matching;

pub use gold::{Gold, GoldError};

use matching::{Pair, Words};
use serde::Serialize;

/// A run of a job, as far as it is held against a gold list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// What it is called: a job's id, or a recording's file.
    pub name: String,
    /// Its requirements, without those that it withdrew.
    pub requirements: Vec<Vec<Quote>>,
    /// Tokens of all its requests.
    pub tokens: i64,
    /// What they cost.
    pub cost_usd: f64,
}

/// A verified quote of a requirement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quote {
    /// The document.
    pub document: String,
    /// The page that it begins on, where the document has pages.
    pub page: Option<u32>,
    /// The passage that it begins in, where that is known.
    pub passage: Option<u32>,
    /// Its words.
    pub text: String,
}

/// What a run found, as `plumbline eval --json` shows it. Rates are none where they would divide by zero.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the public keys, described in the interface")]
pub struct Evaluation {
    pub run: String,
    pub gold: usize,
    pub found: usize,
    pub recall: Option<f64>,
    /// Requirements of the run, and those that serve a line.
    pub items: usize,
    pub matched: usize,
    pub precision: Option<f64>,
    /// Found lines whose page, or passage, is the gold's.
    pub place_exact: usize,
    pub by_tenth: Vec<Tenth>,
    pub tokens: i64,
    pub cost_usd: f64,
    pub cost_per_found_usd: Option<f64>,
    pub missed: Vec<Missed>,
}

/// A tenth of the lines of each document, by their place in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the public keys, described in the interface")]
pub struct Tenth {
    pub tenth: usize,
    pub gold: usize,
    pub found: usize,
}

/// A line that was not found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the public keys, described in the interface")]
pub struct Missed {
    pub line: usize,
    pub document: String,
    pub page: Option<u32>,
    pub text: String,
}

/// Holds a run against the gold; with `recall_only`, for a gold that does not name everything, without its precision.
pub fn evaluate(gold: &[Gold], run: &Run, recall_only: bool) -> Evaluation {
    let served = serve(gold, run);
    let found = served.iter().flatten().count();
    let rate = |part: usize, whole: usize| (whole > 0).then(|| part as f64 / whole as f64);
    let exact = gold.iter().zip(&served).filter(|(line, quote)| quote.is_some_and(|quote| line.is_at(quote)));
    let missed = gold.iter().zip(&served).filter(|(_, quote)| quote.is_none());
    let missed = missed.map(|(line, _)| Missed {
        line: line.line,
        document: line.document.clone(),
        page: line.page,
        text: line.text.clone(),
    });
    Evaluation {
        run: run.name.clone(),
        gold: gold.len(),
        found,
        recall: rate(found, gold.len()),
        items: run.requirements.len(),
        matched: found,
        precision: rate(found, run.requirements.len()).filter(|_| !recall_only),
        place_exact: exact.count(),
        by_tenth: tenths(gold, &served),
        tokens: run.tokens,
        cost_usd: run.cost_usd,
        cost_per_found_usd: (found > 0).then(|| run.cost_usd / found as f64),
        missed: missed.collect(),
    }
}

/// For each line the quote that serves it.
fn serve<'a>(gold: &[Gold], run: &'a Run) -> Vec<Option<&'a Quote>> {
    let lines: Vec<Words> = gold.iter().map(|line| Words::of(&line.text)).collect();
    let quotes: Vec<Vec<(&Quote, Words)>> = run
        .requirements
        .iter()
        .map(|quotes| quotes.iter().map(|quote| (quote, Words::of(&quote.text))).collect())
        .collect();
    let mut pairs: Vec<(Pair, &Quote)> = Vec::new();
    for (line, words) in lines.iter().enumerate() {
        for (requirement, quotes) in quotes.iter().enumerate() {
            let of_document = quotes.iter().filter(|(quote, _)| gold[line].is_of(&quote.document));
            let scores = of_document.filter_map(|(quote, said)| Some((words.said_by(said)?, *quote)));
            let best = scores.max_by(|(one, _), (other, _)| one.total_cmp(other));
            pairs.extend(best.map(|(score, quote)| (Pair { line, requirement, score }, quote)));
        }
    }
    // The sort is stable: of equals, the earlier line and the earlier requirement.
    pairs.sort_by(|(one, _), (other, _)| other.score.total_cmp(&one.score));
    let mut served = vec![None; gold.len()];
    let mut serves = vec![false; run.requirements.len()];
    for (Pair { line, requirement, .. }, quote) in pairs {
        if served[line].is_none() && !serves[requirement] {
            (served[line], serves[requirement]) = (Some(quote), true);
        }
    }
    served
}

/// Where lines are lost: at the beginning of documents, in their middle, or at the end.
fn tenths(gold: &[Gold], served: &[Option<&Quote>]) -> Vec<Tenth> {
    let mut tenths: Vec<Tenth> = (1..=10).map(|tenth| Tenth { tenth, ..Tenth::default() }).collect();
    let mut order: Vec<usize> = (0..gold.len()).collect();
    order.sort_by_key(|at| (&gold[*at].document, gold[*at].page, gold[*at].passage, gold[*at].line));
    for lines in order.chunk_by(|one, other| gold[*one].document == gold[*other].document) {
        for (place, at) in lines.iter().enumerate() {
            let tenth = &mut tenths[place * 10 / lines.len()];
            tenth.gold += 1;
            tenth.found += usize::from(served[*at].is_some());
        }
    }
    tenths
}

#[cfg(test)]
mod tests;
