//! Writes the report: document by document, in parts.

use super::{
    Facts,
    cards::{Card, Cards},
    decided::decided,
    document::Document,
    headline::verified,
    html::render,
    marks::{Mark, Marks},
    page,
    passages::{Counts, PassageLine},
    rests_on,
};
use plumbline_documents::marked;
use plumbline_engine::Source;
use plumbline_tools::is_source;
use serde_json::json;
use std::collections::{BTreeSet, HashMap};

/// Maximum number of open passages listed at the top.
const MOST_NAMED: usize = 200;
/// Maximum characters shown of the job's prompt.
const MOST_PROMPT: usize = 300;

/// The output so far, and its input.
pub(crate) struct Writer {
    out: String,
    marks: Marks,
    cards: Cards,
    waiting: std::vec::IntoIter<Document>,
    document: Option<Document>,
}

impl Writer {
    /// Begins the file with the data of the whole job.
    pub(crate) fn new(facts: &Facts<'_>, sources: &[Source], marks: Marks) -> Self {
        let quotes =
            marks.all.iter().filter_map(|mark| Some(((&*mark.document, &*mark.text), mark.citation.as_deref()?)));
        let quotes: HashMap<(&str, &str), &str> = quotes.collect();
        let cards = Cards::of(facts.standing(), &quotes);
        let documents = documents(facts, sources, &marks);
        let open: Vec<_> = documents.iter().flat_map(open_passages).collect();
        let named = open.len().min(MOST_NAMED);
        let out = render(
            "head.html",
            json!({
                "job_id": facts.job_id,
                "headline": facts.headline,
                "decided": decided(facts.passages.iter().copied()),
                "prompt": facts.prompt.chars().take(MOST_PROMPT).collect::<String>(),
                "counts": Counts::of(facts.passages.iter().copied()),
                "quotes": facts.standing().map(|requirement| verified(&requirement.citations)).sum::<usize>(),
                "requirements": cards.all.len() + cards.left_out,
                "documents": documents,
                "rests_on": rests_on::files(facts.result, &marks),
                "open": open[..named],
                "more_open": open.len() - named,
            }),
        );
        Self { out, marks, cards, waiting: documents.into_iter(), document: None }
    }

    /// Continues with the next document.
    pub(crate) fn begin_document(&mut self) {
        self.document = self.waiting.next();
        let Some(document) = &self.document else { return };
        // The passages of a document without a text state the reason.
        let passages = if document.has_text { &[] } else { &*document.passages };
        self.out.push_str(&render("document.html", json!({"document": document, "passages": passages})));
    }

    /// Writes a part of the document's text; `next` is the following part.
    pub(crate) fn write_part(&mut self, part: &str, next: &str) {
        let Some(document) = &mut self.document else { return };
        let (keys, open): (Vec<usize>, Vec<&Mark>) = self.marks.open_of(&document.path).unzip();
        let words: Vec<_> = open.into_iter().map(Mark::words).collect();
        let mut stretches = std::mem::take(&mut document.carried);
        for (key, place) in keys.into_iter().zip(marked::places(part, next, &words)) {
            let Some(place) = place else { continue };
            self.marks.all[key].is_placed = true;
            stretches.push((key, place.start.cast_signed()..place.end.cast_signed()));
        }
        for page in marked::pages(part, &stretches) {
            self.out.push_str(&page::html(&page, document, &self.marks, &mut self.cards));
        }
        let length = part.len().cast_signed();
        let into_next = stretches.into_iter().filter(|(_, range)| range.end > length);
        document.carried = into_next.map(|(key, range)| (key, range.start - length..range.end - length)).collect();
    }

    /// The rest of the document is not shown.
    pub(crate) fn leave_out(&mut self) {
        let Some(document) = &self.document else { return };
        let most = super::MOST_TEXT >> 20;
        self.out.push_str(&render("left_out.html", json!({"last": document.known.last(), "most": most})));
    }

    /// Ends the file with items without a place in the texts.
    pub(crate) fn finish(&mut self) -> String {
        let unplaced = self.marks.all.iter().filter(|mark| mark.citation.is_some() && !mark.is_placed);
        let unplaced: Vec<_> = unplaced.map(Mark::as_listed).collect();
        let unshown: Vec<&Card> = self.cards.all.iter().filter(|card| !card.is_shown).collect();
        let left_out = [("quotes", self.marks.unmarked), ("requirements", self.cards.left_out)];
        self.out
            .push_str(&render("foot.html", json!({"unplaced": unplaced, "unshown": unshown, "left_out": left_out})));
        std::mem::take(&mut self.out)
    }
}

fn documents(facts: &Facts<'_>, sources: &[Source], marks: &Marks) -> Vec<Document> {
    let with_text = sources.iter().find(|source| source.text_path.is_some()).map(|source| &source.path);
    let document = |(number, source): (usize, &Source)| {
        let of = || facts.passages.iter().copied().filter(|passage| passage.document == source.path);
        let is_first = with_text == Some(&source.path);
        Document {
            path: source.path.clone(),
            counts: Counts::of(of()),
            prefix: if is_first { String::new() } else { format!("document-{number}-") },
            quotes: marks.open_of(&source.path).filter(|(_, mark)| mark.citation.is_some()).count(),
            is_source: is_source(&source.path, facts.no_sources),
            has_text: source.text_path.is_some(),
            warnings: source.warnings.clone(),
            passages: of().map(PassageLine::of).collect(),
            known: BTreeSet::new(),
            carried: Vec::new(),
        }
    };
    (1..).zip(sources).map(document).collect()
}

/// The unanswered passages, with the elements of their first pages.
fn open_passages(document: &Document) -> impl Iterator<Item = serde_json::Value> {
    let open = document.passages.iter().filter(|passage| passage.is_open());
    open.map(|passage| {
        let page = passage.pages.map_or(1, |(first, _)| first);
        json!({"passage": passage, "document": document.path, "page": format!("{}page-{page}", document.prefix)})
    })
}
