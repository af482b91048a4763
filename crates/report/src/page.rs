//! One page: the state of its passages, its text with the marks, the requirements with quotes on it.

use super::{
    cards::Cards,
    document::Document,
    headings::{Headings, Run},
    html::render,
    marks::Marks,
    passages::PassageLine,
};
use plumbline_documents::marked::{MarkedPage, Piece};
use serde::Serialize;
use serde_json::{Value, json};

/// An element around a piece of text.
#[derive(Serialize)]
struct Element {
    tag: &'static str,
    /// For the first piece of a quote.
    id: Option<String>,
}

/// Writes a page, and records the shown marks.
pub(crate) fn html(page: &MarkedPage<'_>, document: &mut Document, marks: &Marks, cards: &mut Cards) -> String {
    let number = page.number.unwrap_or(1);
    // A long page continues in the next part of the text.
    let is_new = document.known.insert(number);
    let on_page = |passage: &PassageLine| passage.on_page(page.number.and_then(|number| i32::try_from(number).ok()));
    let passages: Vec<PassageLine> = match is_new {
        true => document.passages.iter().filter_map(on_page).collect(),
        false => Vec::new(),
    };
    let begin = page.pieces.iter().flat_map(|piece| &piece.begin);
    let citations = begin.filter_map(|key| marks.all[*key].citation.as_ref());
    let resting = cards.resting_on(citations);
    let beside: Vec<Value> = resting
        .into_iter()
        .map(|at| {
            let card = &mut cards.all[at];
            let again = std::mem::replace(&mut card.is_shown, true);
            json!({"again": again, "card": card})
        })
        .collect();
    let pieces = pieces(page, marks, document.has_headings());
    let label = match (page.number, is_new) {
        (Some(number), true) => format!("Page {number}"),
        (Some(number), false) => format!("Page {number}, continued"),
        (None, true) => "Text".to_owned(),
        (None, false) => "Text, continued".to_owned(),
    };
    let id = is_new.then(|| format!("{}page-{number}", document.prefix));
    render("page.html", json!({"id": id, "label": label, "passages": passages, "pieces": pieces, "beside": beside}))
}

/// The page's text, each piece with the elements around it.
fn pieces(page: &MarkedPage<'_>, marks: &Marks, has_headings: bool) -> Vec<Value> {
    let mut headings = Headings::default();
    let mut shown = Vec::with_capacity(page.pieces.len());
    for piece in &page.pieces {
        let runs = match has_headings {
            true => headings.runs(piece),
            false => vec![Run { text: piece.text, is_heading: false, is_first: true }],
        };
        shown.extend(runs.iter().map(|run| json!({"text": run.text, "elements": elements(piece, run, marks)})));
    }
    shown
}

/// From the outermost to the innermost.
fn elements(piece: &Piece<'_>, run: &Run<'_>, marks: &Marks) -> Vec<Element> {
    let element = |key: &usize, begins: bool| {
        let mark = &marks.all[*key];
        Element { tag: mark.tag(), id: mark.id().filter(|_| begins) }
    };
    let go_on = piece.go_on.iter().map(|key| element(key, false));
    let begin = piece.begin.iter().map(|key| element(key, run.is_first));
    let heading = run.is_heading.then_some(Element { tag: "b", id: None });
    go_on.chain(begin).chain(heading).collect()
}
