//! An open PDF, and the reading of its pages.

use super::cached_backend::StringCache;
use super::failure;
use super::fast_path::{self, Found};
use super::fonts::Fonts;
use super::lines::Lines;
use super::page_layout::{Seen, Sheet};
use super::scripts;
use super::shown_elsewhere;
use crate::child::protocol::Failure;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::atomic::{AtomicUsize, Ordering};
use unpdf::parser::backend::{PageId, PdfBackend as _, RawBackend};
use unpdf::{PageSelection, PageStreamOptions, ParseEvent, ParseOptions, PdfParser};

/// Maximum number of threads that read pages: each stack counts against the memory limit.
const MOST_THREADS: usize = 4;
/// The stack size of each. The deeply nested document objects are read before, on the parser's own stack.
const STACK_BYTES: usize = 64 << 20;

/// Minimum number of pages of running text to start a thread.
const FEWEST_TEXT: usize = 12;
/// The same for pages with tables, which take ten times as long.
const FEWEST_OTHER: usize = 2;
/// Pages of running text that a thread takes at a time.
const TEXT_SHARE: usize = 4;

/// Readers search this far for the beginning of a PDF.
const HEADER_WINDOW: usize = 1024;

/// An open PDF.
pub(crate) struct Source<'a> {
    bytes: &'a [u8],
    document: RawBackend,
    pages: BTreeMap<u32, PageId>,
}

/// The content read from a document.
#[derive(Default)]
pub(crate) struct Read {
    /// Its title, if it has one.
    pub(crate) title: Option<String>,
    /// Its pages, in order.
    pub(crate) sheets: Vec<Sheet>,
    /// One sentence each.
    pub(crate) warnings: Vec<String>,
    /// Whether its pages are only a placeholder until a program has rendered the document.
    pub(crate) is_placeholder: bool,
}

impl<'a> Source<'a> {
    /// Opens a document that has pages. Bytes before `%PDF-`, such as a byte order mark or a mail's header, are
    /// skipped.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Failure> {
        let head = bytes.get(..HEADER_WINDOW).unwrap_or(bytes);
        let bytes = memchr::memmem::find(head, b"%PDF-").map_or(bytes, |at| &bytes[at..]);
        let document = RawBackend::load_bytes(bytes).map_err(failure)?;
        let pages = document.pages();
        if pages.is_empty() {
            return Err(Failure::damaged("it has no pages"));
        }
        Ok(Self { bytes, document, pages })
    }

    /// How many pages there are.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.pages.len()).unwrap_or(u32::MAX)
    }

    /// Reads pages, first those of running text, then the others with the parser's own method.
    pub(crate) fn read(&self, pages: RangeInclusive<u32>) -> Result<Read, Failure> {
        let fonts = Fonts::load(self.bytes).map_err(failure)?;
        let ids: Vec<(u32, PageId)> = self.pages.range(pages).map(|(number, id)| (*number, *id)).collect();
        let found = shared(&ids, (FEWEST_TEXT, TEXT_SHARE), |shares| {
            let memory = Mutex::new(StringCache::default());
            let read = |page: &(u32, PageId)| fast_path::read(&self.document, &fonts, &memory, *page);
            let parts = std::iter::from_fn(|| shares.take());
            parts.map(|(place, part)| (place, part.iter().map(read).collect::<Vec<_>>())).collect()
        });
        let found = found.into_iter().flatten();
        let elsewhere = shown_elsewhere::of(fonts.objects(), &self.document, &ids, self.pages.len());
        drop(fonts);
        let mut read = Read {
            title: self.title(),
            warnings: elsewhere.told,
            is_placeholder: elsewhere.is_placeholder,
            ..Read::default()
        };
        let mut others = BTreeMap::new();
        for (page, found) in ids.iter().zip(found) {
            match found {
                Found::Text(sheet) => read.sheets.push(sheet),
                Found::Other(lines, seen) => {
                    others.insert(page.0, (lines, seen));
                }
            }
        }
        if !others.is_empty() {
            self.read_others(others, &mut read)?;
            read.sheets.sort_by_key(|sheet| sheet.number);
        }
        for sheet in &mut read.sheets {
            elsewhere.texts.get(&sheet.number).into_iter().flatten().for_each(|text| text.put(sheet));
        }
        Ok(read)
    }

    fn title(&self) -> Option<String> {
        let title = self.document.metadata().title?.trim().to_owned();
        (!title.is_empty() && !title.eq_ignore_ascii_case("untitled")).then_some(title)
    }

    fn read_others(&self, pages: BTreeMap<u32, (Lines, Seen)>, read: &mut Read) -> Result<(), Failure> {
        let parser =
            PdfParser::from_bytes_with_options(self.bytes, ParseOptions::new().sequential()).map_err(failure)?;
        let numbers: Vec<u32> = pages.keys().copied().collect();
        let lines = Mutex::new(pages);
        // One part per thread: the parser reads the document's outline again for each.
        let share = numbers.len().div_ceil(threads());
        let parts = shared(&numbers, (FEWEST_OTHER, share), |shares| {
            let parts = std::iter::from_fn(|| shares.take());
            parts.map(|(place, part)| (place, read_part(&parser, part.to_vec(), &lines))).collect()
        });
        for part in parts {
            let part = part?;
            read.sheets.extend(part.sheets);
            read.warnings.extend(part.warnings);
        }
        Ok(())
    }
}

