//! The system's deliverables, rendered from rows in the step that ends a job or parks it in review: its requirements
//! ([`plumbline_tools::deliverables`]) and the report of its documents ([`crate`]).

use crate::{
    Facts,
    decided::decided,
    headline::{self, Recorded},
};
use plumbline_engine::{
    Change, FileWrite, JobExit, Product, REPORT, RecordedRequirement, Run, SystemStatements, apply_requirement_changes,
};
use plumbline_tools::{
    Workspace, WorkspaceError,
    deliverables::{Rendered, Rows, SUMMARY_REPORT, render},
    is_source,
};

/// Files rendered from a job's rows and its final changes.
#[derive(Default)]
pub struct Rendering {
    products: Vec<Product>,
    /// Those of them that count as deliverables.
    listed: Vec<String>,
    /// The system's sentences about the job.
    told: Option<SystemStatements>,
}

impl Rendering {
    /// Renders the deliverables at this end. `rows`: those before this step; `no_sources`: patterns of documents that
    /// cannot be quoted.
    ///
    /// # Errors
    /// The rows could not be read.
    pub async fn of(
        run: &Run,
        changes: &[Change],
        rows: &dyn Workspace,
        no_sources: &[String],
    ) -> Result<Self, WorkspaceError> {
        let mut rendering = Self::default();
        if !changes.iter().any(|change| matches!(change, Change::Exited(_))) || !run.exit().is_some_and(JobExit::ends) {
            return Ok(rendering);
        }
        let mut recorded = Vec::new();
        if run.renders() || run.reports() {
            recorded = rows.recorded().await?;
            apply_requirement_changes(&mut recorded, products(changes));
        }
        if run.renders() {
            let report = after(SUMMARY_REPORT, rows.read(SUMMARY_REPORT).await?, changes);
            rendering.take(run, &recorded, report.and_then(|report| String::from_utf8(report).ok()));
        }
        rendering.tell(run, &recorded, no_sources);
        if run.reports() {
            let facts = Facts {
                job_id: run.job().id,
                prompt: &run.job().prompt,
                headline: rendering.headline(),
                passages: run.ledger().all().filter(|_| run.settings().coverage.is_some()).collect(),
                result: run.exit().and_then(JobExit::result),
                no_sources,
                recorded: &recorded,
                changes,
            };
            let content = crate::write(&facts, rows).await?;
            rendering.products.push(Product::WriteFile(FileWrite { path: REPORT.to_owned(), content }));
        }
        Ok(rendering)
    }

    fn take(&mut self, run: &Run, recorded: &[RecordedRequirement], report: Option<String>) {
        let (passages, records) = (run.ledger().all().collect::<Vec<_>>(), run.ledger().records_by_candidate());
        let (sources, files, report) = (run.workspace().sources(), run.workspace().files(), report.as_deref());
        let rows = Rows { recorded, sources, passages: &passages, records: &records, files, report };
        let Rendered { products, listed } = render(&rows);
        self.products.extend(products);
        self.listed.extend(listed);
    }

    fn tell(&mut self, run: &Run, recorded: &[RecordedRequirement], no_sources: &[String]) {
        let not_quoted = run.workspace().sources().iter().map(|source| source.path.as_str());
        let not_quoted = not_quoted.filter(|path| !is_source(path, no_sources));
        let not_quoted: Vec<&str> = not_quoted.map(|path| path.rsplit('/').next().unwrap_or(path)).collect();
        let (figures, recorded) = (run.figures(), Recorded::of(recorded));
        self.told = Some(SystemStatements {
            headline: headline::headline(&figures, &recorded, &not_quoted, run.exit().map_or(0, JobExit::delivered)),
            decided: decided(run.ledger().all().filter(|_| run.settings().coverage.is_some())),
            counts: headline::counts(&figures, &recorded),
        });
    }

    fn headline(&self) -> Option<&str> {
        self.told.as_ref()?.headline.as_deref()
    }

    /// Adds it to the job's final changes.
    pub fn add(self, run: &mut Run, changes: &mut Vec<Change>) {
        if let Some(told) = self.told {
            run.deliver(changes, self.products, &self.listed, told);
        }
    }
}

fn products(changes: &[Change]) -> impl Iterator<Item = &Product> {
    changes.iter().filter_map(Change::product)
}

/// A file's content after the changes.
fn after(path: &str, mut content: Option<Vec<u8>>, changes: &[Change]) -> Option<Vec<u8>> {
    for product in products(changes) {
        match product {
            Product::WriteFile(file) if file.path == path => content = Some(file.content.clone()),
            Product::DeleteFile { path: deleted } if deleted == path => content = None,
            Product::AppendFile { path: grown, text } if grown == path => {
                content.get_or_insert_default().extend_from_slice(text.as_bytes());
            }
            _ => {}
        }
    }
    content
}
