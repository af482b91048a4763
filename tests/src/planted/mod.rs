//! Documents with planted obligations: a PDF of any length, in which the place of each obligation is known.
//!
//! The same options give the same bytes. Each obligation has a token that occurs nowhere else, so a search for it
//! cannot match another by chance. Obligations occur in running text, lists, tables and footnotes, across page breaks
//! and under headings in capitals, in English and German, among sentences without obligations.
//!
//! This shares neither code nor words with the scan for candidates or the rehearsal model: a document made of the words
//! that they look for would only test them against themselves.

mod dice;
pub mod honest;
mod layout;
mod lists;
mod obligations;
pub(crate) mod pdf;
mod prose;
pub mod trial;

use dice::Dice;
use layout::Layout;
use obligations::{Obligation, Place};
use serde_json::json;

/// Name of the document, here and in the gold.
pub const NAME: &str = "planted.pdf";

/// Maximum obligations per page: with more there is no room for other text between them.
pub const MOST_A_PAGE: u32 = 5;

/// Options of the generated document.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Another seed, another document.
    pub seed: u64,
    /// Pages of the document.
    pub pages: u32,
    /// Obligations in it.
    pub sentences: u32,
    /// Additional long lists, of 5 to 60 entries, each an obligation.
    pub lists: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 1, pages: 200, sentences: 60, lists: 0 }
    }
}

/// An obligation as written in the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gold {
    /// Its token.
    pub id: String,
    /// The page that it begins on.
    pub page: u32,
    /// Its words.
    pub text: String,
}

/// A document and its obligations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planted {
    /// The document.
    pub pdf: Vec<u8>,
    /// Its obligations, in document order.
    pub gold: Vec<Gold>,
}

impl Planted {
    /// The gold standard as `plumbline eval` reads it, one JSON object per line.
    pub fn gold_lines(&self) -> String {
        let line = |gold: &Gold| {
            let Gold { id, page, text } = gold;
            format!("{}\n", json!({"document": NAME, "page": page, "text": text, "id": id}))
        };
        self.gold.iter().map(line).collect()
    }
}

/// Makes a document.
///
/// # Errors
/// When the pages have no room for the obligations, as a sentence.
pub fn make(options: Options) -> Result<Planted, String> {
    let Options { seed, pages, sentences, lists } = options;
    if pages == 0 || sentences > pages.saturating_mul(MOST_A_PAGE) {
        return Err(format!(
            "{sentences} sentences have no room on {pages} pages; name at least {} pages",
            sentences.div_ceil(MOST_A_PAGE).max(1)
        ));
    }
    let mut dice = Dice::new(seed);
    let planned = obligations::plan(&mut dice, sentences);
    let mut layout = Layout::new();
    let mut gold = Vec::new();
    let mut planned = planned.into_iter().enumerate().peekable();
    let (mut chapter, mut listed) = (0, 0);
    loop {
        // Obligations are spread evenly; a little before the end, so that the last one has room.
        let due = |at: usize| 1 + (at as u64 * u64::from(pages) / u64::from(sentences.max(1))) as u32;
        let begins = layout.page() > chapter * PAGES_A_CHAPTER;
        if begins {
            chapter += 1;
            layout.title(&prose::title(&mut dice, german(chapter)));
        }
        let list_is_due =
            u64::from(listed) < u64::from(lists) * u64::from(layout.page()) / u64::from(pages.max(2) - 1).max(1);
        if listed < lists && list_is_due {
            listed += 1;
            long_list(&mut layout, &mut dice, &mut gold, sentences as usize);
            continue;
        }
        match planned.next_if(|(at, _)| due(*at) <= layout.page()) {
            Some((_, obligation)) => gold.push(place(&mut layout, &mut dice, obligation, pages)),
            None if layout.page() >= pages => break,
            None => filler(&mut layout, &mut dice, german(chapter)),
        }
    }
    match layout.page() > pages {
        true => Err(format!("{sentences} sentences have no room on {pages} pages; name more pages")),
        false => Ok(Planted { pdf: layout.into_pdf(), gold }),
    }
}

