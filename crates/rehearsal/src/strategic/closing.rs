//! The end of a job: report, hand over.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

use plumbline_bounds::pattern;
use regex::Regex;
use serde_json::{Value, json};

use crate::call::{Call, Turn, job_complete, todo_complete, turn, write_file};
use crate::plan::Plan;
use crate::plan::schedule::{self, LATE};
use crate::request_view::RequestView;
use crate::request_view::opening::Document;
use crate::tactical::decisions::RULE;
use crate::tactical::owed::UNFILLED;
use crate::validator;

/// A passage that a refusal names, and a phase.
static PASSAGE: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"(?m)^- passage (\d+) "));
static PHASE: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"(?:^|, )(\d+)(?: \('|,|$)"));

const OUTPUT: &str = "output";

/// The report.
pub(crate) const REPORT: &str = "output/summary_report.md";

/// The list of requirements, which the system writes where the instructions say so.
const LIST: &str = "output/requirements.md";

const METHOD: &str = "Every passage of every readable document was searched for sentences with a normative word (must, \
     shall, should, may not, required, is to be; muss, müssen, soll, darf nicht, ist zu, hat zu) and for entries of lists \
     under a lead with one. Each was recorded by its number; its type follows from key words. Nothing was understood or \
     weighed: some sentences that have such a word bind nobody. What has none was decided by its number, with the reason";

/// Final todo 2: the report, unless there is nothing to report or a phase is still open: the engine counts phases, so a
/// repeated phase makes it assume the end too early.
pub(super) fn report(view: &RequestView<'_>) -> Turn {
    let text = Plan::current(view).and_then(|plan| {
        let files = outputs(view)?;
        match files.is_empty() || plan.next().is_some() {
            true => Ok(None),
            false => Ok(Some(report_text(view, &files))),
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

/// Completes the job when the plan is complete, at the end of a final or any other strategic phase. A missing report is
/// written first; without work nothing is invented.
pub(super) fn finish(view: &RequestView<'_>) -> Turn {
    let mut files = match outputs(view) {
        Err(call) => return turn("Looking at the deliverables.", vec![call]),
        Ok(files) => files,
    };
    let mut calls = Vec::new();
    let unreadable = view.unreadable();
    let is_readable = |document: &Document| unreadable.iter().all(|(path, _)| *path != document.path);
    let has_text = view.documents().iter().any(is_readable);
    if (has_text || !files.is_empty()) && files.iter().all(|file| file != REPORT) {
        calls.push(write_file(REPORT, &report_text(view, &files)));
        files.push(REPORT.to_owned());
    }
    if view.system().contains(LIST) && has_text {
        files.push(LIST.to_owned());
    }
    calls.push(hand_over(view, files));
    turn("The plan is fulfilled: completing the job.", calls)
}

/// The files in output/ that this model writes and that hold anything, or the call that lists them.
fn outputs(view: &RequestView<'_>) -> Result<Vec<String>, Call> {
    let files = view.files(OUTPUT)?;
    let owed = view.owed();
    let is_ours = |path: &str| is_own(path) || owed.iter().any(|owed| owed.path == path);
    Ok(files.into_iter().filter(|(path, size)| *size > 0 && is_ours(path)).map(|(path, _)| path).collect())
}

/// Whether a path is one of this model's deliverables; other files in the folder are not promised.
fn is_own(path: &str) -> bool {
    let name = path.strip_prefix("output/").unwrap_or_default();
    matches!(name, "summary_report.md" | "answer.md" | "validation_report.md" | "insert.cypher")
        || name.starts_with("insert_part_")
        || name.starts_with("feedback_")
}

/// The undelivered items: the requirements of every document that could not be read or arrived too late.
fn undelivered_documents(view: &RequestView<'_>) -> Vec<String> {
    let plan = Plan::current(view).unwrap_or_default();
    let late = schedule::late(&plan, &view.documents()).into_iter().map(|path| (path, LATE.to_owned()));
    let all = view.unreadable().into_iter().chain(late);
    all.map(|(path, reason)| format!("requirements of {path}: {reason}")).collect()
}

/// Omits items named by an earlier refusal, and says so.
fn hand_over(view: &RequestView<'_>, files: Vec<String>) -> Call {
    let mut undelivered: Vec<Value> = undelivered_documents(view).into_iter().map(Value::from).collect();
    let refusals: Vec<&str> = view
        .work()
        .iter()
        .filter(|done| done.name == "job_complete" && done.failed())
        .map(|done| done.result)
        .collect();
    let named = |refusal: &str, file: &str| {
        let said = [format!("{file} does not exist"), format!("{file} has no"), format!("writes no {file}")];
        said.iter().any(|said| refusal.contains(said))
    };
    let (bad, good): (Vec<String>, Vec<String>) =
        files.into_iter().partition(|file| refusals.iter().any(|refusal| named(refusal, file)));
    undelivered.extend(bad.into_iter().map(|file| Value::from(format!("{file}: refused as incomplete"))));
    let missing = view.owed().into_iter().filter(|owed| owed.required && !good.contains(&owed.path));
    undelivered.extend(missing.map(|owed| json!({"item": owed.path, "reason": UNFILLED})));
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

/// The report of a job, whatever it works on.
pub(crate) fn report_text(view: &RequestView<'_>, files: &[String]) -> String {
    let mut text = format!("# Summary report\n\n{}\n\n## Result\n\n", crate::DISCLAIMER);
    if validator::is_job(view) {
        let _ = writeln!(text, "What became of each requirement stands in {}.\n", validator::REPORT);
    } else if view.documents().is_empty() {
        text.push_str("The statements of the prompt are listed; no requirement was recorded.\n\n");
    } else {
        text.push_str("[figures]\n\n");
    }
    let named: Vec<&str> = files.iter().map(String::as_str).filter(|file| *file != REPORT).collect();
    if !named.is_empty() {
        let _ = writeln!(text, "## Deliverables\n\n- {}\n", named.join("\n- "));
    }
    let undelivered = undelivered_documents(view);
    if !undelivered.is_empty() {
        let _ = writeln!(text, "## Not delivered\n\n- {}\n", undelivered.join("\n- "));
    }
    match validator::is_job(view) {
        true => text.push_str(&format!("## Method\n\n{}\n", validator::METHOD)),
        false => text.push_str(&format!("## Method\n\n{METHOD} \"{RULE}\".\n")),
    }
    text
}
