//! `extract_document_text`: extracts a document's text into the workspace, where it is read, chunked and quoted. The
//! text is stored and the model gets its path, never the whole text.

use crate::documents::document_names::unknown_document;
use crate::documents::text_parts::{Writer, is_part_of, part_path};
use crate::error::{Output, ToolError, ToolResult};
use crate::tool::{Declared, ToolEnv};
use crate::workspace::overlay::WorkspaceOverlay;
use crate::workspace::overlay::file_name;
use crate::workspace::path;
use plumbline_documents::{About, DocumentError, Kind, Page, READING, has_pages, kind_of};
use plumbline_engine::{Handler, Phases, Product, Source};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::{collections::BTreeSet, ops::RangeInclusive};
use tokio::sync::mpsc;

/// Maximum pages, or pieces of long ones, that wait while a part of the text is compared with its earlier version.
const PAGES_AHEAD: usize = 8;
/// Maximum headings shown, so that the model sees the document's structure.
const MAX_HEADINGS: usize = 12;
/// The pattern of pages and page ranges.
const PAGES: &str = "^ *[0-9]{1,6} *([-–] *[0-9]{1,6} *)?(, *[0-9]{1,6} *([-–] *[0-9]{1,6} *)?){0,99}$";

#[derive(Deserialize)]
#[serde(untagged)]
enum Pages {
    One(u32),
    Several(String),
}

/// Extracts the text of a document into `chunks/<name>.md`. In documents with pages a line `[page N]` stands before the
/// text of each page. The result names the file in a line `text: chunks/<name>.md` and describes the document; the text
/// itself is read from the file, or cut with `chunk_document`. Quotes are checked against this text, which cannot be
/// changed by other tools.
///
/// {arguments}
///
/// Example: `{"file_path": "input/policy.pdf"}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtractDocumentText {
    /// # The document, e.g. input/policy.pdf
    /// the document, e.g. `input/policy.pdf`
    file_path: String,
    /// # pages and ranges such as 3-7 or 1-5,10 (default: the whole document)
    /// pages and ranges such as `3-7` or `1-5,10`, into a file of its own (`chunks/<name>_p1-5_10-10.md`) for a closer
    /// look; left out: the whole document, which is what chunking and citing need
    #[schemars(with = "Option<Value>", extend("type" = ["string", "integer"], "pattern" = PAGES))]
    pages: Option<Pages>,
    /// # keep a PDF's lines as they are set (default: false)
    /// `true`: a PDF line by line as its pages are set, hyphens at line ends, running headers and all, into a file of
    /// its own (`chunks/<name>_lines.md`) for a closer look; quotes are checked against the other text
    #[serde(default)]
    lines: bool,
}

