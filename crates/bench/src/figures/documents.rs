//! P17, P18: text of a PDF, token counts, chunks.

use crate::{
    error::{During, Error},
    fixture::Bench,
    report::{Figure, Target},
};
use plumbline_bench::prose::prose;
use plumbline_documents::{
    Kind, Page, Parser,
    chunking::{ChunkOptions, chunk},
};
use std::{path::Path, process::Command, time::Instant};

/// Bytes of the text whose tokens are counted.
const COUNTED: usize = 4 << 20;

/// Pages of a document as long as the target's, and the bytes of each.
const PAGES: u32 = 193;
const PAGE: usize = 2500;

/// A shorter document only measures the start of a process.
const LONG_ENOUGH: usize = 100;

/// P17. Both sides start a process, and both times include that.
pub(super) async fn reading(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let bytes = std::fs::read(&bench.pdf).during(&format!("read {}", bench.pdf.display()))?;
    let parser = Parser::new(&bench.plumbline.path);
    let (mut ours, mut theirs, mut alike, mut pages) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for _ in 0..bench.sizes.runs {
        let started = Instant::now();
        let read = parser.extract(Kind::Pdf, &bytes, None).await.during("extract the PDF")?;
        pages = read.pages.len();
        ours.push(pages as f64 / started.elapsed().as_secs_f64());
        if let Some((pages, secs)) = pdftotext(&bench.pdf)? {
            theirs.push(pages.len() as f64 / secs);
            alike.push(similarity(&read.pages, &pages));
        }
    }
    let name = format!("pages per second of {}, {pages} pages", name(&bench.pdf));
    let mut speed = Figure::new("P17", name, "/s", ours);
    if theirs.is_empty() {
        speed.name.push_str(" (pdftotext is not installed to compare with)");
        return Ok(vec![speed]);
    }
    let mut like = Figure::new("P17", "words in order like pdftotext's", "", alike);
    speed = speed.floor("pdftotext", &theirs);
    if pages < LONG_ENOUGH {
        speed.name.push_str(" (too short to judge; PLUMBLINE_BENCH_PDF names another)");
    } else {
        speed = speed.target(Target::RatioAtLeast(0.2));
        like = like.target(Target::AtLeast(0.98));
    }
    Ok(vec![speed, like])
}

/// P18.
pub(super) async fn counting(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let text = prose(1, COUNTED);
    let pages: Vec<Page> = (1..=PAGES).map(|number| Page { number, text: section(number) }).collect();
    let size: usize = pages.iter().map(|page| page.text.len()).sum();
    plumbline_tokens::load();
    let (mut counting, mut cutting) = (Vec::new(), Vec::new());
    for _ in 0..bench.sizes.runs {
        counting.push(megabytes_per_second(text.len(), || plumbline_tokens::count(&text) as usize));
        let cut = || chunk("document.pdf", &pages, true, ChunkOptions::default()).len();
        cutting.push(megabytes_per_second(size, cut));
    }
    let name = format!("chunking {PAGES} pages by headings and tokens");
    Ok(vec![
        Figure::new("P18", "token counting", "MB/s", counting).target(Target::AtLeast(4.0)),
        Figure::new("P18", name, "MB/s", cutting).target(Target::AtLeast(1.0)),
    ])
}

/// A page with a heading, as every page of a regulation has one.
fn section(number: u32) -> String {
    format!("{number} Obligation {number}\n\n{}", prose(number.into(), PAGE))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn megabytes_per_second(bytes: usize, work: impl FnOnce() -> usize) -> f64 {
    let started = Instant::now();
    std::hint::black_box(work());
    bytes as f64 / 1e6 / started.elapsed().as_secs_f64()
}

/// The pages as poppler reads them, and the seconds it took; `None` if it is not installed.
fn pdftotext(path: &Path) -> Result<Option<(Vec<String>, f64)>, Error> {
    let started = Instant::now();
    let output = match Command::new("pdftotext").arg(path).arg("-").output() {
        Ok(output) if output.status.success() => output,
        Ok(_) => return Err(Error::new(format!("pdftotext cannot read {}", path.display()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let secs = started.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stdout);
    // Each page ends with a form feed, the last one too.
    let mut pages: Vec<String> = text.split('\u{c}').map(str::to_owned).collect();
    pages.pop();
    Ok(Some((pages, secs)))
}

/// Words in the same order in both, twice over all words: 1 for equal texts. Compared page by page.
fn similarity(ours: &[Page], theirs: &[String]) -> f64 {
    let (mut common, mut all) = (0, 0);
    for (place, page) in ours.iter().enumerate() {
        let (left, right) = (words(&page.text), words(theirs.get(place).map_or("", String::as_str)));
        common += longest_common(&left, &right);
        all += left.len() + right.len();
    }
    2.0 * common as f64 / all.max(1) as f64
}

/// The digits that are raised in our text, and plain in poppler's.
const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/// The words without Markdown marks, which only our text has, and without hyphens, so that a dehyphenated word is
/// equal.
fn words(page: &str) -> Vec<String> {
    let mended = page.replace("-\n", "").replace('\u{ad}', "");
    let plain =
        |sign: char| RAISED.chars().position(|raised| raised == sign).and_then(|at| char::from_digit(at as u32, 10));
    let mended: String = mended.chars().map(|sign| plain(sign).unwrap_or(sign)).collect();
    let words = mended.split_whitespace().map(|word| word.replace('-', ""));
    words.filter(|word| word.chars().any(char::is_alphanumeric)).collect()
}

/// Length of the longest common subsequence.
fn longest_common(left: &[String], right: &[String]) -> usize {
    let mut lengths = vec![0; right.len() + 1];
    for word in left {
        let mut diagonal = 0;
        for (place, other) in right.iter().enumerate() {
            let above = lengths[place + 1];
            lengths[place + 1] = if word == other { diagonal + 1 } else { above.max(lengths[place]) };
            diagonal = above;
        }
    }
    lengths[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_pages_are_alike_and_a_missing_word_is_missed() {
        let page = |text: &str| Page { number: 1, text: text.into() };
        assert_eq!(similarity(&[page("a b  c\nd")], &["a b c d".into()]), 1.0);
        assert_eq!(similarity(&[page("a b c")], &["a x c b".into()]), 2.0 * 2.0 / 7.0);
        assert_eq!(similarity(&[page("## Head\n\n| well-made |")], &["Head\nwell-\nmade\n".into()]), 1.0);
    }
}
