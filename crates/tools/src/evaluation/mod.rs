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

/// The data of a run that is compared with a gold list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Its name: a job's id, or a recording's file.
    pub name: String,
    /// Its requirements, without withdrawn ones.
    pub requirements: Vec<Vec<Quote>>,
    /// Tokens of all its requests.
    pub tokens: i64,
    /// Their cost.
    pub cost_usd: f64,
}

/// A verified quote of a requirement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quote {
    /// The document.
    pub document: String,
    /// The page on which it begins, if the document has pages.
    pub page: Option<u32>,
    /// The passage in which it begins, if known.
    pub passage: Option<u32>,
    /// Its text.
    pub text: String,
}

/// The results of a run, as shown by `plumbline eval --json`. Rates are none if they would divide by zero.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the public keys, described in the interface")]
pub struct Evaluation {
    pub run: String,
    pub gold: usize,
    pub found: usize,
    pub recall: Option<f64>,
    /// Requirements of the run, and those that match a line.
    pub items: usize,
    pub matched: usize,
    pub precision: Option<f64>,
    /// Found lines whose quote is on the gold list's page, or in its passage.
    pub place_exact: usize,
    pub by_tenth: Vec<Tenth>,
    pub tokens: i64,
    pub cost_usd: f64,
    pub cost_per_found_usd: Option<f64>,
    pub missed: Vec<Missed>,
}

/// A tenth of the lines of each document, by position.
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

/// Compares a run with the gold list; `recall_only`, for an incomplete gold list, omits precision.
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

/// For each line the matching quote.
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
    // The sort is stable: for equal scores, the earlier line and the earlier requirement.
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

/// Where in the documents lines are missed: beginning, middle or end.
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
