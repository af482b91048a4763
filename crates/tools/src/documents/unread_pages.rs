//! Pages whose visible content is mostly missing from the text: each is a passage without text, so that the ledger
//! counts the loss.

use crate::workspace::PassagePlace;
use plumbline_engine::{CutDocument, Passage, Product, Source};

/// A document's passages including those of its unread pages, in page order. `known`: the passages of the job, whose
/// numbers are taken.
pub(crate) fn placed(mut passages: Vec<Passage>, source: &Source, known: &[PassagePlace]) -> Vec<Passage> {
    let others = known.iter().filter(|passage| passage.document != source.path).map(|passage| passage.number);
    let highest = others.chain(passages.iter().map(|passage| passage.number)).max().unwrap_or(0);
    let unread = (highest + 1..).zip(&source.unread_pages).map(|(number, page)| Passage {
        pages: Some((*page, *page)),
        reason: Some(source.why_unread(*page)),
        ..Passage::unread(number, &source.path, 1)
    });
    passages.extend(unread);
    passages.sort_by_key(|passage| (passage.pages, passage.number));
    (1..).zip(&mut passages).for_each(|(ordinal, passage)| passage.ordinal = ordinal);
    passages
}

/// The products for a document without text: the document, and a passage for each page with visible content.
pub(crate) fn of_unreadable(source: Source, known: &[PassagePlace]) -> Vec<Product> {
    let passages = placed(Vec::new(), &source, known);
    let document = source.path.clone();
    let cut = (!passages.is_empty()).then(|| Product::CutDocument(Box::new(CutDocument { document, passages })));
    std::iter::once(Product::AddSource(source)).chain(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_pages_are_listed_among_the_others_with_their_sentence() {
        let warnings =
            vec!["Pages 2, 4 have no text layer; OCR is not available.".to_owned(), "Page 4: damaged.".to_owned()];
        let source = Source { path: "input/a.pdf".into(), warnings, unread_pages: vec![2, 4], ..Source::default() };
        let cut = |number, pages| Passage { pages: Some(pages), ..Passage::unread(number, "input/a.pdf", number) };
        let known = [PassagePlace::from(&Passage::unread(7, "input/b.pdf", 1)), PassagePlace::from(&cut(9, (1, 9)))];
        let placed = placed(vec![cut(1, (1, 3)), cut(2, (3, 5))], &source, &known);
        let shown: Vec<_> = placed.iter().map(|passage| (passage.ordinal, passage.number, passage.pages)).collect();
        assert_eq!(shown, [(1, 1, Some((1, 3))), (2, 8, Some((2, 2))), (3, 2, Some((3, 5))), (4, 9, Some((4, 4)))]);
        assert_eq!(placed[1].reason.as_deref(), Some(&*source.warnings[0]));
        assert_eq!(placed[3].reason, Some(source.warnings.join(" ")));
    }

    #[test]
    fn a_document_without_text_is_a_passage_a_page() {
        let source = Source { path: "input/a.pdf".into(), unread_pages: vec![1, 3], ..Source::default() };
        assert!(matches!(&of_unreadable(source, &[])[..], [_, Product::CutDocument(cut)] if cut.passages.len() == 2));
        assert_eq!(of_unreadable(Source::default(), &[]).len(), 1);
    }
}