/// Sets a long list and records the places of its entries; they are numbered after the other obligations.
fn long_list(layout: &mut Layout, dice: &mut Dice, gold: &mut Vec<Gold>, sentences: usize) {
    let list = lists::plan(dice, sentences.max(MOST_SINGLE) + gold.len());
    let pages = layout.long_list(&list.lead, list.entries.iter().map(|entry| (entry.level, entry.line.as_str())));
    let entries = list.entries.into_iter().zip(pages);
    gold.extend(entries.filter_map(|(entry, page)| entry.gold.map(|(id, text)| Gold { id, page, text })));
}

/// Token numbers below this one belong to obligations outside long lists.
const MOST_SINGLE: usize = 2000;

/// Pages from one title to the next.
const PAGES_A_CHAPTER: u32 = 4;

fn german(chapter: u32) -> bool {
    chapter.is_multiple_of(2)
}

fn filler(layout: &mut Layout, dice: &mut Dice, german: bool) {
    match dice.below(8) {
        0 => layout.heading(&prose::heading(dice, german)),
        1 => {
            let items: Vec<String> = (0..3).map(|_| prose::thing(dice, german)).collect();
            layout.list(&prose::list_lead(dice, german), &items);
        }
        _ => {
            let sentences = 2 + dice.below(4);
            layout.paragraph(&prose::sentences(dice, german, sentences));
        }
    }
}

/// Sets an obligation with its surroundings; returns its place.
fn place(layout: &mut Layout, dice: &mut Dice, obligation: Obligation, pages: u32) -> Gold {
    let Obligation { id, german, place, text, lead } = obligation;
    // Nothing continues after the last page, and a sentence split by a footnote could not be quoted as a whole.
    let place = match place {
        Place::PageBreak if layout.page() >= pages || layout.has_note() => Place::Text,
        Place::Footnote if layout.has_note() => Place::Text,
        other => other,
    };
    let page = match place {
        Place::Text => {
            let count = 1 + dice.below(2);
            let (before, after) = (prose::sentences(dice, german, count), prose::sentences(dice, german, 1));
            layout.paragraph_around(&before, &text, &after)
        }
        Place::PageBreak => layout.over_the_page(&text, &prose::sentences(dice, german, 1)),
        Place::List => layout.list_with(&lead, &text, &obligations::other_item(dice, german)),
        Place::Table => {
            layout.table(&prose::columns(german), &text, &prose::thing(dice, german), &prose::thing(dice, german))
        }
        Place::Footnote => layout.footnote(&prose::sentences(dice, german, 2), &text),
        Place::Capitals => {
            layout.title(&prose::title(dice, german));
            layout.paragraph_around("", &text, &prose::sentences(dice, german, 2))
        }
    };
    Gold { id, page, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_its_pages_and_its_obligations_and_is_the_same_every_time() {
        for (seed, pages, sentences) in [(1, 12, 60), (2, 1, 5), (3, 20, 0), (4, 200, 60), (5, 3, 15)] {
            let options = Options { seed, pages, sentences, lists: 0 };
            let planted = make(options).expect("there is room");
            let text = String::from_utf8_lossy(&planted.pdf).into_owned();
            assert_eq!(text.matches("/Type /Page ").count(), pages as usize, "{options:?}");
            assert_eq!(planted.gold.len(), sentences as usize, "{options:?}");
            assert!(planted.gold.iter().all(|gold| (1..=pages).contains(&gold.page)), "{:?}", planted.gold);
            assert!(planted.gold.is_sorted_by_key(|gold| gold.page));
            assert!(planted.gold.iter().all(|gold| text.matches(&gold.id).count() == 1), "each token occurs once");
            assert_eq!(make(options).expect("there is room"), planted);
        }
        let listed = make(Options { seed: 7, pages: 30, sentences: 10, lists: 4 }).expect("there is room");
        let text = String::from_utf8_lossy(&listed.pdf).into_owned();
        assert!(listed.gold.len() >= 10 + 4 * 5 && listed.gold.is_sorted_by_key(|gold| gold.page), "{:?}", listed.gold);
        assert!(listed.gold.iter().all(|gold| text.matches(&gold.id).count() == 1), "each token occurs once");
        assert_ne!(make(Options { seed: 5, ..Options::default() }), make(Options { seed: 6, ..Options::default() }));
        assert_eq!(
            make(Options { seed: 1, pages: 2, sentences: 20, lists: 0 }),
            Err("20 sentences have no room on 2 pages; name at least 4 pages".to_owned())
        );
    }
}
