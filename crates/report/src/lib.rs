//! `output/report.html`: the text of a job's documents page by page, each verified quote marked in it, the requirement
//! beside it, and the state of each passage. One file that loads nothing from elsewhere and runs no code; the templates
//! escape everything that comes from documents and models.
//!
//! The worker writes it in the step that ends a job with documents or parks it in review; the dashboard and `plumbline
//! report` generate it from the current rows. A long text is read and written in parts, never on the event loop, and at
//! most [`MOST_TEXT`] bytes of texts are shown: the file names the omitted pages.

mod cards;
mod decided;
mod document;
mod headings;
mod headline;
mod html;
mod marks;
mod page;
mod passages;
mod rendering;
mod rests_on;
mod stored;
mod templates;
mod writer;

pub use rendering::Rendering;
pub use stored::of_stored;
pub use templates::environment;

use marks::Marks;
use plumbline_engine::{Change, Citation, Passage, Product, RecordedRequirement, Requirement};
use plumbline_tools::{Workspace, WorkspaceError, part_path};
use serde_json::Value;
use uuid::Uuid;
use writer::Writer;

/// Maximum bytes of texts shown, over all documents: some 3,000 pages, which a browser opens in seconds.
const MOST_TEXT: u64 = 8 << 20;

/// The input of a report, besides files.
pub(crate) struct Facts<'a> {
    pub(crate) job_id: Uuid,
    pub(crate) prompt: &'a str,
    /// The system's headline, once the job has ended.
    pub(crate) headline: Option<&'a str>,
    /// By their numbers; none with `coverage: off`, where the report does not speak of coverage.
    pub(crate) passages: Vec<&'a Passage>,
    /// The job's result, once it has one.
    pub(crate) result: Option<&'a Value>,
    /// Patterns of documents that nothing is quoted from.
    pub(crate) no_sources: &'a [String],
    pub(crate) recorded: &'a [RecordedRequirement],
    /// The changes of the current step, which are not yet in the rows.
    pub(crate) changes: &'a [Change],
}

impl Facts<'_> {
    fn standing(&self) -> impl Iterator<Item = &Requirement> {
        self.recorded.iter().filter(|known| !known.is_withdrawn()).map(|known| &known.requirement)
    }

    fn products(&self) -> impl Iterator<Item = &Product> {
        self.changes.iter().filter_map(Change::product)
    }
}

/// Generates the report. `rows`: the job's files, documents and citations.
///
/// # Errors
/// The rows could not be read.
pub(crate) async fn write(facts: &Facts<'_>, rows: &dyn Workspace) -> Result<Vec<u8>, WorkspaceError> {
    let mut citations = rows.citations().await?;
    citations.extend(facts.products().filter_map(|product| match product {
        Product::AddCitation(citation) => Some(Citation::clone(citation)),
        _ => None,
    }));
    let mut writer = Writer::new(facts, rows.sources(), Marks::of(citations, &facts.passages));
    let mut room = MOST_TEXT;
    for source in rows.sources() {
        writer = run_blocking(writer, Writer::begin_document).await;
        let Some(text_path) = &source.text_path else { continue };
        let mut next = text(facts, rows, text_path).await?;
        for number in 2.. {
            let Some(part) = next.take() else { break };
            let Some(left) = room.checked_sub(part.len() as u64) else {
                writer.leave_out();
                break;
            };
            room = left;
            next = text(facts, rows, &part_path(text_path, number)).await?;
            let (written, behind) =
                run_blocking((writer, next), move |(writer, next): &mut (Writer, Option<String>)| {
                    writer.write_part(&part, next.as_deref().unwrap_or_default());
                })
                .await;
            (writer, next) = (written, behind);
        }
    }
    Ok(run_blocking((writer, String::new()), |(writer, done)| *done = writer.finish()).await.1.into_bytes())
}

/// Runs slow work on a separate thread.
async fn run_blocking<T: Send + 'static>(mut state: T, work: impl FnOnce(&mut T) + Send + 'static) -> T {
    plumbline_bounds::run_blocking(move |_| {
        work(&mut state);
        state
    })
    .await
}

/// A part of a text as of the current step; none if there is none.
async fn text(facts: &Facts<'_>, rows: &dyn Workspace, path: &str) -> Result<Option<String>, WorkspaceError> {
    let written = facts.products().filter(|product| product.path() == Some(path)).last();
    let bytes = match written {
        Some(Product::WriteFile(file)) => Some(file.content.clone()),
        Some(Product::DeleteFile { .. }) => None,
        _ if rows.index().contains_key(path) => rows.read(path).await?,
        _ => None,
    };
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
mod tests;