impl Declared for ExtractDocumentText {
    const NAME: &str = "extract_document_text";
    const PHASES: Phases = Phases::Tactical;
    const DESCRIPTION: &str = "\
        Extract the text of a document under input/ (PDF, DOCX, ODT, EPUB, HTML, Markdown, plain text) \
        into a page-marked file under chunks/. Returns the file's path and a short description.";
    const HANDLER: Handler = Handler::External;
    const TIMEOUT_FACTOR: u32 = 5;

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { file_path, pages, lines } = self;
        let path = document(env.overlay, &file_path)?;
        let pages = pages.map(|pages| ranges(&pages)).transpose()?;
        // First the permit, then the document: of many jobs that want one parsed, few hold it in memory.
        let permit = env.parser.permit().await;
        let bytes = env.overlay.read(&path).await?.ok_or_else(|| path::not_found(&path, env.overlay))?;
        let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        let read = |error: plumbline_documents::DocumentError| ToolError::refused(error.with_name(&path).to_string());
        let document = Source { path: path.clone(), size, ..Source::default() };
        let kind = kind_of(&path, &bytes).map_err(|error| unreadable(error, document.clone()))?;
        let paged = has_pages(kind, &bytes);
        let text_path = text_path(env.overlay, &path, pages.as_deref(), lines);
        // The parser reads one range; pages between the requested ranges are dropped.
        let all = pages.as_deref().map(|pages| *pages[0].start()..=*pages[pages.len() - 1].end());
        let wanted = |page: u32| pages.as_deref().is_none_or(|pages| pages.iter().any(|range| range.contains(&page)));
        let (sender, mut taken) = mpsc::channel::<Page>(PAGES_AHEAD);
        let mut writer = Writer::new(env.overlay, &text_path, paged);
        // Owns the receiving end: if it gives up, the parser does too.
        let write = async move {
            let mut reading = Reading { paged, ..Reading::default() };
            while let Some(page) = taken.recv().await {
                if !wanted(page.number) {
                    continue;
                }
                let added = writer.push(&page).await?;
                reading.take(&page, added);
            }
            Ok::<_, ToolError>((reading, writer))
        };
        let (about, written) =
            tokio::join!(permit.keeping_lines(lines).extract_to(kind, bytes.into(), all, sender), write);
        let (reading, writer) = written?;
        let about = about.map_err(|error| match pages.is_none() && !lines {
            true => unreadable(error.with_name(&path), document),
            false => read(error),
        })?;
        let content = describe(&reading, (&path, kind), (&text_path, writer.parts()), &about);
        let mut products = writer.finish().await?;
        if pages.is_none() && !lines {
            products.push(Product::AddSource(Source {
                path,
                size,
                pages: paged.then(|| i32::try_from(reading.pages).unwrap_or(i32::MAX)),
                text_path: Some(text_path),
                warnings: about.warnings,
                unread_pages: numbers(&about.unread),
                extraction: Some(READING.to_owned()),
            }));
        }
        Ok(Output::of(content, products))
    }
}

/// A document without text is recorded too, with the parser's message and the pages that have visible content.
fn unreadable(error: DocumentError, document: Source) -> ToolError {
    let reason = error.to_string();
    let source = match &error {
        DocumentError::NoText { pages, unread, why, .. } => Source {
            pages: i32::try_from(*pages).ok().filter(|pages| *pages > 0),
            unread_pages: numbers(unread),
            warnings: std::iter::once(reason.clone()).chain(why.iter().cloned()).collect(),
            ..document
        },
        DocumentError::Spawn { .. } => return ToolError::refused(reason),
        _ => Source { warnings: vec![reason.clone()], ..document },
    };
    ToolError::Unreadable { reason, document: Box::new(source) }
}

fn numbers(pages: &[u32]) -> Vec<i32> {
    pages.iter().filter_map(|page| i32::try_from(*page).ok()).collect()
}

/// The document's path. Only the job's input counts as a document: quotes from anything else prove nothing.
fn document(overlay: &WorkspaceOverlay<'_>, raw: &str) -> Result<String, ToolError> {
    let path = path::file(raw)?;
    let is_given =
        |path: &str| path.starts_with("input/") || overlay.sources().iter().any(|source| source.path == path);
    if is_given(&path) && overlay.size(&path).is_some() {
        return Ok(path);
    }
    let in_input = format!("input/{path}");
    if overlay.size(&in_input).is_some() {
        return Ok(in_input);
    }
    if overlay.size(&path).is_some() {
        return Err(ToolError::refused(format!("`{path}` is no document of the job; documents are under input/")));
    }
    match overlay.sources().is_empty() {
        true => Err(path::not_found(&path, overlay)),
        false => Err(unknown_document(overlay, &path)),
    }
}

/// The requested ranges, in page order and not adjacent to each other.
fn ranges(pages: &Pages) -> Result<Vec<RangeInclusive<u32>>, ToolError> {
    let asked: Vec<RangeInclusive<u32>> = match pages {
        Pages::One(page) => vec![range(&page.to_string())?],
        Pages::Several(text) => text.split(',').map(range).collect::<Result<_, _>>()?,
    };
    let mut joined: Vec<RangeInclusive<u32>> = Vec::new();
    for range in asked.into_iter().map(|range| (*range.start(), *range.end())).collect::<BTreeSet<_>>() {
        match joined.last_mut() {
            Some(last) if range.0 <= last.end().saturating_add(1) => *last = *last.start()..=range.1.max(*last.end()),
            Some(_) | None => joined.push(range.0..=range.1),
        }
    }
    Ok(joined)
}

