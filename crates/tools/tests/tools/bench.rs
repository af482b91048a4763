//! A workspace in memory, and helpers that run a call against it.

use plumbline_documents::Parser;
use plumbline_engine::{
    Check, Citation, FileIndex, FileMeta, OutsideCall, Passage, Product, RecordedRequirement, Source, ToolCall,
    ToolReturn, apply_requirement_changes, known_keys,
};
use plumbline_tools::{
    BatchError, BoxFuture, Inspection, KnownKeys, PassagePlace, ToolContext, ToolRunner, Workspace, WorkspaceError,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use uuid::Uuid;

/// Names bound in the tests: the crate's own and two of the engine's.
pub(crate) const BOUND: [&str; 18] = [
    "read_file",
    "write_file",
    "edit_file",
    "list_files",
    "search_files",
    "delete_file",
    "create_folder",
    "extract_document_text",
    "chunk_document",
    "cite",
    "add_requirement",
    "write_requirement_to_db",
    "record_passage",
    "list_requirements",
    "update_requirement",
    "withdraw_requirement",
    "todo_write",
    "todo_complete",
];

/// One job's rows.
#[derive(Default)]
pub(crate) struct Memory {
    files: BTreeMap<String, Vec<u8>>,
    index: FileIndex,
    sources: Vec<Source>,
    pub(crate) passages: Vec<Passage>,
    pub(crate) citations: Vec<Citation>,
    pub(crate) recorded: Vec<RecordedRequirement>,
    reads: AtomicUsize,
    pub(crate) broken: bool,
}

impl Memory {
    fn put(&mut self, path: &str, content: Vec<u8>) {
        self.index.insert(path.into(), FileMeta::of(&content));
        self.files.insert(path.into(), content);
    }

    fn commit(&mut self, product: Product) {
        match product {
            Product::DecidePassage(_) | Product::DeliverQuotes(_) => {}
            Product::WriteFile(file) => self.put(&file.path, file.content),
            Product::ShareFiles(_) => unreachable!("no tool shares files"),
            Product::AppendFile { path, text } => {
                let mut content = self.files.get(&path).cloned().unwrap_or_default();
                content.extend(text.into_bytes());
                self.put(&path, content);
            }
            Product::DeleteFile { path } => {
                self.index.remove(&path);
                self.files.remove(&path);
            }
            Product::AddSource(source) => {
                self.sources.retain(|known| known.path != source.path);
                self.sources.push(source);
            }
            Product::CutDocument(cut) => {
                self.passages.retain(|passage| passage.document != cut.document);
                self.passages.extend(cut.passages);
            }
            Product::AddCitation(citation) => self.citations.push(citation),
            product @ (Product::AddRequirement(_) | Product::ChangeRequirement(_)) => {
                apply_requirement_changes(&mut self.recorded, std::iter::once(&product));
            }
            Product::JudgeRequirement(_) => unreachable!("these tools judge no requirement"),
        }
    }
}

impl Workspace for Memory {
    fn index(&self) -> &FileIndex {
        &self.index
    }

    fn sources(&self) -> &[Source] {
        &self.sources
    }

    fn passages(&self) -> Vec<PassagePlace> {
        self.passages.iter().map(PassagePlace::from).collect()
    }

    fn requirements_at(&self, passage: i32, sentence: i32) -> Vec<String> {
        let begins = |known: &&RecordedRequirement| {
            let first = &known.requirement.citations[0];
            !known.is_withdrawn() && first["passage"] == passage && first["from"] == sentence
        };
        self.recorded.iter().filter(begins).map(|known| known.requirement.candidate_id.clone()).collect()
    }

    fn next_number(&self) -> i32 {
        self.recorded.iter().filter_map(|known| known.requirement.number).max().unwrap_or_default() + 1
    }

    fn read<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            match self.broken {
                true => Err(WorkspaceError("connection lost".into())),
                false => Ok(self.files.get(path).cloned()),
            }
        })
    }

    fn citations_with<'a>(&'a self, ids: &'a [String]) -> BoxFuture<'a, Result<Vec<Citation>, WorkspaceError>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let with = |id: &String| self.citations.iter().find(|citation| citation.id == *id).cloned();
        Box::pin(std::future::ready(Ok(ids.iter().filter_map(with).collect())))
    }

    fn requirements_known<'a>(&'a self, keys: &'a [Vec<u8>]) -> BoxFuture<'a, Result<KnownKeys, WorkspaceError>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(Ok(known_keys(&self.recorded, keys))))
    }

    fn recorded(&self) -> BoxFuture<'_, Result<Vec<RecordedRequirement>, WorkspaceError>> {
        Box::pin(async move { Ok(self.recorded.clone()) })
    }
}

