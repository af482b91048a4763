//! A document of thousands of pages goes through page by page.

use crate::make::{lines, parser, pdf};
use plumbline_documents::Kind;

#[tokio::test]
async fn two_thousand_pages_pass_one_at_a_time() {
    const SENTENCES: [&str; 5] = [
        "Records shall be kept for ten years after the end of the calendar year.",
        "The controller documents every change of a record and who made it.",
        "Backups are tested twice a year by restoring them to another machine.",
        "Invoices that were received on paper may be destroyed after they were scanned.",
        "Nobody but the archivist may delete a record before its time is over.",
    ];
    let page = |n: usize| {
        let texts: Vec<String> = (0..40).map(|line| format!("{} {n}.{line}", SENTENCES[(n + line) % 5])).collect();
        lines(72, 740, &texts.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let bytes = pdf(&(1..=2000).map(page).collect::<Vec<_>>());
    let (mut next, mut words, mut largest) = (1, 0, 0);
    let whole = parser().extract(Kind::Pdf, &bytes, None).await.expect("a plain PDF");
    for page in whole.pages {
        assert_eq!(page.number, next);
        assert!(page.text.contains(&format!(" {next}.7 ")), "page {next}: {}", page.text);
        next += 1;
        words += page.text.split_whitespace().count();
        largest = largest.max(page.text.len());
    }
    assert_eq!(next, 2001);
    assert!(words > 2000 * 400 && largest < 5000, "{words} words, the largest page has {largest} bytes");
    // A few pages from the middle do not need the rest.
    let few = parser().extract(Kind::Pdf, &bytes, Some(1500..=1502)).await.expect("a plain PDF");
    assert_eq!(few.pages.iter().map(|page| page.number).collect::<Vec<_>>(), [1500, 1501, 1502]);
}
