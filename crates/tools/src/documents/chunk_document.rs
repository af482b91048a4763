//! `chunk_document`: splits a text along its headings and paragraphs into chunks that are processed one by one.

use crate::documents::document_names::{not_extracted, resolve};
use crate::documents::text_parts::parts_of;
use crate::documents::unread_pages;
use crate::error::{Output, ToolError, ToolResult};
use crate::tool::{Declared, ToolEnv};
use crate::workspace::path::{self, MANIFEST};
use crate::workspace::read_file::text_of;
use plumbline_bounds::Cancellation;
use plumbline_documents::candidates::Scan;
use plumbline_documents::chunking::{Chunk, ChunkOptions, Manifest, Standing, chunk_part, render_chunk};
use plumbline_documents::from_text_file;
use plumbline_documents::passages::{Before, Facts};
use plumbline_engine::{CutDocument, FileWrite, Passage, Phases, Product};
use schemars::JsonSchema;
use serde::Deserialize;

/// Cuts a document, after `extract_document_text`, into files `chunks/chunk_001.md`, `chunks/chunk_002.md` and so on. The
/// first line of each says where it comes from, `<!-- source: input/policy.pdf | pages: 3-4 | section: 2.1 Records -->`;
/// in documents with pages, lines `[page N]` say where a page begins. `chunks/manifest.json` lists all chunks with source,
/// pages, headings and tokens. Cutting a document again replaces its chunks; another document's are added after them.
///
/// {arguments}
///
/// Example: `{"file_path": "input/policy.pdf", "max_tokens": 1200}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChunkDocument {
    /// # The document, e.g. input/policy.pdf
    /// the document, e.g. `input/policy.pdf`, or any text file of the workspace
    file_path: String,
    /// # Most tokens of a chunk (default 1200)
    /// most tokens of a chunk, 100 to 4000 (default 1200)
    #[schemars(range(min = 100, max = 4000))]
    max_tokens: Option<u32>,
    /// # Tokens repeated between chunks (default 0)
    /// tokens repeated from one chunk to the next (default 0)
    #[schemars(range(min = 0, max = 2000))]
    overlap: Option<u32>,
}

impl Declared for ChunkDocument {
    const NAME: &str = "chunk_document";
    const PHASES: Phases = Phases::Tactical;
    const DESCRIPTION: &str = "\
        Cut an extracted document into chunks along headings and paragraphs: chunks/chunk_NNN.md and \
        chunks/manifest.json.";

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { file_path, max_tokens, overlap } = self;
        let defaults = ChunkOptions::default();
        let options = ChunkOptions {
            max_tokens: max_tokens.unwrap_or(defaults.max_tokens),
            overlap: overlap.unwrap_or(defaults.overlap),
        };
        if options.overlap > options.max_tokens / 2 {
            return Err(ToolError::refused(format!(
                "`overlap` is {}, more than half of `max_tokens` ({}); choose a smaller one",
                options.overlap, options.max_tokens
            )));
        }
        let (name, parts) = texts_to_cut(env, &file_path).await?;
        let mut manifest = manifest(env).await?;
        let Cut { chunks, contents, mut facts } = Cut::of(env, &name, &parts, options).await?;
        if chunks.is_empty() {
            return Err(ToolError::refused(format!("{name} has no text to cut")));
        }
        let taken = env
            .overlay
            .passages()
            .iter()
            .filter_map(|passage| Some((u32::try_from(passage.number).ok()?, passage.document.as_str())));
        let (files, dropped) = manifest.merge(&name, &chunks, taken);
        let content = describe(&name, &files, &chunks);
        let written = files.iter().cloned().zip(contents).map(|(path, content)| FileWrite { path, content });
        let mut products: Vec<Product> = written.map(Product::WriteFile).collect();
        products.extend(
            dropped
                .into_iter()
                .filter(|file| env.overlay.size(file).is_some())
                .map(|path| Product::DeleteFile { path }),
        );
        products.push(Product::WriteFile(FileWrite::text(MANIFEST, render(&manifest))));
        if let Some(source) = env.overlay.sources().iter().find(|source| source.path == name) {
            if !env.ctx.is_source(&name) {
                facts.iter_mut().for_each(Facts::without_candidates);
            }
            let passages = passages(&name, &files, &chunks, facts);
            let passages = unread_pages::placed(passages, source, env.overlay.passages());
            products.push(Product::CutDocument(Box::new(CutDocument { document: name, passages })));
        }
        Ok(Output::of(content, products))
    }
}

/// The chunks of a text without their texts, the contents of their files, and their facts for the ledger.
#[derive(Default)]
struct Cut {
    chunks: Vec<Chunk>,
    contents: Vec<Vec<u8>>,
    facts: Vec<Facts>,
}

