//! One sentence of the system on the result of a job, derived from rows, shown before the model's own words. It begins
//! with `look: ` if the figures contradict each other, and with `incomplete: ` if passages are not answered.

use plumbline_engine::{Figures, Judged, RecordedRequirement};
use serde_json::{Value, json};

/// At most one in this many covered candidates may be merged.
const MERGED: usize = 5;
/// At most one in this many candidates may be uncovered in a job with requirements.
const UNCOVERED: usize = 2;
/// At most one in this many requirements may have the tag `needs_look`.
const NEEDS_LOOK: usize = 10;
/// At most one in this many sentences may be without rules of the scan.
const NOT_JUDGED: usize = 10;

/// Counts over the rows of requirements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) standing: usize,
    pub(crate) withdrawn: usize,
    pub(crate) needs_look: usize,
    pub(crate) translated: usize,
    /// Verified citations of active rows, each counted once per row.
    pub(crate) citations_verified: usize,
}

/// The figures as `counts` of a result.
pub(crate) fn counts(figures: &Figures, recorded: &Recorded) -> Value {
    let mut counts = json!({
        "candidates": figures.candidates,
        "candidates_cited": figures.covered,
        "merged": figures.merged,
        "sentences": figures.sentences,
        "sentences_quoted": figures.records.then_some(figures.sentences_quoted),
        "withdrawn": recorded.withdrawn,
        "needs_look": recorded.needs_look,
        "translated": recorded.translated,
    });
    if figures.records {
        counts["citations_verified"] = json!(recorded.citations_verified);
    }
    if let Some(judged) = figures.judged {
        counts["judged"] = json!({"accepted": judged.accepted, "rejected": judged.rejected, "failed": judged.failed});
    }
    counts
}

impl Recorded {
    pub(crate) fn of(rows: &[RecordedRequirement]) -> Self {
        let mut counts = Self::default();
        for row in rows {
            if row.is_withdrawn() {
                counts.withdrawn += 1;
                continue;
            }
            let tagged = |tag: &str| usize::from(row.requirement.tags.iter().any(|known| known == tag));
            counts.standing += 1;
            counts.needs_look += tagged("needs_look");
            counts.translated += tagged("translated");
            counts.citations_verified += verified(&row.requirement.citations);
        }
        counts
    }
}

/// How many of a row's citations are verified.
pub(crate) fn verified(citations: &Value) -> usize {
    citations.as_array().into_iter().flatten().filter(|citation| citation["verified"] == true).count()
}

/// The sentence; none for a job without anything to count. `not_quoted`: documents that cannot be quoted, by the
/// configuration. `files`: how many it delivered.
pub(crate) fn headline(figures: &Figures, recorded: &Recorded, not_quoted: &[&str], files: usize) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(figures.judged.as_ref().map(judged));
    parts.extend(found(figures, recorded));
    if figures.passages > 0 {
        parts.push(format!("{} of {} passages", figures.answered, figures.passages));
    }
    // In types that record nothing, quotes are in files, and their sentences are not counted.
    if figures.sentences > 0 && figures.records {
        parts.push(format!("{} of {} sentences quoted", figures.sentences_quoted, figures.sentences));
    }
    // Where there is one, the count of sentences says what the quotes amount to.
    if (figures.passages == 0 || !figures.records) && figures.quotes_found > 0 {
        let (count, is_one) = (figures.quotes_found, figures.quotes_found == 1);
        parts.push(format!("{count} {} found in the documents", if is_one { "quote" } else { "quotes" }));
    }
    parts.extend(wrong(figures, recorded, not_quoted));
    if parts.is_empty() && files > 0 {
        parts.push(format!("{files} {} delivered", if files == 1 { "file" } else { "files" }));
    }
    let look = if needs_a_look(figures, recorded) { "look: " } else { "" };
    let incomplete = if figures.answered < figures.passages { "incomplete: " } else { "" };
    (!parts.is_empty()).then(|| format!("{look}{incomplete}{}.", parts.join("; ")))
}

/// "152 judged: 150 accepted (140 by rule), 2 rejected, 0 failed"
fn judged(judged: &Judged) -> String {
    let Judged { accepted, by_rule, rejected, failed, waited: _ } = judged;
    let by_rule = if *by_rule > 0 { format!(" ({by_rule} by rule)") } else { String::new() };
    let all = accepted + rejected + failed;
    let left = match judged.left() {
        0 => String::new(),
        left => format!("; {left} that waited not judged by this job"),
    };
    format!("{all} judged: {accepted} accepted{by_rule}, {rejected} rejected, {failed} failed{left}")
}

/// "152 requirements for 148 of 150 candidate sentences (6 merged)"
fn found(figures: &Figures, recorded: &Recorded) -> Option<String> {
    let candidates = (figures.candidates > 0).then(|| {
        let merged = if figures.merged > 0 { format!(" ({} merged)", figures.merged) } else { String::new() };
        format!("{} of {} candidate sentences{merged}", figures.covered, figures.candidates)
    });
    match (figures.records, candidates) {
        (true, None) => Some(requirements(recorded.standing)),
        (true, Some(candidates)) => Some(format!("{} for {candidates}", requirements(recorded.standing))),
        (false, candidates) => candidates.map(|candidates| format!("quotes of {candidates}")),
    }
}

fn requirements(count: usize) -> String {
    format!("{count} {}", if count == 1 { "requirement" } else { "requirements" })
}

