//! The end of a job: report, hand over.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

use plumbline_bounds::pattern;
use regex::Regex;
use serde_json::{Value, json};

use crate::call::{Call, Turn, job_complete, read_lines, todo_complete, turn, write_file};
use crate::plan::Plan;
use crate::plan::schedule::{self, LATE};
use crate::request_view::RequestView;
use crate::requirement::table_file;
use crate::validator;

/// A passage that a refusal names, and a phase.
static PASSAGE: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"(?m)^- passage (\d+) "));
static PHASE: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"(?:^|, )(\d+)(?: \('|,|$)"));

const OUTPUT: &str = "output";
const REPORT: &str = "output/summary_report.md";

const METHOD: &str = "Every chunk of every readable document was searched for sentences with a normative word (must, \
     shall, should, may not, required, is to be; muss, müssen, soll, darf nicht, ist zu, hat zu). Each was recorded with \
     its page and its wording as the quote. Type, priority, flags and tags follow from key words. Nothing was understood, \
     weighed or merged: sentences without such a word are missing, and some that have one bind nobody.";

/// Enough lines of the deliverable to see its count.
const HEAD_LINES: usize = 8;

/// Final todo 2: the report, unless there is nothing to report on or a phase is still to be done: the engine counts
/// phases, and one that was done twice makes it believe in the end too early.
pub(super) fn report(view: &RequestView<'_>) -> Turn {
    let text = Plan::current(view).and_then(|plan| {
        let files = outputs(view)?;
        match files.is_empty() || plan.next().is_some() {
            true => Ok(None),
            false => report_text(view, &files).map(Some),
        }
    });
    match text {
        Err(call) => turn("Looking at the deliverables.", vec![call]),
        Ok(None) => turn("It is too early for a report.", vec![todo_complete("nothing to report on yet")]),
        Ok(Some(text)) => {
            turn("Writing the summary report.", vec![write_file(REPORT, &text), todo_complete("the report is written")])
        }
    }
}

/// Hands the job over when the plan is fulfilled, at the end of a final phase or of any other strategic one. A report or
/// a table that is missing is written first, in a turn of its own: the hand-over names it, so it has to exist by then.
pub(super) fn finish(view: &RequestView<'_>) -> Turn {
    match missing(view) {
        Err(call) => turn("Looking at the deliverables.", vec![call]),
        Ok((_, Some(calls))) => turn("Writing what is missing.", calls),
        Ok((files, None)) => turn("The plan is fulfilled: completing the job.", vec![hand_over(view, files)]),
    }
}

/// The deliverables, and the calls that write the one that is missing. Nothing is made up where nothing was done.
fn missing(view: &RequestView<'_>) -> Result<(Vec<String>, Option<Vec<Call>>), Call> {
    let files = outputs(view)?;
    let lacks = |path: &str| files.iter().all(|file| file != path);
    if lacks(table_file::PATH) && !view.files("candidates")?.is_empty() {
        let (_, calls) = table_file::calls(view)?;
        return Ok((files, Some(calls)));
    }
    if !files.is_empty() && lacks(REPORT) {
        let text = report_text(view, &files)?;
        return Ok((files, Some(vec![write_file(REPORT, &text)])));
    }
    Ok((files, None))
}

/// The files in output/ that this model writes and that hold anything, or the call that lists them.
pub(super) fn outputs(view: &RequestView<'_>) -> Result<Vec<String>, Call> {
    let files = view.files(OUTPUT)?;
    Ok(files.into_iter().filter(|(path, size)| *size > 0 && is_own(path)).map(|(path, _)| path).collect())
}

/// Whether a path is one of this model's deliverables; whatever else came into the folder is nobody's promise.
fn is_own(path: &str) -> bool {
    let name = path.strip_prefix("output/").unwrap_or_default();
    matches!(
        name,
        "findings.md" | "coverage.md" | "summary_report.md" | "answer.md" | "validation_report.md" | "insert.cypher"
    ) || name.starts_with("requirements_part_")
        || name.starts_with("insert_part_")
        || name.starts_with("feedback_")
}

