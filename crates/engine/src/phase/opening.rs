//! The opening: the system's message at the beginning of a phase and after a compaction, so that orientation costs no
//! turns.

use crate::{
    CoverageSettings, FileWrite, Opening, Passage, PassageState, PhaseKind, Run, Source,
    ledger::{Scope, document_lines, first_lines, worst},
    phase::{next_phase::NextPhase, workspace_summary::ELAPSED},
};
use serde_json::Value;

/// Documents listed by name; if there are more, they are counted.
const MAX_DOCUMENTS: usize = 50;
/// Warnings listed per document and in total; of more, only the number.
const MAX_WARNINGS: usize = 20;
const MAX_WARNINGS_OF_ALL: usize = 60;
/// Passages listed with their pages.
const MAX_PASSAGES: usize = 200;
/// Open steps of the plan listed by name.
const MAX_STEPS: usize = 12;

/// The data supplied with the job.
pub(crate) const CONTEXT: &str = "input/context.json";
/// Its key for the name of a document supplied in the row, which the intake has already used.
const DOCUMENT_NAME: &str = "document_name";
/// Maximum characters of such data shown whole; of longer data, only the keys are shown.
const MAX_GIVEN: usize = 4_000;
/// Maximum keys listed of data that is not shown.
const MAX_KEYS: usize = 40;

/// Precedes the number of requirements that wait to be judged, in the first opening of a job that judges requirements.
pub const WAITING: &str = "### Requirements that wait to be judged\n\n";

/// The first message of a phase.
pub(crate) fn opening(
    run: &Run,
    next: &NextPhase,
    closed: &[(i32, String)],
    left_out: Option<String>,
    note: Option<&str>,
) -> String {
    let mut parts = vec![headline(run, next)];
    parts.extend(next.failed.as_deref().map(resume_nudge));
    parts.extend(closed.iter().map(|(position, answer)| format!("Todo {position} is closed already: {answer}.")));
    parts.extend(left_out);
    parts.extend(open_steps(run, next));
    if run.state().guards.phases_without_results > 0 && next.kind == PhaseKind::Strategic {
        parts.push(format!(
            "In phase {} nothing was written or recorded, although its todos were closed. A second such phase in a row ends \
             the job: do work that leaves a file, a record or a citation, or complete the job.",
            run.state().phase.number - 1
        ));
    }
    if let Some(issue) = &next.issue {
        parts.push(format!("The phase before was given up: {issue}"));
    }
    parts.extend(run.state().beginning().waiting.map(|count| format!("{WAITING}{count}{}", by_rule(run))));
    parts.extend(run.state().beginning().given.clone());
    parts.push(bearings(run));
    // A phase of work has the plan, and needs no note on the planning phase.
    if let Some(note) = note.filter(|_| next.opening != Opening::Work) {
        parts.push(format!("### Archive note of the phase before\n\n```yaml\n{}```", note));
    }
    parts.join("\n\n")
}

/// What rules have judged so far, in the opening of a validator.
fn by_rule(run: &Run) -> String {
    match run.state().judged.by_rule {
        0 => String::new(),
        count => format!(
            "\n\n{count} more were accepted by rule, since the checks found nothing to remark; output/insert.cypher has them. The report \
             counts them."
        ),
    }
}

/// The text for the model of a job that had failed. It is written when the job fails, and read only if the job is
/// retried.
pub(crate) fn resume_nudge(why: &str) -> String {
    format!(
        "The job had ended as failed and has been told to go on. Do what is still missing, in another way where the first did \
         not help. Why it had failed: {why}"
    )
}

/// The text of the first opening about the data supplied with the job; none if there is no data.
pub(crate) fn given(file: &FileWrite) -> Option<String> {
    let text = std::str::from_utf8(&file.content).ok()?.trim();
    let value: Value = serde_json::from_str(text).ok()?;
    let keys: Vec<&String> = value.as_object().into_iter().flat_map(|fields| fields.keys()).collect();
    if value.is_null() || value.is_object() && keys.iter().all(|key| *key == DOCUMENT_NAME) {
        return None;
    }
    let shown = match text.chars().nth(MAX_GIVEN) {
        None => format!("```json\n{text}\n```"),
        Some(_) => {
            let mut named: Vec<String> = keys.iter().take(MAX_KEYS).map(|key| format!("`{}`", short(key))).collect();
            named.extend(keys.len().checked_sub(MAX_KEYS + 1).map(|more| format!("{} more", more + 1)));
            format!("{} characters, with the keys {}; read_file shows them.", text.chars().count(), named.join(", "))
        }
    };
    Some(format!("### {CONTEXT}\n\nData that was given with the job:\n\n{shown}"))
}

