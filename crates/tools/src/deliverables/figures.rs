//! The figures of the report: the model writes the judgement, the figures are counted from the rows.

use super::{Rows, citations};
use plumbline_engine::Requirement;
use std::collections::BTreeMap;

/// The line of the report that is replaced by the figures; without it they are appended.
const PLACEHOLDER: &str = "[figures]";
/// Delimiters, so that the figures are found and replaced if the job ends once more, after a person's feedback.
const BEGIN: &str = "<!-- figures, from the rows -->";
const END: &str = "<!-- end of the figures -->";

/// The report with its figures.
pub(super) fn filled_in(report: &str, rows: &Rows<'_>, standing: &[&Requirement]) -> String {
    let block = format!("{BEGIN}\n\n{}\n{END}", table(rows, standing));
    if let Some((before, after)) = surrounding(report) {
        return format!("{before}{block}{after}");
    }
    if report.contains(PLACEHOLDER) {
        return report.replacen(PLACEHOLDER, &block, 1);
    }
    format!("{}\n\n## Figures\n\n{block}\n", report.trim_end())
}

/// The text before and after the figures of an earlier end.
fn surrounding(report: &str) -> Option<(&str, &str)> {
    let (before, rest) = report.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some((before, after))
}

fn table(rows: &Rows<'_>, standing: &[&Requirement]) -> String {
    let mut lines = vec!["| what | count |".to_owned(), "|---|---|".to_owned()];
    let mut line = |what: &str, count: usize| lines.push(format!("| {what} | {count} |"));
    line("documents", rows.sources.len());
    let pages: i64 = rows.sources.iter().filter_map(|source| source.pages).map(i64::from).sum();
    line("pages", usize::try_from(pages).unwrap_or(0));
    line("requirements", standing.len());
    for (kind, count) in counted(standing, |requirement| &requirement.r#type) {
        line(&format!("of type {kind}"), count);
    }
    for (priority, count) in counted(standing, |requirement| &requirement.priority) {
        line(&format!("of priority {priority}"), count);
    }
    line("relevant to GoBD", standing.iter().filter(|requirement| requirement.gobd_relevant).count());
    line("relevant to GDPR", standing.iter().filter(|requirement| requirement.gdpr_relevant).count());
    let quotes = || standing.iter().flat_map(|requirement| citations(requirement));
    line("quotes", quotes().count());
    line("quotes found in their source", quotes().filter(|citation| citation["verified"] == true).count());
    line("without a quote", standing.iter().filter(|requirement| citations(requirement).is_empty()).count());
    line("withdrawn", rows.recorded.len() - standing.len());
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

fn counted<'a>(standing: &[&'a Requirement], word: impl Fn(&'a Requirement) -> &'a String) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for requirement in standing {
        *counts.entry(word(requirement).as_str()).or_default() += 1;
    }
    counts
}
