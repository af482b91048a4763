//! PDF, the format with pages. Runs in the parser child only.

mod furniture;
mod headings;
mod lines;
mod sheet;

use super::Page;
use super::blocks::{Block, to_markdown};
use super::child::Parsed;
use super::tidy::Mender;
use super::wire::{Failure, Trailer};
use lines::Lines;
use sheet::Sheet;
use std::ops::{ControlFlow, RangeInclusive};
use unpdf::parser::LayoutAnalyzer;
use unpdf::parser::backend::RawBackend;
use unpdf::{ErrorKind, PageSelection, PageStreamOptions, ParseEvent, ParseOptions, PdfParser};

/// Pages that are parsed at least, so that what repeats on every page is seen to repeat and the text of a page does
/// not depend on which pages were asked for with it.
const SAMPLE_PAGES: u32 = 12;
/// Most threads that read pages: each one's stack counts against the memory limit.
const MOST_THREADS: usize = 4;
/// The stack of each. The document's objects, where the deep nesting is, are read before, on the parser's own.
const STACK_BYTES: usize = 64 << 20;

/// The number of pages, without extracting any.
pub(super) fn probe(bytes: &[u8]) -> Result<u32, Failure> {
    match open(bytes)?.page_count() {
        0 => Err(Failure::damaged("it has no pages")),
        count => Ok(count),
    }
}

/// The text of the pages asked for, all by default.
pub(super) fn extract(bytes: &[u8], asked: Option<RangeInclusive<u32>>) -> Parsed {
    let parser = open(bytes)?;
    let count = parser.page_count();
    let asked = asked.unwrap_or(1..=count);
    if count == 0 {
        return Err(Failure::damaged("it has no pages"));
    }
    if *asked.start() == 0 || asked.start() > asked.end() || *asked.end() > count {
        let beyond = if (1..=count).contains(asked.start()) { *asked.end() } else { *asked.start() };
        return Err(Failure::NoSuchPage { asked: beyond, count });
    }
    let mut read = read_sheets(&parser, bytes, sample(&asked, count))?;
    furniture::remove(&mut read.sheets);
    headings::settle(&mut read.sheets);
    mend(&mut read.sheets);
    read.sheets.retain(|sheet| asked.contains(&sheet.number));
    finish(read, count, &asked)
}

fn open(bytes: &[u8]) -> Result<PdfParser, Failure> {
    PdfParser::from_bytes_with_options(bytes, ParseOptions::new().sequential()).map_err(failure)
}

fn failure(error: unpdf::Error) -> Failure {
    match error.kind() {
        ErrorKind::Encrypted | ErrorKind::InvalidPassword => Failure::Encrypted,
        _ => Failure::damaged(error),
    }
}

/// The pages asked for and as many around them as make a sample.
fn sample(asked: &RangeInclusive<u32>, count: u32) -> RangeInclusive<u32> {
    let last = (*asked.end()).max((asked.start() + SAMPLE_PAGES - 1).min(count));
    let first = (*asked.start()).min((last + 1).saturating_sub(SAMPLE_PAGES).max(1));
    first..=last
}

#[derive(Default)]
struct Read {
    title: Option<String>,
    sheets: Vec<Sheet>,
    warnings: Vec<String>,
}

/// Reads the pages in as many parts as there are processors, each in a thread of its own: pages do not depend on each
/// other. The parts are put together in order, so that the result does not depend on their number.
fn read_sheets(parser: &PdfParser, bytes: &[u8], pages: RangeInclusive<u32>) -> Result<Read, Failure> {
    let backend = RawBackend::load_bytes(bytes).map_err(failure)?;
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MOST_THREADS);
    let parts = std::thread::scope(|scope| {
        let start = |part: RangeInclusive<u32>| {
            let read = || read_part(parser, &backend, part);
            let started = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, read);
            started.map_err(|error| Failure::damaged(format!("no thread could be started to read it: {error}")))
        };
        let started: Vec<_> = parts(pages, processors).into_iter().map(start).collect();
        let joined =
            started.into_iter().map(|part| part?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.collect::<Result<Vec<Read>, Failure>>()
    })?;
    Ok(parts.into_iter().fold(Read::default(), |mut all, part| {
        all.title = all.title.or(part.title);
        all.sheets.extend(part.sheets);
        all.warnings.extend(part.warnings);
        all
    }))
}