/// Maximum characters of a key shown.
const MAX_KEY: usize = 80;

fn short(key: &str) -> String {
    key.chars().take(MAX_KEY).collect()
}

fn headline(run: &Run, next: &NextPhase) -> String {
    let phase = &run.state().phase;
    let what = match next.opening {
        Opening::Initial => "The job begins.",
        Opening::Transition => "A phase is done; prepare the next one.",
        Opening::Final if run.workspace().plan().iter().all(|phase| phase.open_steps.is_empty()) => {
            "Every phase of the plan is done; verify the result and complete the job."
        }
        // The reason follows below.
        Opening::Rewound if next.failed.is_some() => "",
        // Open work is listed below.
        Opening::Final => "Verify the result.",
        Opening::Rewound => "The last phase was given up; find out why and correct the plan.",
        Opening::Feedback => "The user gave feedback on the finished work.",
        Opening::Work => &phase.description,
    };
    let what = if what.is_empty() { String::new() } else { format!("\n\n{what}") };
    format!(
        "A {} phase begins: {}, {}{what}",
        phase.kind.as_str(),
        phase.name,
        run.state().phase.which(run.workspace().planned())
    )
}

/// The plan's steps that are not ticked, once as many phases have been completed as the plan has.
fn open_steps(run: &Run, next: &NextPhase) -> Option<String> {
    let phases = run.workspace().plan();
    let ends = matches!(next.opening, Opening::Final | Opening::Transition)
        && run.state().phase.completed >= phases.len() as i32;
    let open: Vec<&str> = phases.iter().flat_map(|phase| &phase.open_steps).map(String::as_str).collect();
    if !ends || open.is_empty() {
        return None;
    }
    Some(format!(
        "As many phases have come to their end as the plan has, and {} of its steps are not ticked. Check whether they are \
         done: tick them, write the todos of another phase (todo_write), or complete the job and name them in \
         'undelivered'.\n\n{}",
        open.len(),
        first_lines(open.iter().map(|step| format!("- {step}")), MAX_STEPS, "")
    ))
}

/// Documents, plan and summary: facts that hold regardless of the conversation.
pub(crate) fn bearings(run: &Run) -> String {
    let mut parts = vec![format!("### Documents\n\n{}", documents(run.workspace().sources()))];
    parts.extend(coverage(run));
    parts.extend(passages(run));
    if !run.state().beginning().notes.is_empty() {
        let notes = run.state().beginning().notes.iter().map(|note| without_warnings(note));
        parts.push(format!("### What was prepared\n\n{}", notes.collect::<Vec<_>>().join("\n\n")));
    }
    if !run.workspace().memory().main_plan.trim().is_empty() {
        parts.push(format!(
            "### main_plan.md\n\n{}",
            run.settings().shown(&run.workspace().memory().main_plan, "main_plan.md")
        ));
    }
    if !run.workspace().memory().summary.trim().is_empty() && run.state().phase.kind == PhaseKind::Strategic {
        // The time is shown below, to the minute.
        let is_time = |line: &&str| line.trim_start_matches("- ").starts_with(ELAPSED);
        let summary: String =
            run.workspace().memory().summary.split_inclusive('\n').filter(|line| !is_time(line)).collect();
        parts.push(format!("### workspace_summary.md\n\n{}", run.settings().shown(&summary, "workspace_summary.md")));
        parts.push(format!("Elapsed: {}, {} model requests.", run.state().elapsed(), run.state().totals.requests));
    }
    parts.join("\n\n")
}

/// Whether an opening contains words of documents: headings of prepared documents, open candidates.
pub(crate) fn shows_documents(run: &Run) -> bool {
    !run.state().beginning().notes.is_empty() || !run.ledger().is_empty()
}

/// The passages of the documents by state, in strategic phases with the worst first.
fn coverage(run: &Run) -> Option<String> {
    let bounds = run.settings().coverage.filter(|_| !run.ledger().is_empty())?;
    let lines = first_lines(document_lines(run.ledger()).into_iter(), MAX_DOCUMENTS, " documents");
    let mut text = format!("### Coverage\n\n{lines}");
    if run.state().phase.kind == PhaseKind::Strategic {
        text.push_str(&bounds_of(bounds));
    }
    let left = worst(run.ledger(), &Scope::Job);
    if run.state().phase.kind == PhaseKind::Strategic && run.state().phase.tactical > 0 && !left.is_empty() {
        text.push_str(&format!("\n\nLeft, worst first:\n{left}"));
    }
    Some(text)
}

