//! PDF, the format with pages. Runs in the parser child only.

mod actual_text;
mod aside;
mod cached_backend;
mod clauses;
mod columns;
mod continued;
mod drawn;
mod fast_path;
mod fonts;
mod headings;
mod inline_numbers;
mod lines;
mod notes;
mod objects;
mod page_layout;
mod painted_twice;
mod prose;
mod ruling_lines;
mod running_headers;
mod scripts;
mod sections;
mod shown_elsewhere;
mod source;
mod strings;
mod tall_cells;
mod turned;

use super::blocks::{Block, to_markdown};
use super::dehyphenate::{Dehyphenator, characters};
use super::warnings::{first_words, pages_first};
use crate::Page;
use crate::child::Parsed;
use crate::child::protocol::{Failure, Trailer};
use page_layout::Sheet;
use source::{Read, Source};
use std::ops::RangeInclusive;
use unpdf::ErrorKind;

/// Minimum number of parsed pages, so that repeated text is detected and the text of a page does not depend on the
/// other requested pages.
const SAMPLE_PAGES: u32 = 12;

/// The number of pages, without extracting any.
pub(crate) fn probe(bytes: &[u8]) -> Result<u32, Failure> {
    Source::open(bytes).map(|source| source.count())
}

/// The text of the requested pages, all by default; `lines`: with the printed line ends and all other content of the
/// pages.
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
    let told = running_headers::remove(&mut read.sheets);
    read.warnings.extend(told);
    headings::settle(&mut read.sheets);
    inline_numbers::join(&mut read.sheets);
    notes::set_aside(&mut read.sheets);
    continued::join(&mut read.sheets);
    dehyphenate(&mut read.sheets);
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

/// The requested pages and enough pages around them for a sample.
fn sample(asked: &RangeInclusive<u32>, count: u32) -> RangeInclusive<u32> {
    let last = (*asked.end()).max((asked.start() + SAMPLE_PAGES - 1).min(count));
    let first = (*asked.start()).min((last + 1).saturating_sub(SAMPLE_PAGES).max(1));
    first..=last
}

fn dehyphenate(sheets: &mut [Sheet]) {
    let words = Dehyphenator::of(sheets.iter().flat_map(|sheet| &sheet.blocks).map(|placed| &placed.block));
    sheets.iter_mut().flat_map(|sheet| &mut sheet.blocks).for_each(|placed| words.dehyphenate_block(&mut placed.block));
}

fn finish(read: Read, count: u32, asked: &RangeInclusive<u32>, text: impl Fn(Sheet) -> String) -> Parsed {
    let Read { title, sheets, warnings, is_placeholder } = read;
    let is_unread = |sheet: &&Sheet| sheet.is_unread() || is_placeholder;
    let unread: Vec<u32> = sheets.iter().filter(is_unread).map(|sheet| sheet.number).collect();
    let is_silent = sheets.iter().all(|sheet| sheet.seen.says_nothing()) && warnings.is_empty();
    // Findings about single pages come first.
    let warnings: Vec<String> = of_pages(&sheets).into_iter().chain(warnings).collect();
    let page = |sheet: Sheet| Page { number: sheet.number, text: text(sheet) };
    let pages: Vec<Page> = sheets.into_iter().map(page).collect();
    if pages.iter().all(|page| page.text.is_empty()) {
        let why = if is_silent { Vec::new() } else { warnings };
        return Err(Failure::NoText { pages: asked.end() - asked.start() + 1, first: *asked.start(), unread, why });
    }
    Ok((pages, Trailer { title, pages: Some(count), unread, warnings }))
}

/// Content of single pages that is missing from their text, or should not be in it.
fn of_pages(sheets: &[Sheet]) -> Vec<String> {
    let numbers = |is: fn(&Sheet) -> bool| sheets.iter().filter(|sheet| is(sheet)).map(|sheet| sheet.number).collect();
    let silent: Vec<u32> = numbers(|sheet| sheet.silent && sheet.seen.says_nothing());
    let pictured: Vec<u32> = numbers(|sheet| sheet.seen.pictured && !sheet.silent && sheet.seen.says_nothing());
    let illustrated: Vec<u32> = numbers(|sheet| sheet.seen.illustrated && !sheet.silent);
    let senseless: Vec<u32> = numbers(|sheet| sheet.seen.senseless);
    let damaged: Vec<u32> = numbers(|sheet| sheet.seen.damaged);
    let mut told = Vec::new();
    let mut say = |numbers: &[u32], one: &str, several: &str| {
        let said = if numbers.len() == 1 { one } else { several };
        told.extend((!numbers.is_empty()).then(|| format!("{} {said}", pages_first(numbers))));
    };
    say(&silent, "has no text layer; OCR is not available.", "have no text layer; OCR is not available.");
    say(
        &pictured,
        "is a picture with little text beside it; what the picture says is not in the text: OCR is not available.",
        "are pictures with little text beside them; what the pictures say is not in the text: OCR is not available.",
    );
    let pictures = "not in the text: OCR is not available.";
    say(
        &illustrated,
        &format!("shows a picture; what it says is {pictures}"),
        &format!("show pictures; what they say is {pictures}"),
    );
    let no_words = "a text layer that makes no sense, which was left out; OCR is not available.";
    say(&senseless, &format!("has {no_words}"), &format!("have {no_words}"));
    say(
        &damaged,
        "is damaged, and a part of it is not in the text.",
        "are damaged, and a part of each is not in the text.",
    );
    for sheet in sheets {
        let number = sheet.number;
        if sheet.seen.lost > 0 {
            let lost = sheet.seen.lost;
            let characters = if lost == 1 { "1 character".to_owned() } else { format!("{lost} characters") };
            told.push(format!("Page {number}: {characters} could not be decoded; OCR is not available."));
        }
        if let Some(words) = actual_text::missing(&sheet.seen.meant, &sheet.as_set) {
            let words = first_words(&words);
            told.push(format!(
                "Page {number}: in the text as its font encodes it; the file says that it reads {words}."
            ));
        }
        if let Some(words) = &sheet.seen.struck {
            told.push(format!("Page {number}: struck out, and still in the text: {}.", first_words(words)));
        }
    }
    told
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
}
