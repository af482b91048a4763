//! `output/findings.md`: everything that was found, in one table, or the parts it stands in.

use std::fmt::Write as _;

use crate::call::{Call, read_lines, write_in_pieces};
use crate::request_view::RequestView;
use crate::requirement::candidates::{self, distinct};

/// The file's path.
pub(crate) const PATH: &str = "output/findings.md";

/// The calls that write the table of all requirements, and their number; or the call to be made first.
pub(crate) fn calls(view: &RequestView<'_>) -> Result<(usize, Vec<Call>), Call> {
    let (count, body) = requirements(view)?;
    let text = format!("# Findings\n\n{count} requirements.\n\n{}\n\n{body}", crate::DISCLAIMER);
    Ok((count, write_in_pieces(PATH, &text)))
}

fn requirements(view: &RequestView<'_>) -> Result<(usize, String), Call> {
    let parts: Vec<String> =
        paths(view, "output")?.into_iter().filter(|path| path.starts_with("output/requirements_part_")).collect();
    if !parts.is_empty() {
        return index(view, &parts);
    }
    let mut all = Vec::new();
    for path in paths(view, "candidates")? {
        all.extend(candidates::read(view, &path)?);
    }
    let all = distinct(all);
    let body = match all.is_empty() {
        true => "No sentence with a normative word was found in the documents.\n".to_owned(),
        false => candidates::table("R", &all),
    };
    Ok((all.len(), body))
}

/// The parts with their counts, which stand in the head of each.
fn index(view: &RequestView<'_>, parts: &[String]) -> Result<(usize, String), Call> {
    let mut total = 0;
    let mut body = "| part | requirements |\n|---|---|\n".to_owned();
    for path in parts {
        let call = read_lines(path, 1, 6);
        let head = view.result_of(&call).ok_or(call)?.result;
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
fn paths(view: &RequestView<'_>, folder: &str) -> Result<Vec<String>, Call> {
    let mut paths: Vec<String> = view.files(folder)?.into_iter().map(|(path, _)| path).collect();
    paths.sort_by_key(|path| (path.len(), path.clone()));
    Ok(paths)
}
