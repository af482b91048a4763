//! A PDF that is open, and the reading of its pages.

use super::failure;
use super::flow::{self, Found};
use super::fonts::Fonts;
use super::lines::Lines;
use super::sheet::Sheet;
use super::view::Memory;
use crate::documents::wire::Failure;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::{Mutex, PoisonError};
use unpdf::parser::backend::{PageId, PdfBackend as _, RawBackend};
use unpdf::{PageSelection, PageStreamOptions, ParseEvent, ParseOptions, PdfParser};

/// Most threads that read pages: each one's stack counts against the memory limit.
const MOST_THREADS: usize = 4;
/// The stack of each. The document's objects, where the deep nesting is, are read before, on the parser's own.
const STACK_BYTES: usize = 64 << 20;

/// Pages of running text for which it pays to start a thread.
const FEWEST_TEXT: usize = 12;
/// Pages with tables for which it pays: they take ten times as long.
const FEWEST_OTHER: usize = 2;

/// An open PDF.
pub(super) struct Source<'a> {
    bytes: &'a [u8],
    document: RawBackend,
    pages: BTreeMap<u32, PageId>,
}

/// What was read of a document.
#[derive(Default)]
pub(super) struct Read {
    /// Its title, where it states one.
    pub(super) title: Option<String>,
    /// Its pages, in order.
    pub(super) sheets: Vec<Sheet>,
    /// One sentence each.
    pub(super) warnings: Vec<String>,
}

impl<'a> Source<'a> {
    /// Opens a document that has pages.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Failure> {
        let document = RawBackend::load_bytes(bytes).map_err(failure)?;
        let pages = document.pages();
        if pages.is_empty() {
            return Err(Failure::damaged("it has no pages"));
        }
        Ok(Self { bytes, document, pages })
    }

    /// How many pages there are.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.pages.len()).unwrap_or(u32::MAX)
    }

    /// Reads pages, first those of running text, then the others in the parser's own way.
    pub(super) fn read(&self, pages: RangeInclusive<u32>) -> Result<Read, Failure> {
        let fonts = Fonts::load(self.bytes).map_err(failure)?;
        let ids: Vec<(u32, PageId)> = self.pages.range(pages).map(|(number, id)| (*number, *id)).collect();
        let found = in_parts(&ids, FEWEST_TEXT, |part| {
            let memory = Mutex::new(Memory::default());
            part.iter().map(|page| flow::read(&self.document, &fonts, &memory, *page)).collect()
        })?;
        drop(fonts);
        let mut read = Read { title: self.title(), ..Read::default() };
        let mut others = BTreeMap::new();
        for (page, found) in ids.iter().zip(found) {
            match found {
                Found::Text(sheet) => read.sheets.push(sheet),
                Found::Other(lines) => {
                    others.insert(page.0, lines);
                }
            }
        }
        if !others.is_empty() {
            self.read_others(others, &mut read)?;
            read.sheets.sort_by_key(|sheet| sheet.number);
        }
        Ok(read)
    }

    fn title(&self) -> Option<String> {
        let title = self.document.metadata().title?.trim().to_owned();
        (!title.is_empty() && !title.eq_ignore_ascii_case("untitled")).then_some(title)
    }

    fn read_others(&self, pages: BTreeMap<u32, Lines>, read: &mut Read) -> Result<(), Failure> {
        let parser =
            PdfParser::from_bytes_with_options(self.bytes, ParseOptions::new().sequential()).map_err(failure)?;
        let numbers: Vec<u32> = pages.keys().copied().collect();
        let lines = Mutex::new(pages);
        let parts = in_parts(&numbers, FEWEST_OTHER, |part| vec![read_part(&parser, part, &lines)])?;
        for part in parts {
            let part = part?;
            read.sheets.extend(part.sheets);
            read.warnings.extend(part.warnings);
        }
        Ok(())
    }
}

fn read_part(parser: &PdfParser, pages: &[u32], lines: &Mutex<BTreeMap<u32, Lines>>) -> Result<Read, Failure> {
    let pages = PageSelection::Pages(pages.to_vec());
    let options = PageStreamOptions { pages, parallel: false, ..PageStreamOptions::default() };
    let lines = |page| lines.lock().unwrap_or_else(PoisonError::into_inner).remove(&page).unwrap_or_default();
    let mut read = Read::default();
    let run = parser.for_each_page(options, |event| {
        match event {
            ParseEvent::PageParsed(page) => read.sheets.push(Sheet::of(&page, lines(page.number))),
            ParseEvent::PageFailed { page, error } => {
                read.warnings.push(format!("Page {page} could not be read: {error}."));
                read.sheets.push(Sheet { number: page, height: 0.0, blocks: Vec::new(), silent: true });
            }
            ParseEvent::DocumentStart { .. } | ParseEvent::Progress { .. } | ParseEvent::DocumentEnd { .. } => {}
        }
        ControlFlow::Continue(())
    });
    run.map_err(failure)?;
    Ok(read)
}

/// Does `work` to all pages in as many parts as there are processors, each in a thread of its own: pages do not depend
/// on each other. What the parts give is put together in order, so that the result does not depend on their number.
/// No part has fewer than `least` pages, where starting a thread would not pay.
fn in_parts<P: Sync, T: Send>(
    pages: &[P],
    least: usize,
    work: impl Fn(&[P]) -> Vec<T> + Sync,
) -> Result<Vec<T>, Failure> {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MOST_THREADS);
    std::thread::scope(|scope| {
        let work = &work;
        let start = |part| {
            let started = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || work(part));
            started.map_err(|error| Failure::damaged(format!("no thread could be started to read it: {error}")))
        };
        let started: Vec<_> = parts(pages, processors.min(pages.len() / least)).map(start).collect();
        let mut all = Vec::with_capacity(pages.len());
        for part in started {
            all.extend(part?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        Ok(all)
    })
}

/// Pages in up to `count` runs of about the same length.
fn parts<T>(pages: &[T], count: usize) -> impl Iterator<Item = &[T]> {
    pages.chunks(pages.len().div_ceil(count.max(1)).max(1))
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn parts_cover_all_pages_once() {
        for (pages, count, lengths) in
            [(193, 2, [97, 96].as_slice()), (12, 1, &[12]), (36, 3, &[12, 12, 12]), (1, 0, &[1])]
        {
            let all: Vec<u32> = (0..pages).collect();
            let runs: Vec<&[u32]> = parts(&all, count).collect();
            assert_eq!(runs.iter().map(|run| run.len()).collect::<Vec<_>>(), lengths, "{pages} in {count}");
            assert_eq!(runs.concat(), all);
        }
    }
}