/// Pages in up to `count` runs of about the same length, none so short that starting a thread would not pay.
fn parts(pages: RangeInclusive<u32>, count: usize) -> Vec<RangeInclusive<u32>> {
    let total = pages.end() - pages.start() + 1;
    let count = u32::try_from(count).unwrap_or(u32::MAX).min(total / SAMPLE_PAGES).max(1);
    let step = total.div_ceil(count);
    let firsts = (0..count).map(|part| pages.start() + part * step).filter(|first| first <= pages.end());
    firsts.map(|first| first..=(first + step - 1).min(*pages.end())).collect()
}

fn read_part(parser: &PdfParser, backend: &RawBackend, pages: RangeInclusive<u32>) -> Result<Read, Failure> {
    let options =
        PageStreamOptions { pages: PageSelection::Range(pages), parallel: false, ..PageStreamOptions::default() };
    let analyzer = LayoutAnalyzer::new(backend);
    let mut read = Read::default();
    let run = parser.for_each_page(options, |event| {
        match event {
            ParseEvent::DocumentStart { metadata, .. } => {
                let title = metadata.title.map(|title| title.trim().to_owned());
                read.title = title.filter(|title| !title.is_empty() && !title.eq_ignore_ascii_case("untitled"));
            }
            ParseEvent::PageParsed(page) => read.sheets.push(Sheet::of(&page, Lines::of(&analyzer, page.number))),
            ParseEvent::PageFailed { page, error } => {
                read.warnings.push(format!("Page {page} could not be read: {error}."));
                read.sheets.push(Sheet { number: page, height: 0.0, blocks: Vec::new(), silent: true });
            }
            ParseEvent::Progress { .. } | ParseEvent::DocumentEnd { .. } => {}
        }
        ControlFlow::Continue(())
    });
    run.map_err(failure)?;
    Ok(read)
}

fn mend(sheets: &mut [Sheet]) {
    let mender = Mender::of(sheets.iter().flat_map(|sheet| &sheet.blocks).map(|placed| &placed.block));
    sheets.iter_mut().flat_map(|sheet| &mut sheet.blocks).for_each(|placed| mender.mend_block(&mut placed.block));
}

fn finish(read: Read, count: u32, asked: &RangeInclusive<u32>) -> Parsed {
    let Read { title, sheets, mut warnings } = read;
    let silent: Vec<u32> = sheets.iter().filter(|sheet| sheet.silent).map(|sheet| sheet.number).collect();
    let page = |sheet: Sheet| {
        let blocks: Vec<Block> = sheet.blocks.into_iter().map(|placed| placed.block).collect();
        Page { number: sheet.number, text: to_markdown(&blocks) }
    };
    let pages: Vec<Page> = sheets.into_iter().map(page).collect();
    if pages.iter().all(|page| page.text.is_empty()) {
        return Err(Failure::NoText { pages: asked.end() - asked.start() + 1, first: *asked.start() });
    }
    if !silent.is_empty() {
        warnings.push(format!("{} no text layer; OCR is not available.", have(&silent)));
    }
    Ok((pages, Trailer { title, pages: Some(count), warnings }))
}

/// `Page 3 has`, `Pages 3, 7-9 have`.
fn have(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|left, right| left + 1 == *right);
    let word = |run: &[u32]| match run {
        [only] => only.to_string(),
        _ => format!("{}-{}", run[0], run[run.len() - 1]),
    };
    let list = runs.map(word).collect::<Vec<_>>().join(", ");
    if numbers.len() == 1 { format!("Page {list} has") } else { format!("Pages {list} have") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_surrounds_the_pages_asked_for() {
        for (asked, count, expected) in [
            (1..=193, 193, 1..=193),
            (1..=1, 193, 1..=12),
            (190..=190, 193, 182..=193),
            (50..=50, 193, 50..=61),
            (2..=2, 3, 1..=3),
        ] {
            assert_eq!(sample(&asked, count), expected, "{asked:?} of {count}");
        }
    }

    #[test]
    fn parts_cover_all_pages_once() {
        for (pages, count, expected) in [
            (1..=193, 2, vec![1..=97, 98..=193]),
            (1..=12, 8, vec![1..=12]),
            (5..=40, 3, vec![5..=16, 17..=28, 29..=40]),
            (7..=7, 4, vec![7..=7]),
        ] {
            assert_eq!(parts(pages.clone(), count), expected, "{pages:?} in {count}");
        }
    }

    #[test]
    fn page_lists_read_well() {
        assert_eq!(have(&[3]), "Page 3 has");
        assert_eq!(have(&[3, 7, 8, 9]), "Pages 3, 7-9 have");
    }
}
