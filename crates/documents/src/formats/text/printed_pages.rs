//! Printed text: a form feed ends each page, as in RFCs, and the pages have running headers and footers.
//!
//! Removes at most one line at each edge, separated from the text by a blank line: one that is identical on most pages
//! except for the page number, or one that ends with a labelled page number, `[Page 3]`.

use crate::Page;
use crate::formats::page_numbers::own_numbers;
use crate::formats::repeated;
use crate::formats::warnings::{first_words, pages_first};
use plumbline_engine::one_line;
use std::collections::{BTreeMap, BTreeSet};

/// An edge of a page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    Top,
    Bottom,
}

/// The pages of a text without running headers and footers, and the removed lines. None if no form feed separates two
/// texts.
pub(crate) fn split(text: &str) -> Option<(Vec<Page>, Vec<String>)> {
    let text = text.trim_matches(|c: char| c.is_whitespace());
    if !text.contains('\u{c}') {
        return None;
    }
    let pages: Vec<Vec<&str>> = text.split('\u{c}').map(|page| page.lines().collect()).collect();
    let mut left_out: BTreeMap<(Edge, String), Vec<(u32, usize)>> = BTreeMap::new();
    for (number, lines) in (1..).zip(&pages) {
        for edge in [Edge::Top, Edge::Bottom] {
            if let Some(at) = alone(lines, edge) {
                for key in keys(lines[at], number) {
                    left_out.entry((edge, key)).or_default().push((number, at));
                }
            }
        }
    }
    let filled = pages.iter().filter(|lines| lines.iter().any(|line| !line.trim().is_empty())).count();
    left_out.retain(|(_, key), places| (places.len() > 1 && places.len() * 2 >= filled) || names_its_page(key));
    let (gone, warnings) = chosen(left_out.into_iter().map(|((_, key), places)| (key, places)), &pages);
    let page = |(number, lines): (u32, &Vec<&str>)| {
        let kept: Vec<&str> =
            (0..lines.len()).filter(|at| !gone.contains(&(number, *at))).map(|at| lines[at].trim_end()).collect();
        Page { number, text: kept.join("\n").trim_matches('\n').to_owned() }
    };
    Some(((1..).zip(&pages).map(page).collect(), warnings))
}

/// The lines to remove, and a sentence about each. A sentence that may state an obligation is kept at its first
/// occurrence, and on all pages if its number differs; the only text of a page is kept.
fn chosen(
    left_out: impl Iterator<Item = (String, Vec<(u32, usize)>)>,
    pages: &[Vec<&str>],
) -> (BTreeSet<(u32, usize)>, Vec<String>) {
    let line = |(number, at): (u32, usize)| pages.get(number as usize - 1).and_then(|lines| lines.get(at)).copied();
    let (mut gone, mut warnings) = (BTreeSet::new(), Vec::new());
    for (key, places) in left_out {
        let obliges = places.first().and_then(|place| line(*place)).is_some_and(repeated::obliges);
        if obliges && key.contains('#') {
            continue;
        }
        let is_all = |(number, own): (u32, usize), gone: &BTreeSet<(u32, usize)>| {
            let lines = pages.get(number as usize - 1).map_or(&[][..], Vec::as_slice);
            let mut others = (0..lines.len()).filter(|at| *at != own && !gone.contains(&(number, *at)));
            !others.any(|at| lines[at].contains(char::is_alphanumeric))
        };
        let mut taken = Vec::new();
        for place in places.into_iter().skip(usize::from(obliges)) {
            if !is_all(place, &gone) && gone.insert(place) {
                taken.push(place);
            }
        }
        warnings.extend((!taken.is_empty()).then(|| said(&taken, pages)));
    }
    (gone, warnings)
}

/// The outermost line of a page, if a blank line separates it from the text and it is not the only text.
fn alone(lines: &[&str], edge: Edge) -> Option<usize> {
    let blank = |at: usize| lines[at].trim().is_empty();
    let first = (0..lines.len()).find(|at| !blank(*at))?;
    let last = (0..lines.len()).rev().find(|at| !blank(*at))?;
    let (at, inner) = match edge {
        Edge::Top => (first, first + 1),
        Edge::Bottom => (last, last.checked_sub(1)?),
    };
    (first < last && blank(inner)).then_some(at)
}

