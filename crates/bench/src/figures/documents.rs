//! P17, P18: text of a PDF, token counts, chunks.

use crate::{
    error::{During, Error},
    report::{Figure, Target},
    site::Bench,
};
use plumbline_bench::prose::prose;
use plumbline_effects::{
    chunking::{ChunkOptions, chunk},
    documents::{Kind, Page, Parser},
    tokens,
};
use std::{path::Path, process::Command, time::Instant};

/// Bytes of the text whose tokens are counted.
const COUNTED: usize = 4 << 20;

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let bytes = std::fs::read(&bench.pdf).during(&format!("read {}", bench.pdf.display()))?;
    let parser = Parser::new(&bench.plumbline.path);
    let text = prose(1, COUNTED);
    tokens::warm();
    let (mut ours, mut theirs, mut counting, mut cutting) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut alike = Vec::new();
    for _ in 0..bench.sizes.runs {
        let started = Instant::now();
        let read = parser.extract(Kind::Pdf, &bytes, None).await.during("extract the PDF")?;
        ours.push(read.pages.len() as f64 / started.elapsed().as_secs_f64());
        if let Some((pages, secs)) = pdftotext(&bench.pdf)? {
            theirs.push(pages.len() as f64 / secs);
            alike.push(similarity(&read.pages, &pages));
        }
        counting.push(megabytes_per_second(text.len(), || tokens::count(&text) as usize));
        let size: usize = read.pages.iter().map(|page| page.text.len()).sum();
        cutting.push(megabytes_per_second(size, || {
            chunk("document.pdf", &read.pages, true, ChunkOptions::default()).len()
        }));
    }
    let mut pages = Figure::new("P17", format!("pages of {} per second", name(&bench.pdf)), "/s", ours);
    let mut figures = Vec::new();
    if theirs.is_empty() {
        pages.name.push_str(" (pdftotext is not installed to compare with)");
    } else {
        pages = pages.floor("pdftotext", &theirs).target(Target::RatioAtLeast(0.8));
        let like = Figure::new("P17", "words in order like pdftotext's", "", alike).target(Target::AtLeast(0.95));
        figures.push(like);
    }
    figures.insert(0, pages);
    figures.push(Figure::new("P18", "token counting", "MB/s", counting).target(Target::AtLeast(20.0)));
    figures.push(Figure::new("P18", "chunking that text", "MB/s", cutting).target(Target::AtLeast(1.5)));
    Ok(figures)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn megabytes_per_second(bytes: usize, work: impl FnOnce() -> usize) -> f64 {
    let started = Instant::now();
    std::hint::black_box(work());
    bytes as f64 / 1e6 / started.elapsed().as_secs_f64()
}

/// The pages as poppler reads them, and the seconds it took; `None` where it is not installed.
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
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let (left, right) = (words(&page.text), words(theirs.get(place).map_or("", String::as_str)));
        common += longest_common(&left, &right);
        all += left.len() + right.len();
    }
    2.0 * common as f64 / all.max(1) as f64
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
    }
}
