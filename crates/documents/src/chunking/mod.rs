//! Chunks: a document split into pieces that a model can process one at a time.
//!
//! The pages are joined into one text, so that paragraphs and sentences may cross the end of a page. That text is split
//! along its structure, headings first, then paragraphs, then sentences, into pieces of a bounded number of tokens;
//! only white space is dropped. Each piece then gets the context that it lost: its page numbers as `[page N]` lines,
//! and the headings above it.
//!
//! The same document and the same options give the same chunks, byte for byte.

mod headings;
mod manifest;
mod measure;
mod text;

pub use manifest::{Entry, Manifest, PageSpan, chunk_path};

use crate::Page;
pub(crate) use headings::Outline;
pub use headings::Standing;
use measure::Measure;
use text::Whole;
use text_splitter::{ChunkConfig, ChunkSizer, MarkdownSplitter};

/// How to cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkOptions {
    /// Maximum tokens of a chunk, including page marks; at least 50 are used.
    pub max_tokens: u32,
    /// Maximum tokens of the previous chunk that a chunk repeats; at most half of `max_tokens` is used.
    pub overlap: u32,
}

impl Default for ChunkOptions {
    fn default() -> Self {
        Self { max_tokens: 1200, overlap: 0 }
    }
}

/// A piece of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The text; in a paged document with a `[page N]` line at the top and at the beginning of each page.
    pub text: String,
    /// The page of its first word, in a paged document.
    pub first_page: Option<u32>,
    /// The page of its last word.
    pub last_page: Option<u32>,
    /// The headings above its first words, outermost first, including one at its beginning.
    pub headings: Vec<String>,
    /// Tokens of `text`, in o200k_base.
    pub tokens: u32,
    /// Whether it begins with words that the chunk before it ends with.
    pub repeats: bool,
}

/// Fewer tokens leave no room for a page mark and a sentence.
const FEWEST_TOKENS: u32 = 50;
/// The splitter needs several times the memory of its input, so it gets a large text in parts of about this size, each
/// starting at a page that does not begin within a sentence. An overlap must cross every boundary, so with an overlap
/// the text is not divided.
const PART_BYTES: usize = 512 << 10;

/// Splits a document into chunks; `source`, its name, is not part of their text, see [`render_chunk`].
///
/// Without overlap the words of the chunks are exactly the words of the pages, in order. A document without words has
/// no chunks.
pub fn chunk(source: &str, pages: &[Page], paged: bool, options: ChunkOptions) -> Vec<Chunk> {
    chunk_part(source, pages, paged, options, &mut Standing::default())
}

/// The same for a part of a longer text, below the given headings, which are updated for the next part. No chunk and no
/// overlap crosses the boundary between parts.
pub fn chunk_part(
    source: &str,
    pages: &[Page],
    paged: bool,
    options: ChunkOptions,
    under: &mut Standing,
) -> Vec<Chunk> {
    let whole = Whole::of(pages, paged);
    let outline = Outline::of(&whole.text, under);
    *under = outline.at_end();
    let limit = options.max_tokens.max(FEWEST_TOKENS);
    let overlap = options.overlap.min(limit / 2);
    let mut chunks = Vec::new();
    let mut ended = 0;
    for part in whole.parts(if overlap == 0 { PART_BYTES } else { usize::MAX }) {
        let measure = Measure::of(&whole, part.clone());
        for (start, piece) in cut(&whole.text[part.clone()], &measure, limit, overlap) {
            let start = part.start + start;
            let found = finish(&whole, &outline, (start, ended), piece);
            if found.tokens <= limit {
                ended = start + piece.len();
                chunks.push(found);
                continue;
            }
            // The quick measure was too low, which happens only with text without words; the tokenizer itself decides.
            let exact = Exact { whole: &whole };
            for (offset, part) in cut(piece, &exact, limit, overlap) {
                chunks.push(finish(&whole, &outline, (start + offset, ended), part));
                ended = start + offset + part.len();
            }
        }
    }
    tracing::debug!(source, chunks = chunks.len(), "document cut into chunks");
    chunks
}

/// The chunk as the content of a file: a first line with its origin, and its text.
///
/// `<!-- source: input/policy.pdf | pages: 3-4 | section: 2 Scope > 2.1 Records -->`, the parts that are known.
pub fn render_chunk(source: &str, chunk: &Chunk) -> String {
    let mut parts = vec![format!("source: {source}")];
    match (chunk.first_page, chunk.last_page) {
        (Some(first), Some(last)) if first == last => parts.push(format!("pages: {first}")),
        (Some(first), Some(last)) => parts.push(format!("pages: {first}-{last}")),
        _ => {}
    }
    if let Some(section) = chunk.headings.last() {
        parts.push(format!("section: {section}"));
    }
    // "--" would end the comment early.
    let head = parts.join(" | ").replace("--", "- -");
    format!("<!-- {head} -->\n\n{}\n", chunk.text)
}

fn cut<'a, S: ChunkSizer + 'a>(
    text: &'a str,
    sizer: &'a S,
    limit: u32,
    overlap: u32,
) -> impl Iterator<Item = (usize, &'a str)> {
    let config = ChunkConfig::new(limit as usize)
        .with_sizer(sizer)
        .with_overlap(overlap as usize)
        .expect("the overlap is at most half of the limit");
    let pieces: Vec<_> = MarkdownSplitter::new(config).chunk_indices(text).collect();
    pieces.into_iter().filter(|(_, piece)| !piece.trim().is_empty())
}

/// The chunk that begins at `start`, after one that ended at `ended`.
fn finish(whole: &Whole, outline: &Outline, (start, ended): (usize, usize), piece: &str) -> Chunk {
    let text = whole.with_marks(start, piece);
    let tokens = plumbline_tokens::count(&text);
    let end = start + piece.len();
    let headings = outline.path_at(start, end);
    let (first_page, last_page) = (whole.page_at(start), whole.page_at(end.saturating_sub(1)));
    Chunk { text, first_page, last_page, headings, tokens, repeats: start < ended }
}

/// Counts by the tokenizer itself.
struct Exact<'a> {
    whole: &'a Whole,
}

impl ChunkSizer for Exact<'_> {
    fn size(&self, piece: &str) -> usize {
        plumbline_tokens::count(piece) as usize + self.whole.marks_tokens_of(piece)
    }
}