fn range(text: &str) -> Result<RangeInclusive<u32>, ToolError> {
    let mut ends = text.split(['-', '–']).map(|end| end.trim().parse::<u32>());
    let (from, to) = match (ends.next(), ends.next()) {
        (Some(Ok(from)), Some(Ok(to))) => (from, to),
        (Some(Ok(page)), None) => (page, page),
        _ => {
            return Err(ToolError::refused(format!("`pages` has {text}; give pages and ranges such as 3-7 or 1-5,10")));
        }
    };
    if from == 0 || from > to {
        return Err(ToolError::refused(format!(
            "there are no pages {from}-{to}; pages count from 1 and a range rises"
        )));
    }
    Ok(from..=to)
}

/// The path of the text: `chunks/<stem>.md`, or with the extension in its name if another document has that text or if
/// the name would look like a chunk.
fn text_path(overlay: &WorkspaceOverlay<'_>, path: &str, pages: Option<&[RangeInclusive<u32>]>, lines: bool) -> String {
    let name = file_name(path);
    let (stem, extension) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).unwrap_or((name, "document"));
    let suffix =
        pages.map_or_else(String::new, |pages| format!("_p{}", pages.iter().map(named).collect::<Vec<_>>().join("_")));
    let suffix = if lines { format!("{suffix}_lines") } else { suffix };
    let candidates = std::iter::once(stem.to_string())
        .chain(std::iter::once(format!("{stem}_{extension}")))
        .chain((2..).map(|number| format!("{stem}_{extension}_{number}")));
    let is_free = |candidate: &String| {
        let others = overlay.sources().iter().filter(|source| source.path != path);
        let whole = format!("chunks/{candidate}.md");
        let taken = |known: &str| is_part_of(&whole, known) || is_part_of(known, &whole);
        let taken = others.filter_map(|source| source.text_path.as_deref()).any(taken);
        let like_chunk = candidate.strip_prefix("chunk_").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
        !taken && !like_chunk
    };
    let free = candidates.into_iter().find(is_free).expect("a free name: the candidates never end, the documents do");
    format!("chunks/{free}{suffix}.md")
}

/// `3-7`; a single page is `3-3` if it is the only one, for compatibility, and therefore always.
fn named(range: &RangeInclusive<u32>) -> String {
    format!("{}-{}", range.start(), range.end())
}

/// The facts of a text, collected while it is streamed.
#[derive(Default)]
struct Reading {
    paged: bool,
    pages: usize,
    last_page: Option<u32>,
    words: usize,
    lines: usize,
    headings: Vec<String>,
}

impl Reading {
    /// Adds a page or the next piece of one, with its written form.
    fn take(&mut self, page: &Page, written: &str) {
        self.pages += usize::from(self.last_page != Some(page.number));
        self.last_page = Some(page.number);
        self.words += page.text.split_whitespace().count();
        self.lines += written.lines().count();
        let headings = written.lines().filter(|line| line.starts_with('#'));
        self.headings.extend(headings.take(MAX_HEADINGS - self.headings.len()).map(str::to_owned));
    }
}

fn describe(reading: &Reading, (path, kind): (&str, Kind), (text_path, parts): (&str, usize), about: &About) -> String {
    let mut out = vec![format!("extracted {path}"), format!("kind: {kind}")];
    if let Some(title) = &about.title {
        out.push(format!("title: {title}"));
    }
    if reading.paged {
        out.push(format!("pages: {}", reading.pages));
    }
    out.push(format!("words: {}", reading.words));
    out.push(format!("lines: {}", reading.lines));
    out.push(format!("text: {text_path}"));
    match parts {
        1 => {}
        2 => out.push(format!("it goes on in: {}", part_path(text_path, 2))),
        _ => out.push(format!("it goes on in: {} to {}", part_path(text_path, 2), part_path(text_path, parts))),
    }
    out.extend(about.warnings.iter().map(|warning| format!("warning: {warning}")));
    if !reading.headings.is_empty() {
        out.push("first headings:".to_string());
        out.extend(reading.headings.iter().cloned());
    }
    out.join("\n")
}