/// Lines of pages that are still to be read, with findings.
type Others = Mutex<BTreeMap<u32, (Lines, Seen)>>;

fn read_part(parser: &PdfParser, pages: Vec<u32>, lines: &Others) -> Result<Read, Failure> {
    let pages = PageSelection::Pages(pages);
    let options = PageStreamOptions { pages, parallel: false, ..PageStreamOptions::default() };
    let lines = |page| lines.lock().remove(&page).unwrap_or_default();
    let mut read = Read::default();
    let run = parser.for_each_page(options, |event| {
        match event {
            ParseEvent::PageParsed(mut page) => {
                scripts::raise_page(&mut page);
                let (lines, seen) = lines(page.number);
                read.sheets.push(Sheet::of(&page, lines, seen));
            }
            ParseEvent::PageFailed { page, error } => {
                read.warnings.push(format!("Page {page} could not be read: {error}."));
                read.sheets.push(Sheet::unread(page));
            }
            ParseEvent::DocumentStart { .. } | ParseEvent::Progress { .. } | ParseEvent::DocumentEnd { .. } => {}
        }
        ControlFlow::Continue(())
    });
    run.map_err(failure)?;
    Ok(read)
}

/// Processes the pages with one thread per processor: pages are independent. Each thread takes the next few pages when
/// it has finished its last, because pages differ in cost; the results are joined in order, so that they do not depend
/// on scheduling. A thread is started only for `least` pages or more.
fn shared<P: Sync, T: Send>(
    pages: &[P],
    (least, share): (usize, usize),
    work: impl Fn(&Shares<'_, P>) -> Vec<(usize, T)> + Sync,
) -> Vec<T> {
    let shares = Shares { pages, share, next: AtomicUsize::new(0) };
    std::thread::scope(|scope| {
        let (work, shares) = (&work, &shares);
        // If a thread cannot be started for lack of address space, the others do its work, or the current one if there
        // are none.
        let start =
            |_| std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || work(shares)).ok();
        let threads = threads().min(pages.len() / least).max(1);
        let started: Vec<_> = (0..threads).map_while(start).collect();
        let mut all = Vec::with_capacity(pages.len());
        if started.is_empty() {
            all.extend(work(shares));
        }
        for thread in started {
            all.extend(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, found)| found).collect()
    })
}

/// How many threads may read pages at once.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MOST_THREADS)
}

/// Pages that several threads take from.
struct Shares<'a, P> {
    pages: &'a [P],
    share: usize,
    next: AtomicUsize,
}

impl<P> Shares<'_, P> {
    /// The next few pages, and the place of the first of them.
    fn take(&self) -> Option<(usize, &[P])> {
        let start = self.next.fetch_add(self.share, Ordering::Relaxed);
        let end = self.pages.len().min(start.saturating_add(self.share));
        self.pages.get(start..end).filter(|pages| !pages.is_empty()).map(|pages| (start, pages))
    }
}

#[cfg(test)]
mod tests {
    use super::{Shares, shared};
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn shares_cover_all_pages_once() {
        for (pages, share, lengths) in [(9, 4, [4, 4, 1].as_slice()), (8, 4, &[4, 4]), (1, 4, &[1]), (0, 4, &[])] {
            let all: Vec<usize> = (0..pages).collect();
            let shares = Shares { pages: &all, share, next: AtomicUsize::new(0) };
            let taken: Vec<(usize, &[usize])> = std::iter::from_fn(|| shares.take()).collect();
            assert_eq!(taken.iter().map(|(_, part)| part.len()).collect::<Vec<_>>(), lengths, "{pages} by {share}");
            assert!(taken.iter().all(|(place, part)| *place == part[0]));
            assert_eq!(taken.iter().map(|(_, part)| *part).collect::<Vec<_>>().concat(), all);
        }
    }

    #[test]
    fn what_threads_give_comes_in_the_order_of_the_pages() {
        let pages: Vec<u32> = (0..100).collect();
        for (least, share) in [(1, 1), (1, 7), (200, 3)] {
            let work = |shares: &Shares<'_, u32>| {
                std::iter::from_fn(|| shares.take()).map(|(place, part)| (place, part.to_vec())).collect()
            };
            assert_eq!(shared(&pages, (least, share), work).concat(), pages, "{share} at a time");
        }
    }
}