/// The preparation's note without lines that the list of documents already has.
fn without_warnings(note: &str) -> String {
    note.lines().filter(|line| !line.starts_with("warning: ")).collect::<Vec<_>>().join("\n")
}

/// The pages of the passages that are not answered, in strategic phases; none if no document has pages.
fn passages(run: &Run) -> Option<String> {
    let is_open = |passage: &&Passage| passage.state != PassageState::Answered && passage.has_text();
    let open: Vec<(&Passage, (i32, i32))> =
        run.ledger().all().filter(is_open).filter_map(|passage| Some((passage, passage.pages?))).collect();
    if run.settings().coverage.is_none() || run.state().phase.kind != PhaseKind::Strategic || open.is_empty() {
        return None;
    }
    let place = |(passage, (first, last)): &(&Passage, (i32, i32))| match first == last {
        true => format!("{} ({first})", passage.number),
        false => format!("{} ({first}-{last})", passage.number),
    };
    let of_document = |part: &[(&Passage, (i32, i32))]| {
        let document = part.first().map_or("", |(passage, _)| &passage.document);
        format!("- {document}: {}", part.iter().map(place).collect::<Vec<_>>().join(", "))
    };
    let (more, shown) = (open.len().saturating_sub(MAX_PASSAGES), &open[..open.len().min(MAX_PASSAGES)]);
    let lines: Vec<String> =
        shown.chunk_by(|(one, _), (other, _)| one.document == other.document).map(of_document).collect();
    let more =
        if more > 0 { format!("\n- … and {more} more; chunks/manifest.json lists all") } else { String::new() };
    Some(format!(
        "### Passages\n\nThose that are not answered, with their pages; chunks/chunk_007.md is passage 7.\n\n{}{more}",
        lines.join("\n")
    ))
}

/// The bounds that make a job fail at its end, so that the model plans for them in time.
fn bounds_of(CoverageSettings { minimum, max_closed, records, .. }: CoverageSettings) -> String {
    let mut text = String::new();
    if minimum > 0.0 {
        text.push_str(&format!(
            "\n\nThe job fails if it ends with a share below {minimum} of the passages that have text answered."
        ));
    }
    if max_closed < 1.0 {
        text.push_str(&format!(
            "\n\nThe job fails if it ends with a share above {max_closed} of the passages with candidates closed with fewer than a \
             quarter of these {}.",
            if records { "covered by requirements" } else { "cited" }
        ));
    }
    text
}

fn documents(sources: &[Source]) -> String {
    if sources.is_empty() {
        return "(none)".into();
    }
    let mut room = MAX_WARNINGS_OF_ALL;
    first_lines(sources.iter().map(|source| document(source, &mut room)), MAX_DOCUMENTS, " under input/")
}

/// A document, and the parts of it that are missing in its text; `room`: how many more warnings are listed.
fn document(source: &Source, room: &mut usize) -> String {
    let mut lines = match source.pages {
        Some(pages) => format!("- {} ({pages} pages, {} bytes)", source.path, source.size),
        None => format!("- {} ({} bytes)", source.path, source.size),
    };
    let told = source.warnings.len().min(MAX_WARNINGS).min(*room);
    *room -= told;
    source.warnings.iter().take(told).for_each(|warning| lines.push_str(&format!("\n  - {warning}")));
    if told < source.warnings.len() {
        lines.push_str(&format!("\n  - … and {} more things that are not in its text", source.warnings.len() - told));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{CONTEXT, given};
    use crate::FileWrite;
    use serde_json::{Map, json};

    #[test]
    fn data_given_with_the_job_is_shown_whole_or_by_its_keys() {
        let said = |value: &serde_json::Value| given(&FileWrite::text(CONTEXT, format!("{value}\n")));
        assert_eq!((said(&json!({})), said(&json!({"document_name": "policy.md"}))), (None, None));
        assert_eq!(
            said(&json!({"client": "ACME", "document_name": "policy.md"})).as_deref(),
            Some(
                "### input/context.json\n\nData that was given with the job:\n\n```json\n\
                 {\"client\":\"ACME\",\"document_name\":\"policy.md\"}\n```"
            )
        );
        let many: Map<String, serde_json::Value> =
            (0..60).map(|n| (format!("key_{n:02}"), json!("x".repeat(100)))).collect();
        let many = said(&many.into()).unwrap_or_default();
        assert!(
            many.contains("characters, with the keys `key_00`, `key_01`")
                && many.contains("`key_39`, 20 more; read_file"),
            "{many}"
        );
    }
}
