//! The system's deliverables for recorded requirements: lists for machines and people, one page per requirement, and
//! the figures of the report. Generated only from rows, so that they are complete and consistent.
//!
//! | file | what |
//! |---|---|
//! | `output/requirements.json` | an array of objects, the columns of the findings |
//! | `output/requirements.csv` | the same, one line each (`csv`) |
//! | `output/requirements.md` | by document and section (`markdown`) |
//! | `requirements/<id>.md` | one page each |
//! | `candidates/candidates.md` | every candidate sentence with its outcome (`candidates`) |
//! | `output/summary_report.md` | the model's judgement; its figures are filled in (`figures`) |

mod candidates;
mod csv;
mod figures;
mod markdown;

use plumbline_engine::{
    CANDIDATE_LIST, FileIndex, FileWrite, Passage, Product, REQUIREMENT_LISTS, RecordedRequirement, Requirement, Source,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The report in which the system fills in the figures, if the model has written one.
pub const SUMMARY_REPORT: &str = "output/summary_report.md";
/// The folder of the pages.
const FOLDER: &str = "requirements/";

/// The rows to render.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// The job's recorded requirements, including withdrawn ones, in order.
    pub recorded: &'a [RecordedRequirement],
    /// The job's documents.
    pub sources: &'a [Source],
    /// The passages of the documents.
    pub passages: &'a [&'a Passage],
    /// By passage and sentence, the numbers of the requirements whose quotes touch this candidate.
    pub records: &'a BTreeMap<(i32, i32), Vec<i32>>,
    /// The workspace's files.
    pub files: &'a FileIndex,
    /// The model's [`SUMMARY_REPORT`].
    pub report: Option<&'a str>,
}

/// The rendered files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rendered {
    /// Files to write, and pages of withdrawn requirements to delete.
    pub products: Vec<Product>,
    /// The paths that count as deliverables.
    pub listed: Vec<String>,
}

/// Renders the rows. If no requirement was ever recorded, only the candidates and the figures of the report: a job
/// without requirements delivers no empty lists.
pub fn render(rows: &Rows<'_>) -> Rendered {
    let standing = in_order(rows);
    let mut rendered = Rendered::default();
    let mut write =
        |path: String, text: String| rendered.products.push(Product::WriteFile(FileWrite::text(path, text)));
    if let Some(report) = rows.report {
        write(SUMMARY_REPORT.into(), figures::filled_in(report, rows, &standing));
    }
    if let Some(list) = candidates::list(rows) {
        write(CANDIDATE_LIST.into(), list);
    }
    if rows.recorded.is_empty() {
        return rendered;
    }
    let [json_path, csv_path, markdown_path] = REQUIREMENT_LISTS;
    write(json_path.into(), list(&standing));
    write(csv_path.into(), csv::table(&standing));
    write(markdown_path.into(), markdown::list(&standing));
    for requirement in &standing {
        write(page_of(requirement), markdown::page(requirement));
    }
    for path in rows.files.range(FOLDER.to_owned()..).map(|(path, _)| path).take_while(|path| path.starts_with(FOLDER))
    {
        let is_ours = path.starts_with("requirements/req_");
        if is_ours && !standing.iter().any(|requirement| page_of(requirement) == *path) {
            rendered.products.push(Product::DeleteFile { path: path.clone() });
        }
    }
    rendered.listed.extend(REQUIREMENT_LISTS.map(str::to_owned));
    // One entry for all of its pages.
    if !standing.is_empty() {
        rendered.listed.push(FOLDER.to_owned());
    }
    rendered
}

/// The requirements that are not withdrawn, by document and page; within a page in the order of recording.
fn in_order<'a>(rows: &Rows<'a>) -> Vec<&'a Requirement> {
    let standing = rows.recorded.iter().filter(|known| !known.is_withdrawn());
    let mut standing: Vec<&Requirement> = standing.map(|known| &known.requirement).collect();
    standing.sort_by_key(|requirement| (requirement.source_document.as_deref().unwrap_or_default(), page(requirement)));
    standing
}

fn page_of(requirement: &Requirement) -> String {
    format!("{FOLDER}{}.md", requirement.candidate_id)
}

fn page(requirement: &Requirement) -> u64 {
    requirement.source_location["page"].as_u64().unwrap_or(0)
}

/// A part of the location, given as a text or a number.
fn place(requirement: &Requirement, part: &str) -> Option<String> {
    match &requirement.source_location[part] {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// `[{source, page, page_to, quote}]` of a requirement.
fn citations(requirement: &Requirement) -> &[Value] {
    requirement.citations.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn list(standing: &[&Requirement]) -> String {
    let objects: Vec<Value> = standing.iter().map(|requirement| object(requirement)).collect();
    let mut text = serde_json::to_string_pretty(&objects).unwrap_or_default();
    text.push('\n');
    text
}

/// The columns of the findings, with the id that people know.
fn object(requirement: &Requirement) -> Value {
    let mut object = json!(requirement);
    let columns = object.as_object_mut().expect("a struct is an object");
    columns.retain(|column, _| !["number", "content_key"].contains(&column.as_str()));
    let id = columns.remove("candidate_id").unwrap_or_default();
    columns.insert("id".to_owned(), id);
    object
}

#[cfg(test)]
mod tests;
