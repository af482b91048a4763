//! The last phase of a job with documents: one overview of everything found, and of everything looked at.

use std::fmt::Write as _;

use crate::call::{Call, Turn, list_files, read_lines, todo_complete, turn, write_file, write_in_pieces};
use crate::candidates::{self, distinct};
use crate::opening::Document;
use crate::plan::Plan;
use crate::schedule::{self, LATE};
use crate::situation::Situation;

const REQUIREMENTS: &str = "output/requirements.md";

/// Lists both folders.
pub(super) fn check_parts(situation: &Situation<'_>) -> Turn {
    match (situation.files("candidates"), situation.files("output")) {
        (Ok(candidates), Ok(output)) => {
            let notes = format!("{} files in candidates/, {} in output/", candidates.len(), output.len());
            turn(notes.clone(), vec![todo_complete(&notes)])
        }
        _ => turn("Listing candidates/ and output/.", vec![list_files("candidates"), list_files("output")]),
    }
}

/// A short job's requirements stand in one table; a longer job's in the parts, and this file leads to them.
pub(super) fn write_requirements(situation: &Situation<'_>) -> Turn {
    match requirements_file(situation) {
        Err(call) => turn("Reading the findings.", vec![call]),
        Ok((count, calls)) => {
            let close = todo_complete(&format!("{REQUIREMENTS}: {count} requirements"));
            turn(format!("Writing {REQUIREMENTS}."), calls.into_iter().chain([close]).collect())
        }
    }
}

/// The calls that write the table of all requirements, and their number; or the call to be made first.
pub(crate) fn requirements_file(situation: &Situation<'_>) -> Result<(usize, Vec<Call>), Call> {
    let (count, body) = requirements(situation)?;
    let text = format!("# Requirements\n\n{count} requirements.\n\n{}\n\n{body}", crate::DISCLAIMER);
    Ok((count, write_in_pieces(REQUIREMENTS, &text)))
}

fn requirements(situation: &Situation<'_>) -> Result<(usize, String), Call> {
    let parts: Vec<String> =
        paths(situation, "output")?.into_iter().filter(|path| path.starts_with("output/requirements_part_")).collect();
    if !parts.is_empty() {
        return index(situation, &parts);
    }
    let mut all = Vec::new();
    for path in paths(situation, "candidates")? {
        all.extend(candidates::read(situation, &path)?);
    }
    let all = distinct(all);
    let body = match all.is_empty() {
        true => "No sentence with a normative word was found in the documents.\n".to_owned(),
        false => candidates::table("R", &all),
    };
    Ok((all.len(), body))
}

/// The parts with their counts, which stand in the head of each.
fn index(situation: &Situation<'_>, parts: &[String]) -> Result<(usize, String), Call> {
    let mut total = 0;
    let mut body = "| part | requirements |\n|---|---|\n".to_owned();
    for path in parts {
        let call = read_lines(path, 1, 6);
        let head = situation.result_of(&call).ok_or(call)?.result;
        let count: usize = head
            .lines()
            .find_map(|line| line.strip_suffix(" requirements."))
            .and_then(|count| count.trim().parse().ok())
            .unwrap_or_default();
        total += count;
        let _ = writeln!(body, "| {path} | {count} |");
    }
    body.push_str("\nA sentence that stands in two parts is listed in both and recorded once.\n");
    Ok((total, body))
}

/// Paths of a folder in the order of the numbers in their names, so that part 10 follows part 9.
fn paths(situation: &Situation<'_>, folder: &str) -> Result<Vec<String>, Call> {
    let mut paths: Vec<String> = situation.files(folder)?.into_iter().map(|(path, _)| path).collect();
    paths.sort_by_key(|path| (path.len(), path.clone()));
    Ok(paths)
}

/// Says what was looked at, and what could not be.
pub(super) fn coverage(situation: &Situation<'_>) -> Turn {
    let looked = situation.files("chunks").and_then(|files| Ok((files, Plan::current(situation)?)));
    let (files, plan) = match looked {
        Err(call) => return turn("Looking at the chunks and the plan.", vec![call]),
        Ok(looked) => looked,
    };
    let chunks = files.iter().filter(|(path, _)| path.starts_with("chunks/chunk_")).count();
    let documents = situation.documents();
    let late = schedule::late(&plan, &documents).into_iter().map(|path| (path, LATE.to_owned()));
    let missed: Vec<(String, String)> = situation.unreadable().into_iter().chain(late).collect();
    let read: Vec<&Document> =
        documents.iter().filter(|document| missed.iter().all(|(path, _)| *path != document.path)).collect();
    let mut text =
        format!("# Coverage\n\n{}\n\n{chunks} chunks were processed, of these documents:\n\n", crate::DISCLAIMER);
    for document in &read {
        let _ = writeln!(text, "{}", document.line());
    }
    text.push_str("\nNot processed:\n\n");
    for (path, reason) in &missed {
        let _ = writeln!(text, "- {path}: {reason}");
    }
    if missed.is_empty() {
        text.push_str("Nothing; every document could be read. Text in images is not seen by this model.\n");
    }
    let notes = format!("{} documents processed, {} not", read.len(), missed.len());
    turn("Writing what was covered.", vec![write_file("output/coverage.md", &text), todo_complete(&notes)])
}