/// A line's words, and the same with `#` for each possible page number, with the number's offset to the page's
/// position: numbers on two pages count as equal if they are the page numbers.
fn keys(line: &str, page: u32) -> Vec<String> {
    let words = one_line(line);
    let counted: Vec<String> = own_numbers(&words)
        .into_iter()
        .map(|(place, number)| {
            format!("{}#{:+}{}", &words[..place.start], number - i64::from(page), &words[place.end..])
        })
        .collect();
    std::iter::once(words).chain(counted).collect()
}

/// Whether a line names its page: `[Page 3]`, `Page 3 of 9`.
fn names_its_page(key: &str) -> bool {
    let lower = key.to_lowercase();
    let before = lower.rsplit_once('#').map_or("", |(before, _)| before.trim_end());
    before.ends_with("[page") || before.ends_with("[seite")
}

fn said(places: &[(u32, usize)], pages: &[Vec<&str>]) -> String {
    let numbers: Vec<u32> = places.iter().map(|(number, _)| *number).collect();
    let (number, at) = places[0];
    let line = pages.get(number as usize - 1).and_then(|lines| lines.get(at)).copied().unwrap_or_default();
    format!("{}: left out as a running header or footer: {}.", pages_first(&numbers), first_words(line))
}

#[cfg(test)]
mod tests {
    use super::split;

    fn texts(text: &str) -> (Vec<String>, Vec<String>) {
        let (pages, warnings) = split(text).expect("there are pages");
        (pages.into_iter().map(|page| page.text).collect(), warnings)
    }

    #[test]
    fn heads_and_feet_of_printed_pages_go_and_are_named() {
        let page = |n: u32, text: &str| format!("Rules 7      Keeping\n\n{text}\n\nDoe        [Page {n}]\n");
        let (pages, warnings) =
            texts(&[page(3, "A receiver that does"), page(4, "not keep it MUST say so.")].join("\u{c}\n"));
        assert_eq!(pages, ["A receiver that does", "not keep it MUST say so."]);
        assert_eq!(
            warnings,
            [
                "Pages 1-2: left out as a running header or footer: \u{ab}Rules 7 Keeping\u{bb}.",
                "Pages 1-2: left out as a running header or footer: \u{ab}Doe [Page 3]\u{bb}."
            ]
        );
    }

    #[test]
    fn lines_of_the_text_stay() {
        let rules = ["Form 1 must be signed.", "Form 4 must be signed.", "Form 2 must be signed."];
        assert_eq!(texts(&rules.join("\u{c}")), (rules.map(str::to_owned).to_vec(), Vec::new()), "all of a page");
        let first = ["R-1 Login\n\nText.", "R-5 Logout\n\nText of it.", "R-2 Erasure\n\nText."];
        assert_eq!(texts(&first.join("\u{c}")).0[1], "R-5 Logout\n\nText of it.");
        let numbered =
            |n: u32| [format!("The form shall be kept for {n} years."), format!("R-{n} Login"), format!("Rule {n}")];
        for line in 0..3 {
            let pages: Vec<String> = (1..=5).map(|n| format!("{}\n\nText of {n} pages.", numbered(n)[line])).collect();
            assert_eq!(texts(&pages.join("\u{c}")), (pages, Vec::new()));
        }
        let texts_below = ["One.", "Two.", "Three.", "Four."];
        let (pages, warnings) =
            texts(&texts_below.map(|text| format!("Copies must be destroyed.\n\n{text}")).join("\u{c}"));
        assert_eq!(pages, ["Copies must be destroyed.\n\nOne.", "Two.", "Three.", "Four."]);
        assert_eq!(
            warnings,
            ["Pages 2-4: left out as a running header or footer: \u{ab}Copies must be destroyed.\u{bb}."]
        );
        let joined = ["Same\nText a.", "Same\nText b."];
        assert_eq!(texts(&joined.join("\u{c}")).0, joined, "no blank line: it belongs to the paragraph");
        assert_eq!(split("one page\n\u{c}\n"), None);
    }
}
