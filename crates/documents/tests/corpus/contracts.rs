//! Documents as contracts are set: tightly, in narrow columns, with words parted at line ends.

use crate::make::{lines, parser, pdf, sample};
use plumbline_documents::{Kind, Page};
use std::collections::HashMap;

#[tokio::test]
async fn clauses_begin_paragraphs_and_headings_are_separate() {
    let page = lines(
        72,
        720,
        &[
            "LICENCE AGREEMENT",
            "1. GRANT OF RIGHTS",
            "1.1 The Licensor grants the Licensee a non-exclusive right to use the deliverables, subject to clause",
            "2.1 and to the Schedule, for the duration of the term and for no longer than that, as follows, namely:",
            "\\(a\\) for the purposes of the Licensee, which include those of its affiliates wherever they are; and",
            "\\(b\\) for those of its customers, provided that they have accepted these terms in writing before that.",
            "1.2 Nothing in this agreement transfers the ownership of the deliverables or of any right in them now.",
            "2. TERM",
            "2.1 This agreement begins on the day of its signature and ends with the month in which it is terminated.",
        ],
    );
    let text = parser().extract(Kind::Pdf, &pdf(&[page]), None).await.expect("a plain PDF").pages.remove(0).text;
    let paragraphs: Vec<&str> = text.split("\n\n").collect();
    let begin: Vec<String> = paragraphs.iter().map(|text| text.chars().take(18).collect()).collect();
    let expected = [
        "LICENCE AGREEMENT",
        "1. GRANT OF RIGHTS",
        "1.1 The Licensor g",
        "(a) for the purpos",
        "(b) for those of i",
        "1.2 Nothing in thi",
        "2. TERM",
        "2.1 This agreement",
    ];
    assert_eq!(begin, expected, "{text}");
    assert!(paragraphs[2].ends_with(
        "clause 2.1 and to the Schedule, for the duration of the term and for no longer than that, as follows, namely:"
    ));
}

/// Words as a program sets them in lines of so many characters: parted at a hyphen they have, else between two syllables.
fn set(text: &str, width: usize) -> Vec<String> {
    let vowel = |c: char| "aeiouy".contains(c.to_ascii_lowercase());
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut rest = word;
        loop {
            let line = lines.last_mut().expect("there is one");
            let room = width.saturating_sub(line.len() + usize::from(!line.is_empty()));
            if rest.len() <= room {
                line.push_str(if line.is_empty() { "" } else { " " });
                line.push_str(rest);
                break;
            }
            let bytes = rest.as_bytes();
            let syllable = |at: &usize| {
                let letters = rest.bytes().all(|byte| byte.is_ascii_alphabetic());
                letters && vowel(bytes[at - 1].into()) && !vowel(bytes[*at].into()) && *at > 1 && at + 2 < rest.len()
            };
            let hyphen = |at: &usize| bytes[at - 1] == b'-' && bytes[*at].is_ascii_alphabetic();
            let at = (2..rest.len().min(room)).rev().find(|at| rest.is_ascii() && (hyphen(at) || syllable(at)));
            if let Some(at) = at {
                line.push_str(if line.is_empty() { "" } else { " " });
                line.push_str(&rest[..at]);
                line.push_str(if bytes[at - 1] == b'-' { "" } else { "-" });
                rest = &rest[at..];
            } else if line.is_empty() {
                line.push_str(std::mem::take(&mut rest));
                break;
            }
            lines.push(String::new());
        }
    }
    lines
}

/// Few words may come out otherwise than they went in: 2 of 10,000 do, and 7 if nothing but the form itself decides.
#[tokio::test]
async fn words_come_out_as_they_went_in() {
    let source = String::from_utf8(sample("record-keeping-policy.md")).expect("UTF-8");
    let plain = |text: &&str| text.is_ascii() && !text.contains('|') && text.starts_with(|c: char| c.is_alphabetic());
    let paragraphs: Vec<&str> = source.split("\n\n").filter(plain).collect();
    let (mut words, mut changed) = (0, 0);
    for width in [24, 31, 38, 45] {
        let rows: Vec<String> =
            paragraphs.iter().flat_map(|text| set(text, width).into_iter().chain([String::new()])).collect();
        let escaped: Vec<String> = rows.iter().map(|row| row.replace('(', "\\(").replace(')', "\\)")).collect();
        let pages: Vec<String> = escaped
            .chunks(48)
            .map(|rows| lines(72, 740, &rows.iter().map(String::as_str).collect::<Vec<_>>()))
            .collect();
        let read = parser().extract(Kind::Pdf, &pdf(&pages), None).await.expect("a plain PDF");
        let mut known: HashMap<&str, usize> = HashMap::new();
        paragraphs
            .iter()
            .flat_map(|text| text.split_whitespace())
            .for_each(|word| *known.entry(word).or_default() += 1);
        words += known.values().sum::<usize>();
        // A word on two pages is in two pieces there.
        let page = |page: &Page| page.text.strip_suffix('-').map_or(format!("{} ", page.text), str::to_owned);
        let text: String = read.pages.iter().map(page).collect();
        for word in text.split_whitespace() {
            match known.get_mut(word) {
                Some(left) if *left > 0 => *left -= 1,
                _ => {
                    changed += 1;
                    println!("{width}: {word}");
                }
            }
        }
    }
    println!("{changed} of {words} words came out changed: {:.1} of 10,000", changed as f64 * 10_000.0 / words as f64);
    assert!(changed * 2_500 <= words, "{changed} of {words}");
}