impl Cut {
    /// Cuts the parts of a text one after the other.
    async fn of(env: &ToolEnv<'_>, name: &str, parts: &[String], options: ChunkOptions) -> Result<Self, ToolError> {
        let (mut all, mut under, mut before) = (Self::default(), Standing::default(), None);
        for path in parts {
            let text = text_of(env, path).await?;
            let (source, scan) = (name.to_owned(), env.ctx.scan.clone());
            let (cut, read, after, last) = crate::run_scan(env.ctx.scan, move |cancellation| {
                let file = from_text_file(&text);
                // Limits how many copies of a large document are in memory.
                drop(text);
                let cut = chunk_part(&source, &file.pages, file.paged, options, &mut under);
                let facts = facts_of(before.as_deref(), &cut, &scan, cancellation);
                let last = cut.last().map(|chunk| chunk.text.clone()).or(before);
                (cut, facts, under, last)
            })
            .await;
            (under, before) = (after, last);
            all.facts.extend(read);
            for chunk in cut {
                let (chunk, content) = rendered(name, chunk);
                all.chunks.push(chunk);
                all.contents.push(content);
            }
        }
        Ok(all)
    }
}

/// The facts of each chunk for the ledger, read in the context of the previous one; `before` is the text of the last
/// chunk of the previous part. Incomplete if nothing waits for them any more.
fn facts_of(before: Option<&str>, chunks: &[Chunk], scan: &Scan, cancellation: &Cancellation) -> Vec<Facts> {
    let mut facts: Vec<Facts> = Vec::with_capacity(chunks.len());
    let first = before.map(|text| Before { text, facts: None });
    for (at, chunk) in chunks.iter().enumerate().take_while(|_| !cancellation.is_cancelled()) {
        let before = at.checked_sub(1).map(|at| Before { text: &chunks[at].text, facts: facts.last() });
        let read = Facts::of(before.or(first), &chunk.text, scan);
        facts.push(read);
    }
    facts
}

/// The document's passages in the ledger.
fn passages(document: &str, files: &[String], chunks: &[Chunk], mut facts: Vec<Facts>) -> Vec<Passage> {
    for at in (1..facts.len()).rev().filter(|at| chunks[*at].repeats) {
        let (before, rest) = facts.split_at_mut(at);
        rest[0].without_those_of(&before[at - 1]);
    }
    let ordinal = 1..;
    ordinal
        .zip(files.iter().zip(chunks).zip(facts))
        .filter_map(|(ordinal, ((file, chunk), facts))| facts.into_passage(document, ordinal, file, chunk))
        .collect()
}

/// A chunk without its text, which is in the content of its file.
fn rendered(source: &str, mut chunk: Chunk) -> (Chunk, Vec<u8>) {
    let content = render_chunk(source, &chunk).into_bytes();
    chunk.text = String::new();
    (chunk, content)
}

/// The text to cut and its name: the parts of a document's extracted text under the document's name, or a text file
/// itself.
async fn texts_to_cut(env: &ToolEnv<'_>, raw: &str) -> Result<(String, Vec<String>), ToolError> {
    let path = path::file(raw)?;
    match resolve(env.overlay, &path).await {
        Ok(source) => {
            let text_path = source.text_path.as_deref().ok_or_else(|| not_extracted(source))?;
            match parts_of(env.overlay, text_path) {
                parts if parts.is_empty() => Err(not_extracted(source)),
                parts => Ok((source.path.clone(), parts)),
            }
        }
        Err(ToolError::Refused(_)) if path.starts_with("input/") && env.overlay.size(&path).is_some() => {
            Err(ToolError::refused(format!(
                "{path} has no text yet; call extract_document_text with file_path {path} first"
            )))
        }
        Err(ToolError::Refused(_)) if env.overlay.size(&path).is_some() => Ok((path.clone(), vec![path])),
        Err(error) => Err(error),
    }
}

async fn manifest(env: &ToolEnv<'_>) -> Result<Manifest, ToolError> {
    let Some(bytes) = env.overlay.read(MANIFEST).await? else {
        return Ok(Manifest::default());
    };
    serde_json::from_slice(&bytes).map_err(|error| {
        ToolError::refused(format!("{MANIFEST} is not the list of chunks any more ({error}); delete it and cut again"))
    })
}

fn render(manifest: &Manifest) -> String {
    let mut text = serde_json::to_string_pretty(manifest).expect("plain data is always written as JSON");
    text.push('\n');
    text
}

fn describe(name: &str, files: &[String], chunks: &[Chunk]) -> String {
    let first = files.first().map_or("", String::as_str);
    let range = match files {
        [_] => first.to_string(),
        _ => format!("{first} to {}", files.last().map_or("", String::as_str)),
    };
    let tokens: u64 = chunks.iter().map(|chunk| u64::from(chunk.tokens)).sum();
    let largest = chunks.iter().map(|chunk| chunk.tokens).max().unwrap_or(0);
    let from = chunks.iter().filter_map(|chunk| chunk.first_page).min();
    let to = chunks.iter().filter_map(|chunk| chunk.last_page).max();
    let pages = from.zip(to).map_or_else(String::new, |(from, to)| format!(", pages {from}-{to}"));
    let count = if chunks.len() == 1 { "1 chunk".to_string() } else { format!("{} chunks", chunks.len()) };
    format!(
        "cut {name} into {count}: {range}{pages}; {tokens} tokens in all, the largest has {largest}\nlist: {MANIFEST}"
    )
}