/// A job's workspace with the runner.
pub(crate) struct Bench {
    pub(crate) rows: Memory,
    pub(crate) runner: ToolRunner,
    pub(crate) max_result_tokens: u32,
    pub(crate) job_id: Uuid,
    pub(crate) inspection: Option<Inspection>,
    pub(crate) call_timeout: Option<Duration>,
    pub(crate) no_sources: Vec<String>,
    pub(crate) is_tactical: bool,
    pub(crate) records_requirements: bool,
    /// Whether calls were refused before and are repeated.
    pub(crate) again: bool,
    /// Whether `job_complete` compares all requirements with their quotes.
    pub(crate) compares: bool,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let runner = ToolRunner::new(Parser::new(document_child()));
        Self {
            rows: Memory::default(),
            runner,
            max_result_tokens: 8000,
            job_id: Uuid::nil(),
            inspection: None,
            call_timeout: None,
            no_sources: Vec::new(),
            is_tactical: false,
            records_requirements: false,
            again: false,
            compares: false,
        }
    }

    /// A workspace with these text files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let mut bench = Self::new();
        for (path, content) in files {
            bench.rows.put(path, content.as_bytes().to_vec());
        }
        bench
    }

    /// Adds a document as intake leaves it: its bytes under `input/`, its row without a text.
    pub(crate) fn document(mut self, path: &str, content: &[u8]) -> Self {
        self.rows.put(path, content.to_vec());
        let size = i64::try_from(content.len()).unwrap();
        self.rows.sources.push(Source { path: path.into(), size, ..Source::default() });
        self
    }

    /// Adds a document whose page-marked text is already extracted.
    pub(crate) fn extracted(mut self, path: &str, text_path: &str, text: &str) -> Self {
        self = self.document(path, b"%PDF-1.4");
        self.rows.put(text_path, text.as_bytes().to_vec());
        let source = self.rows.sources.last_mut().unwrap();
        source.text_path = Some(text_path.into());
        self
    }

    /// As [`Self::extracted`], of a document with pages.
    pub(crate) fn paged(mut self, path: &str, text_path: &str, pages: i32, text: &str) -> Self {
        self = self.extracted(path, text_path, text);
        self.rows.sources.last_mut().unwrap().pages = Some(pages);
        self
    }

    /// Adds a file, as an earlier step would have.
    pub(crate) fn place(&mut self, path: &str, text: &str) {
        self.rows.put(path, text.as_bytes().to_vec());
    }

    /// Runs the calls as one turn, without committing anything.
    pub(crate) async fn turn(&self, calls: &[(&str, Value)]) -> Vec<ToolReturn> {
        let named = |(place, (name, arguments)): (usize, &(&str, Value))| ToolCall {
            id: format!("call_{place}"),
            name: (*name).into(),
            arguments: arguments.to_string(),
        };
        let calls: Vec<ToolCall> = calls.iter().enumerate().map(named).collect();
        self.run(&calls).await.unwrap()
    }

    pub(crate) async fn run(&self, calls: &[ToolCall]) -> Result<Vec<ToolReturn>, BatchError> {
        let tactical: Vec<&str> = BOUND.into_iter().filter(|name| *name != "todo_write").collect();
        let mut ctx = ToolContext::new(self.job_id, if self.is_tactical { &tactical } else { &BOUND });
        ctx.records_requirements = self.records_requirements;
        ctx.max_result_tokens = self.max_result_tokens;
        ctx.inspection = self.inspection.as_ref();
        ctx.no_sources = &self.no_sources;
        ctx.call_timeout = self.call_timeout.unwrap_or(ctx.call_timeout);
        // A tool that the engine runs itself is only checked here.
        let looked = Check::Deliverables { requirements: true, sentences: false, compares: self.compares };
        let check = |call: &ToolCall| (call.name == "job_complete").then_some(&looked);
        let calls: Vec<OutsideCall<'_>> =
            calls.iter().map(|call| OutsideCall { call, check: check(call), once: false, again: self.again }).collect();
        self.runner.run(&calls, &self.rows, &ctx).await
    }

    /// Runs one call and commits its products.
    pub(crate) async fn call(&mut self, name: &str, arguments: Value) -> ToolReturn {
        let done = self.turn(&[(name, arguments)]).await.remove(0);
        for product in done.products.clone() {
            self.rows.commit(product);
        }
        done
    }

    /// Commits a call's product.
    pub(crate) fn commit(&mut self, product: Product) {
        self.rows.commit(product);
    }

    /// The text of a call that succeeds.
    pub(crate) async fn ok(&mut self, name: &str, arguments: Value) -> String {
        let done = self.call(name, arguments.clone()).await;
        assert!(!done.is_error, "{name} {arguments}: {}", done.content);
        done.content
    }

    /// The text of a call that is refused, which never produces anything.
    pub(crate) async fn refused(&mut self, name: &str, arguments: Value) -> String {
        let done = self.call(name, arguments.clone()).await;
        assert!(done.is_error, "{name} {arguments}: {}", done.content);
        assert_eq!(done.products, []);
        done.content.strip_prefix("Error: ").expect("errors begin with `Error: `").to_string()
    }

    /// A file's text.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.rows.files.get(path).map(|content| std::str::from_utf8(content).unwrap())
    }

    pub(crate) fn sources(&self) -> &[Source] {
        &self.rows.sources
    }

    /// How often content was read from the rows.
    pub(crate) fn reads(&self) -> usize {
        self.rows.reads.load(Ordering::Relaxed)
    }

    pub(crate) fn paths(&self) -> Vec<&str> {
        self.rows.files.keys().map(String::as_str).collect()
    }
}

/// The crate's example that replaces `plumbline __extract`; cargo builds it beside the tests.
pub(crate) fn document_child() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).expect("tests run from target/<profile>/deps");
    profile.join("examples").join("document_child")
}