/// Further warnings for a person.
fn wrong(figures: &Figures, recorded: &Recorded, not_quoted: &[&str]) -> impl Iterator<Item = String> {
    let is_one = |count: usize| if count == 1 { "" } else { "s" };
    let look = (recorded.needs_look > 0).then(|| {
        let verb = if recorded.needs_look == 1 { "needs" } else { "need" };
        format!("{} {verb} a look", requirements(recorded.needs_look))
    });
    let translated =
        (recorded.translated > 0).then(|| format!("{} in another language, not compared", recorded.translated));
    let not_judged = (figures.not_judged > 0)
        .then(|| format!("{} passage{} not judged", figures.not_judged, is_one(figures.not_judged)));
    let undecoded = (figures.undecoded > 0)
        .then(|| format!("text of {} document{} was not decoded", figures.undecoded, is_one(figures.undecoded)));
    let not_quoted =
        (!not_quoted.is_empty()).then(|| format!("nothing is quoted from {} (no_sources)", not_quoted.join(", ")));
    [look, translated, not_judged, undecoded, not_quoted].into_iter().flatten()
}

fn needs_a_look(figures: &Figures, recorded: &Recorded) -> bool {
    let uncovered = figures.candidates.saturating_sub(figures.covered);
    figures.merged * MERGED > figures.covered
        || (recorded.standing > 0 && uncovered * UNCOVERED > figures.candidates)
        || recorded.needs_look * NEEDS_LOOK > recorded.standing
        || figures.sentences_not_judged * NOT_JUDGED > figures.sentences
        || figures.undecoded > 0
}

#[cfg(test)]
mod tests {
    use super::{Recorded, headline};
    use plumbline_engine::{Figures, Judged};

    fn whole() -> (Figures, Recorded) {
        let figures = Figures {
            records: true,
            candidates: 150,
            covered: 148,
            merged: 6,
            passages: 12,
            answered: 12,
            sentences: 640,
            sentences_quoted: 312,
            ..Figures::default()
        };
        (figures, Recorded { standing: 152, ..Recorded::default() })
    }

    #[test]
    fn it_counts_what_the_rows_have() {
        let (figures, recorded) = whole();
        assert_eq!(
            headline(&figures, &recorded, &[], 5).as_deref(),
            Some(
                "152 requirements for 148 of 150 candidate sentences (6 merged); 12 of 12 passages; 312 of 640 sentences quoted."
            )
        );
        let quotes = Figures { quotes_found: 24, ..Figures::default() };
        assert_eq!(
            headline(&quotes, &Recorded::default(), &["questionnaire.csv"], 2).as_deref(),
            Some("24 quotes found in the documents; nothing is quoted from questionnaire.csv (no_sources).")
        );
        let answers = Figures { records: false, sentences_quoted: 0, quotes_found: 148, merged: 0, ..figures };
        assert_eq!(
            headline(&answers, &Recorded::default(), &[], 2).as_deref(),
            Some("quotes of 148 of 150 candidate sentences; 12 of 12 passages; 148 quotes found in the documents.")
        );
        let judged = Figures {
            judged: Some(Judged { accepted: 150, by_rule: 140, rejected: 2, failed: 0, waited: 12 }),
            ..Figures::default()
        };
        assert_eq!(
            headline(&judged, &Recorded::default(), &[], 1).as_deref(),
            Some("152 judged: 150 accepted (140 by rule), 2 rejected, 0 failed.")
        );
        let left = Figures {
            judged: Some(Judged { accepted: 8, by_rule: 8, waited: 14, ..Judged::default() }),
            ..Figures::default()
        };
        assert_eq!(
            headline(&left, &Recorded::default(), &[], 1).as_deref(),
            Some("8 judged: 8 accepted (8 by rule), 0 rejected, 0 failed; 14 that waited not judged by this job.")
        );
        assert_eq!(headline(&Figures::default(), &Recorded::default(), &[], 1).as_deref(), Some("1 file delivered."));
        assert_eq!(headline(&Figures::default(), &Recorded::default(), &[], 0), None);
    }

    #[test]
    fn what_does_not_go_together_asks_for_a_look() {
        type Change = fn(&mut Figures, &mut Recorded);
        let cases: [(Change, bool); 10] = [
            (|figures, _| figures.merged = 30, true),
            (|figures, _| figures.merged = 29, false),
            (|figures, _| (figures.covered, figures.merged) = (74, 0), true),
            (|figures, _| (figures.covered, figures.merged) = (75, 0), false),
            (|_, recorded| recorded.needs_look = 16, true),
            (|_, recorded| recorded.needs_look = 15, false),
            (|figures, _| figures.sentences_not_judged = 65, true),
            (|figures, _| (figures.sentences_not_judged, figures.not_judged) = (64, 2), false),
            (|figures, _| figures.undecoded = 1, true),
            (|_, recorded| recorded.translated = 44, false),
        ];
        for (at, (change, looks)) in cases.into_iter().enumerate() {
            let (mut figures, mut recorded) = whole();
            change(&mut figures, &mut recorded);
            let said = headline(&figures, &recorded, &[], 5).expect("there is something to count");
            assert_eq!(said.starts_with("look: "), looks, "{at}: {said}");
            assert!(!said.contains("incomplete"), "{said}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let (mut figures, mut recorded) = whole();
        (figures.answered, figures.undecoded, figures.not_judged) = (11, 1, 2);
        (recorded.needs_look, recorded.translated) = (1, 44);
        assert_eq!(
            headline(&figures, &recorded, &["template.pdf"], 5).as_deref(),
            Some(
                "look: incomplete: 152 requirements for 148 of 150 candidate sentences (6 merged); 11 of 12 passages; 312 of 640 \
                 sentences quoted; 1 requirement needs a look; 44 in another language, not compared; 2 passages not judged; text of \
                 1 document was not decoded; nothing is quoted from template.pdf (no_sources)."
            )
        );
    }
}
