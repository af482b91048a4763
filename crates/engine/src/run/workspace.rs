//! The workspace of a run: the index of its files, the texts of its memory files, and the job's documents.

use crate::{
    FileIndex, FileMeta, Product, Source, WorkspaceMemory,
    ledger::Ledger,
    phase::{
        opening,
        plan::{self, PlannedPhase, read_plan},
    },
    vocabulary::path,
};
use serde_json::{Map, Value};
use std::sync::OnceLock;

/// The files and documents of a job.
#[derive(Debug)]
pub struct Workspace {
    files: FileIndex,
    memory: WorkspaceMemory,
    /// By path.
    sources: Vec<Source>,
    /// Number of phases of the plan; counted at the first use after a change of the file, because parsing a plan is
    /// slow, and each turn needs it.
    planned: OnceLock<i32>,
}

impl Workspace {
    pub(crate) fn new(files: FileIndex, memory: WorkspaceMemory, sources: Vec<Source>) -> Self {
        Self { files, memory, sources, planned: OnceLock::new() }
    }

    /// The index of its files.
    pub fn files(&self) -> &FileIndex {
        &self.files
    }

    pub(crate) fn memory(&self) -> &WorkspaceMemory {
        &self.memory
    }

    /// The job's documents.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Whether a file has content.
    pub(crate) fn has_content(&self, path: &str) -> bool {
        self.files.get(path).is_some_and(|facts| facts.size > 0 && !facts.placeholder)
    }

    /// The paths of the files below `output/`.
    pub(crate) fn results(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str).filter(|path| path.starts_with("output/"))
    }

    /// Whether a call names a document, its text, or a passage of it as its path.
    pub(crate) fn names_document(&self, arguments: &Map<String, Value>) -> bool {
        let path = arguments.get("path").and_then(Value::as_str).and_then(|path| path::normalize(path).ok());
        path.is_some_and(|path| {
            let is_text = |source: &Source| source.text_path.as_ref() == Some(&path);
            path.starts_with("input/") || path.starts_with("chunks/") || self.sources.iter().any(is_text)
        })
    }

    /// The files under `input/` without passages, except the job's context.
    pub(crate) fn unprepared(&self, ledger: &Ledger) -> impl Iterator<Item = &str> {
        let given = self.files.range("input/".to_string()..).map(|(path, _)| path.as_str());
        let given = given.take_while(|path| path.starts_with("input/"));
        given.filter(|path| *path != opening::CONTEXT && !ledger.knows(path))
    }

    /// The phases of the plan.
    pub(crate) fn plan(&self) -> Vec<PlannedPhase> {
        read_plan(&self.memory.main_plan)
    }

    /// How many there are, once there is a plan.
    pub(crate) fn planned(&self) -> Option<i32> {
        let planned = *self.planned.get_or_init(|| self.plan().len() as i32);
        (planned > 0).then_some(planned)
    }

    /// Applies a product as loading the rows would.
    pub(crate) fn apply(&mut self, product: &Product) {
        if product.path() == Some(plan::PATH) {
            self.planned = OnceLock::new();
        }
        match product {
            Product::WriteFile(file) => {
                self.files.insert(file.path.clone(), FileMeta::of(&file.content));
                if let Some(text) = self.memory.get_mut(&file.path) {
                    *text = String::from_utf8_lossy(&file.content).into_owned();
                }
            }
            Product::ShareFiles(shared) => {
                self.files.extend(shared.files.iter().map(|file| (file.path.clone(), file.facts)));
            }
            Product::AppendFile { path, text } => self.append(path, text),
            Product::DeleteFile { path } => {
                self.files.remove(path);
                if let Some(memory) = self.memory.get_mut(path) {
                    memory.clear();
                }
            }
            Product::AddSource(source) => {
                // In the order of loading, so that an uninterrupted run has the same list.
                match self.sources.binary_search_by(|known| known.path.cmp(&source.path)) {
                    Ok(at) => self.sources[at] = source.clone(),
                    Err(at) => self.sources.insert(at, source.clone()),
                }
            }
            Product::AddCitation(_)
            | Product::CutDocument(_)
            | Product::DecidePassage(_)
            | Product::DeliverQuotes(_)
            | Product::JudgeRequirement(_)
            | Product::AddRequirement(_)
            | Product::ChangeRequirement(_) => {}
        }
    }

    fn append(&mut self, path: &str, text: &str) {
        let facts = self.files.entry(path.to_owned()).or_insert(FileMeta { size: 0, placeholder: true });
        facts.size += text.len() as u64;
        facts.placeholder &= crate::is_placeholder(text.as_bytes());
        if let Some(memory) = self.memory.get_mut(path) {
            memory.push_str(text);
        }
    }
}