/// What could not be delivered: the requirements of every document that could not be read or came too late.
fn undelivered_documents(view: &RequestView<'_>) -> Vec<String> {
    let plan = Plan::current(view).unwrap_or_default();
    let late = schedule::late(&plan, &view.documents()).into_iter().map(|path| (path, LATE.to_owned()));
    let all = view.unreadable().into_iter().chain(late);
    all.map(|(path, reason)| format!("requirements of {path}: {reason}")).collect()
}

/// Leaves out what an earlier refusal named, and says so.
fn hand_over(view: &RequestView<'_>, files: Vec<String>) -> Call {
    let mut undelivered: Vec<Value> = undelivered_documents(view).into_iter().map(Value::from).collect();
    let refusals: Vec<&str> = view
        .work()
        .iter()
        .filter(|done| done.name == "job_complete" && done.failed())
        .map(|done| done.result)
        .collect();
    let named = |refusal: &str, file: &str| {
        refusal.contains(&format!("{file} does not exist")) || refusal.contains(&format!("{file} has no"))
    };
    let (bad, good): (Vec<String>, Vec<String>) =
        files.into_iter().partition(|file| refusals.iter().any(|refusal| named(refusal, file)));
    undelivered.extend(bad.into_iter().map(|file| Value::from(format!("{file}: refused as incomplete"))));
    undelivered.extend(not_worked(&refusals));
    if good.is_empty() && undelivered.is_empty() {
        undelivered.push("nothing was written to output/".into());
    }
    let confidence = match (good.is_empty(), undelivered.is_empty()) {
        (true, _) => 0.0,
        (false, false) => 0.4,
        (false, true) => 0.6,
    };
    let switched_off = if good.iter().any(|file| file == validator::SCRIPT) { validator::SWITCHED_OFF } else { "" };
    let summary = format!(
        "{} deliverables, {} not delivered. {switched_off}{}",
        good.len(),
        undelivered.len(),
        crate::DISCLAIMER
    );
    job_complete(&summary, &good, &undelivered, confidence)
}

/// Passages and phases that refusals name as neither done nor named.
fn not_worked(refusals: &[&str]) -> Vec<Value> {
    let numbers = |pattern: &Regex| -> BTreeSet<i64> {
        let found = refusals.iter().flat_map(|refusal| pattern.captures_iter(refusal));
        found.filter_map(|found| found[1].parse().ok()).collect()
    };
    let passages = numbers(&PASSAGE);
    let passages = (!passages.is_empty())
        .then(|| json!({"passages": passages, "reason": "the rehearsal model did not get to work through them"}));
    let refused =
        refusals.iter().filter_map(|refusal| refusal.split_once("'undelivered': phase ")).map(|(_, rest)| rest);
    let phases: BTreeSet<i64> = refused
        .flat_map(|rest| PHASE.captures_iter(rest.split_once(". Write").map_or(rest, |(named, _)| named)))
        .filter_map(|found| found[1].parse().ok())
        .collect();
    let phases = phases.into_iter().map(|phase| json!({"phase": phase, "reason": "the plan was shorter in the end"}));
    passages.into_iter().chain(phases).collect()
}

fn report_text(view: &RequestView<'_>, files: &[String]) -> Result<String, Call> {
    let mut text = format!("# Summary report\n\n{}\n\n## Result\n\n", crate::DISCLAIMER);
    if files.iter().any(|file| file == table_file::PATH) {
        let call = read_lines(table_file::PATH, 1, HEAD_LINES);
        let head = view.result_of(&call).ok_or(call)?.result;
        let count = head.lines().find(|line| line.ends_with(" requirements."));
        let _ = writeln!(text, "{}\n", count.unwrap_or("The number of requirements is not known.").trim());
    } else if validator::is_job(view) {
        let _ = writeln!(text, "What became of each requirement stands in {}.\n", validator::REPORT);
    } else {
        text.push_str("The statements of the prompt are listed; no requirement was recorded.\n\n");
    }
    text.push_str("## Deliverables\n\n");
    for file in files.iter().filter(|file| *file != REPORT) {
        let _ = writeln!(text, "- {file}");
    }
    let undelivered = undelivered_documents(view);
    if !undelivered.is_empty() {
        let _ = writeln!(text, "\n## Not delivered\n\n- {}", undelivered.join("\n- "));
    }
    let method = if validator::is_job(view) { validator::METHOD } else { METHOD };
    let _ = write!(text, "\n## Method\n\n{method}\n");
    Ok(text)
}
