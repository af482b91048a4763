//! `plumbline coverage`: how much of its documents a job has processed, and which passages are left.

use crate::{
    access::if_allowed,
    arguments::CoverageArguments,
    error::Failure,
    job_ref::JobRef,
    output::{self, align_right},
};
use plumbline_store::{CoverageLine, PassageLine};
use serde_json::json;

/// The states of a passage.
const STATES: [&str; 3] = ["unread", "read", "answered"];

pub(crate) async fn run(arguments: CoverageArguments) -> Result<u8, Failure> {
    let wrong = arguments.state.iter().find(|state| !STATES.contains(&state.as_str()));
    if let Some(wrong) = wrong {
        return Err(Failure::usage(format!(
            "`{wrong}` is not a passage state; use one or more of {}",
            STATES.join(",")
        )));
    }
    let (store, job) = arguments.job.open().await?;
    let coverage = store.coverage(job).await?;
    if coverage.is_empty() {
        JobRef::must_exist(&store, job).await?;
    }
    let passages = match arguments.state.is_empty() {
        true => Vec::new(),
        false => store.passages_in(job, &arguments.state).await?,
    };
    if arguments.json {
        output::print(&json!({"coverage": coverage, "passages": passages}).to_string())?;
        return Ok(0);
    }
    if coverage.is_empty() {
        output::print(&format!("job {job} has no documents, or none that this login may read"))?;
        return Ok(0);
    }
    output::print(&documents(&coverage).to_string())?;
    let settings = if_allowed(store.settings(job).await)?.map(|settings| settings.resolved).unwrap_or_default();
    if settings.pointer("/config/coverage").is_some_and(|asked| asked == "off") {
        output::print(
            "\nThe job's type does not ask for coverage (`coverage: off`): open passages do not keep it from \
             completing.",
        )?;
    }
    if !passages.is_empty() {
        output::print(&format!("\n{}", listed(&passages)))?;
    }
    Ok(0)
}

fn documents(lines: &[CoverageLine]) -> comfy_table::Table {
    let header = ["document", "passages", "unread", "read", "answered", "candidates", "cited", "requirements", "share"];
    let mut table = output::table(&header);
    for line in lines {
        let counts = [
            line.passages,
            line.unread,
            line.read,
            line.answered,
            line.candidates,
            line.candidates_cited,
            line.requirements,
        ];
        let document = line.document.as_deref().unwrap_or("all").to_owned();
        let counts = counts.iter().map(i64::to_string);
        table.add_row(std::iter::once(document).chain(counts).chain([format!("{:.1} %", line.share * 100.0)]));
    }
    (1..header.len()).for_each(|column| align_right(&mut table, column));
    table
}

fn listed(passages: &[PassageLine]) -> comfy_table::Table {
    let mut table = output::table(&["passage", "document", "pages", "state", "not cited", "reason"]);
    for passage in passages {
        let pages = match (passage.first_page, passage.last_page) {
            (Some(first), Some(last)) if first == last => first.to_string(),
            (Some(first), Some(last)) => format!("{first}-{last}"),
            _ => String::new(),
        };
        let open = passage.candidates - passage.candidates_cited;
        let state = match &passage.answered_by {
            Some(by) => format!("{} ({by})", passage.state),
            None if !passage.judged => format!("{} (not judged)", passage.state),
            None => passage.state.clone(),
        };
        table.add_row([
            passage.passage.to_string(),
            passage.document.clone(),
            pages,
            state,
            format!("{open} of {}", passage.candidates),
            passage.reason.clone().unwrap_or_default(),
        ]);
    }
    table
}
