//! Long texts. The text of a document is a file; a long one continues in further files, its parts, so that the mirror,
//! the search and the citation check have one part in memory at a time. The step that writes them has all of them.
//!
//! The parts of `chunks/manual.md` are called `chunks/manual.part2.md` and so on. A part begins with a page or, in a
//! document without pages, with a paragraph.

use crate::error::ToolError;
use crate::workspace::overlay::WorkspaceOverlay;
use plumbline_documents::{Page, page_mark, push_page};
use plumbline_engine::{FileWrite, Product};

/// A part is closed when it would exceed this size.
const PART_BYTES: usize = 1 << 20;

/// The path of a long text's part, counted from 1: the first part has the text's own path.
pub fn part_path(text_path: &str, number: usize) -> String {
    match (number, text_path.strip_suffix(".md")) {
        (..=1, _) => text_path.to_owned(),
        (_, Some(stem)) => format!("{stem}.part{number}.md"),
        (_, None) => format!("{text_path}.part{number}"),
    }
}

/// Whether a path is that of the text or of one of its parts, existing or not.
pub(crate) fn is_part_of(path: &str, text_path: &str) -> bool {
    let (stem, end) = text_path.strip_suffix(".md").map_or((text_path, ""), |stem| (stem, ".md"));
    let number = path.strip_prefix(stem).and_then(|rest| rest.strip_prefix(".part")?.strip_suffix(end));
    path == text_path || number.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// The paths of a text's existing parts.
pub(crate) fn parts_of(overlay: &WorkspaceOverlay<'_>, text_path: &str) -> Vec<String> {
    (1..).map(|number| part_path(text_path, number)).take_while(|path| overlay.size(path).is_some()).collect()
}

/// Writes a text into parts.
pub(crate) struct Writer<'a, 'b> {
    overlay: &'a WorkspaceOverlay<'b>,
    text_path: String,
    paged: bool,
    part: String,
    number: usize,
    page: Option<u32>,
    products: Vec<Product>,
}

impl<'a, 'b> Writer<'a, 'b> {
    /// A writer for a text at this path, of a document with or without pages.
    pub(crate) fn new(overlay: &'a WorkspaceOverlay<'b>, text_path: &str, paged: bool) -> Self {
        let text_path = text_path.to_owned();
        Self { overlay, text_path, paged, part: String::new(), number: 1, page: None, products: Vec::new() }
    }

    /// Adds a page or the next piece of one, and returns it in written form.
    pub(crate) async fn push(&mut self, page: &Page) -> Result<&str, ToolError> {
        if !self.part.is_empty() && self.part.len() + page.text.len() > PART_BYTES {
            self.close_part().await?;
            self.number += 1;
            self.page = None;
        }
        // The next piece of a page is not a page of its own; in a new part it still needs the page mark.
        let marked = self.paged && self.page != Some(page.number);
        self.page = Some(page.number);
        let start = self.part.len();
        push_page(&mut self.part, page, marked);
        Ok(&self.part[start..])
    }

    /// The number of parts so far.
    pub(crate) fn parts(&self) -> usize {
        self.number
    }

    /// The products that create the files.
    pub(crate) async fn finish(mut self) -> Result<Vec<Product>, ToolError> {
        self.close_part().await?;
        // Parts of an earlier, longer text.
        let further = (self.number + 1..).map(|number| part_path(&self.text_path, number));
        let left = further.take_while(|path| self.overlay.size(path).is_some());
        self.products.extend(left.map(|path| Product::DeleteFile { path }));
        Ok(self.products)
    }

    /// Extracting again gives the same text; a new version with the same bytes would only make the workspace grow.
    async fn close_part(&mut self) -> Result<(), ToolError> {
        let path = part_path(&self.text_path, self.number);
        let part = std::mem::take(&mut self.part).into_bytes();
        let may_be_known = self.overlay.size(&path) == Some(part.len() as u64);
        if !may_be_known || self.overlay.read(&path).await?.is_none_or(|known| known != part) {
            self.products.push(Product::WriteFile(FileWrite { path, content: part }));
        }
        Ok(())
    }
}

/// The text around a joint, so that a sentence across it is complete: the last paragraphs of one part, with their
/// page's number, and the first ones of the next.
pub(crate) fn joint(before: &str, after: &str, bytes: usize) -> String {
    let start = before.floor_char_boundary(before.len().saturating_sub(bytes));
    let end = after.ceil_char_boundary(after.len().min(bytes));
    let page = before[..start].lines().rev().find_map(page_mark);
    let mark = page.map_or_else(String::new, |page| format!("[page {page}]\n\n"));
    format!("{mark}{}\n{}", &before[start..], &after[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_known_by_their_names() {
        assert_eq!(part_path("chunks/a.md", 1), "chunks/a.md");
        assert_eq!(part_path("chunks/a.md", 12), "chunks/a.part12.md");
        for path in ["chunks/a.md", "chunks/a.part2.md", "chunks/a.part12.md"] {
            assert!(is_part_of(path, "chunks/a.md"), "{path}");
        }
        for path in ["chunks/a.part.md", "chunks/a.partly.md", "chunks/b.part2.md", "chunks/a.part2.md.md"] {
            assert!(!is_part_of(path, "chunks/a.md"), "{path}");
        }
    }

    #[test]
    fn a_joint_knows_its_pages() {
        let joined = joint("[page 7]\n\nA long page that ends in a", "[page 8]\n\nsentence.", 12);
        assert_eq!(joined, "[page 7]\n\nat ends in a\n[page 8]\n\nse");
    }
}
