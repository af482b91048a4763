//! PDF, the format with pages. Runs in the parser child only.

mod cached_backend;
mod clauses;
mod columns;
mod fast_path;
mod fonts;
mod headings;
mod lines;
mod page_layout;
mod ruling_lines;
mod running_headers;
mod source;

use super::blocks::{Block, to_markdown};
use super::dehyphenate::{Dehyphenator, characters};
use crate::Page;
use crate::child::Parsed;
use crate::child::protocol::{Failure, Trailer};
use page_layout::Sheet;
use source::{Read, Source};
use std::ops::RangeInclusive;
use unpdf::ErrorKind;

/// Pages that are parsed at least, so that what repeats on every page is seen to repeat and the text of a page does
/// not depend on which pages were asked for with it.
const SAMPLE_PAGES: u32 = 12;

/// The number of pages, without extracting any.
pub(crate) fn probe(bytes: &[u8]) -> Result<u32, Failure> {
    Source::open(bytes).map(|source| source.count())
}

/// The text of the pages asked for, all by default; `lines`: with the line ends it is set with, and everything else as
/// the pages have it.
pub(crate) fn extract(bytes: &[u8], asked: Option<RangeInclusive<u32>>, lines: bool) -> Parsed {
    let source = Source::open(bytes)?;
    let count = source.count();
    let asked = asked.unwrap_or(1..=count);
    if *asked.start() == 0 || asked.start() > asked.end() || *asked.end() > count {
        let beyond = if (1..=count).contains(asked.start()) { *asked.end() } else { *asked.start() };
        return Err(Failure::NoSuchPage { asked: beyond, count });
    }
    if lines {
        return finish(source.read(asked.clone())?, count, &asked, |sheet| characters(&sheet.as_set));
    }
    let mut read = source.read(sample(&asked, count))?;
    running_headers::remove(&mut read.sheets);
    headings::settle(&mut read.sheets);
    mend(&mut read.sheets);
    read.sheets.retain(|sheet| asked.contains(&sheet.number));
    finish(read, count, &asked, |sheet| {
        let blocks: Vec<Block> = sheet.blocks.into_iter().map(|placed| placed.block).collect();
        to_markdown(&blocks)
    })
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

fn mend(sheets: &mut [Sheet]) {
    let words = Dehyphenator::of(sheets.iter().flat_map(|sheet| &sheet.blocks).map(|placed| &placed.block));
    sheets.iter_mut().flat_map(|sheet| &mut sheet.blocks).for_each(|placed| words.mend_block(&mut placed.block));
}

fn finish(read: Read, count: u32, asked: &RangeInclusive<u32>, text: impl Fn(Sheet) -> String) -> Parsed {
    let Read { title, sheets, mut warnings } = read;
    let silent: Vec<u32> = sheets.iter().filter(|sheet| sheet.silent).map(|sheet| sheet.number).collect();
    let page = |sheet: Sheet| Page { number: sheet.number, text: text(sheet) };
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
    fn page_lists_read_well() {
        assert_eq!(have(&[3]), "Page 3 has");
        assert_eq!(have(&[3, 7, 8, 9]), "Pages 3, 7-9 have");
    }
}
