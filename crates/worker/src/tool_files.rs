//! The documentation of a job's tools, as the files `tools/<tool>.md`: nobody needs them before the model's first answer,
//! so the step that takes the job in leaves them out, and they are written while the model is asked.
//!
//! A worker that dies in between leaves a job without any of them. Its successor sees that at once, because no tool can
//! write or delete a file there, and writes them as if it had taken the job in itself.

use crate::{
    intake,
    patience::patiently,
    step::{Stepper, Trouble},
};
use plumbline_engine::{Change, Effect, FileFacts, FileIndex, FileWrite, Outcome, Product, ToolSpec};
use plumbline_store::fail_points::part;
use tracing::Instrument;

const FOLDER: &str = "tools/";

/// The file with which a job is taken in.
const FIRST: &str = "instructions.md";

/// Takes these files out of what a step is about to write.
pub(crate) fn take_out(changes: &mut Vec<Change>) -> Vec<Change> {
    changes.extract_if(.., |change| written(change).is_some_and(|file| file.path.starts_with(FOLDER))).collect()
}

/// What a job that was taken in still lacks of them. They are put into its index, where the engine knows them already.
pub(crate) fn lacking(index: &mut FileIndex, tools: &[ToolSpec]) -> Vec<Change> {
    let is_there = index.range(FOLDER.to_owned()..).next().is_some_and(|(path, _)| path.starts_with(FOLDER));
    if is_there || !index.contains_key(FIRST) {
        return Vec::new();
    }
    let files: Vec<FileWrite> = intake::tool_files(tools).collect();
    index.extend(files.iter().map(|file| (file.path.clone(), FileFacts::of(&file.content))));
    files.into_iter().map(|file| Change::Product(Product::WriteFile(file))).collect()
}

impl Stepper<'_> {
    /// Performs what is next, and writes the files: beside the call of the model, and before anything else.
    pub(crate) async fn perform_with_tool_files(&mut self) -> Result<Outcome, Trouble> {
        let files = std::mem::take(&mut self.tool_files);
        let span = self.span.span();
        if matches!(self.run.next(), Effect::CallModel(_)) {
            // The request is on its way before the files are: the model's future is polled first.
            let (outcome, ()) = tokio::try_join!(biased; self.perform().instrument(span), self.write(files))?;
            return Ok(outcome);
        }
        self.write(files).await?;
        self.perform().instrument(span).await
    }

    /// Writes the files now, if they wait to be written.
    pub(crate) async fn write_tool_files(&mut self) -> Result<(), Trouble> {
        let files = std::mem::take(&mut self.tool_files);
        if files.is_empty() { Ok(()) } else { self.write(files).await }
    }

    async fn write(&self, changes: Vec<Change>) -> Result<(), Trouble> {
        let files: Vec<&FileWrite> = changes.iter().filter_map(written).collect();
        patiently(|| self.context.store.put_tool_files(&self.lease, &files)).await?;
        self.mirror.feed(self.step, part(self.run.state()), changes);
        Ok(())
    }
}

fn written(change: &Change) -> Option<&FileWrite> {
    if let Change::Product(Product::WriteFile(file)) = change { Some(file) } else { None }
}

#[cfg(test)]
mod tests {
    use super::{lacking, take_out};
    use plumbline_engine::{Change, FileFacts, FileIndex, FileWrite, Product, ToolSpec};

    fn tools() -> Vec<ToolSpec> {
        plumbline_effects::tools::catalog()
    }

    fn write(path: &str) -> Change {
        Change::Product(Product::WriteFile(FileWrite::text(path, "text")))
    }

    fn index(paths: &[&str]) -> FileIndex {
        paths.iter().map(|path| ((*path).to_owned(), FileFacts::of(b"text"))).collect()
    }

    #[test]
    fn only_these_files_are_taken_out_of_a_step_and_the_rest_keeps_its_order() {
        let mut changes =
            ["instructions.md", "tools/cite.md", "input/tools/a.md", "tools/read_file.md"].map(write).to_vec();
        let taken = take_out(&mut changes);
        assert_eq!(taken, ["tools/cite.md", "tools/read_file.md"].map(write));
        assert_eq!(changes, ["instructions.md", "input/tools/a.md"].map(write));
    }

    #[test]
    fn a_job_that_was_taken_in_without_them_lacks_the_files_of_all_its_tools() {
        let mut files = index(&["instructions.md", "workspace.md"]);
        let lacks = lacking(&mut files, &tools());
        assert_eq!(lacks.len(), tools().len());
        for change in lacks {
            let Change::Product(Product::WriteFile(file)) = change else { panic!("{change:?}") };
            assert_eq!(files.get(&file.path), Some(&FileFacts::of(&file.content)), "{}", file.path);
        }
    }

    #[test]
    fn one_that_has_them_and_one_that_was_not_taken_in_lack_nothing() {
        for paths in [&["instructions.md", "tools/cite.md"][..], &[]] {
            let mut files = index(paths);
            assert_eq!(lacking(&mut files, &tools()), []);
            assert_eq!(files, index(paths));
        }
    }
}
