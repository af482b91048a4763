//! The findings files `candidates/part_<n>.md`: what one phase hands to the next, one line a finding.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use plumbline_bounds::pattern;
use regex::Regex;

use crate::call::Call;
use crate::request_view::RequestView;
use crate::request_view::pages::read_all;
use crate::text::Finding;

static ID: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"\breq_\w+"));

/// Lines asked for at once: some five thousand tokens.
const LINES: usize = 60;

/// One line of a findings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The id under which the requirement was recorded; empty where the result was cleared before it was written down.
    pub(crate) id: String,
    /// Document and page.
    pub(crate) place: String,
    /// The heading it stands under; empty where unknown.
    pub(crate) section: String,
    /// The word that makes it normative.
    pub(crate) word: String,
    /// The requirement's text.
    pub(crate) text: String,
}

/// The findings file of a part.
pub(crate) fn path(part: u32) -> String {
    format!("candidates/part_{part}.md")
}

/// The line of a finding that was recorded with this result.
pub(crate) fn line(finding: &Finding, result: &str) -> String {
    let id = ID.find(result).map_or("", |found| found.as_str());
    let page = finding.page.map(|page| format!(" p. {page}")).unwrap_or_default();
    let section = finding.section.as_deref().unwrap_or_default().replace('|', "/");
    format!("- {id} | {}{page} | {section} | {} | {}\n", finding.source, finding.modal.word, finding.text)
}

/// Every finding of a file, repeated ones included, or the call that reads its next lines. A file that is not there is
/// empty.
pub(crate) fn read(view: &RequestView<'_>, path: &str) -> Result<Vec<Candidate>, Call> {
    let text = read_all(view, path, LINES)?;
    Ok(text.lines().filter_map(parse).collect())
}

fn parse(line: &str) -> Option<Candidate> {
    let mut fields = line.strip_prefix("- ")?.splitn(5, " | ").map(|field| field.trim().to_owned());
    let (id, place, section) = (fields.next()?, fields.next()?, fields.next()?);
    Some(Candidate { id, place, section, word: fields.next()?, text: fields.next()? })
}

/// The findings without those whose text an earlier one has.
pub(crate) fn distinct(all: Vec<Candidate>) -> Vec<Candidate> {
    let mut seen = BTreeSet::new();
    all.into_iter().filter(|candidate| seen.insert(candidate.text.clone())).collect()
}

/// The deliverable's table; `prefix` begins every number.
pub(crate) fn table(prefix: &str, candidates: &[Candidate]) -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let rows = (1..).zip(candidates).map(|(number, candidate)| {
        format!(
            "| {prefix}{number:03} | {} | {} | {} | {} | {} |\n",
            cell(&candidate.id),
            cell(&candidate.place),
            cell(&candidate.section),
            cell(&candidate.word),
            cell(&candidate.text)
        )
    });
    let head = "| number | id | place | section | by the word | requirement |\n|---|---|---|---|---|---|\n";
    format!("{head}{}", rows.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{Candidate, distinct, line, parse, table};
    use crate::text::findings;

    #[test]
    fn a_finding_is_read_back_from_its_line() {
        let chunk =
            "<!-- source: input/p.pdf | pages: 3 | section: 2 | Scope -->\n[page 3]\nA | B must be kept closed.\n";
        let line = line(&findings(&[chunk], 1)[0], "recorded req_0a1b: A (1 citation verified)");
        let expected = Candidate {
            id: "req_0a1b".to_owned(),
            place: "input/p.pdf p. 3".to_owned(),
            section: "2 / Scope".to_owned(),
            word: "must".to_owned(),
            text: "A | B must be kept closed.".to_owned(),
        };
        assert_eq!(parse(line.trim_end()), Some(expected.clone()));
        assert_eq!(distinct(vec![expected.clone(), expected.clone()]), vec![expected.clone()]);
        assert!(
            table("R", &[expected]).ends_with(
                "| R001 | req_0a1b | input/p.pdf p. 3 | 2 / Scope | must | A \\| B must be kept closed. |\n"
            )
        );
    }
}
