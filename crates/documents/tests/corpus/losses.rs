//! What a document has that a reader sees, and what is not in its text is named: each loss in more than one format.

use crate::make::{archive, epub, parser};
use plumbline_documents::{Kind, candidates::Scan, to_text_file};

/// A document's text with page marks, and its warnings.
async fn told(kind: Kind, bytes: &[u8]) -> (String, String) {
    let document = parser().extract(kind, bytes, None).await.expect("a document with text");
    let text = match document.paged {
        true => to_text_file(&document),
        false => document.pages[0].text.clone(),
    };
    (text, document.warnings.join("\n"))
}

#[tokio::test]
async fn forms_buttons_and_formulas_of_a_book_are_read() {
    let page = "<html><body><form><h2><button>Article 5</button></h2><p>At most <math><mi>t</mi><mo>=</mo><mn>200</mn>\
                </math> ms for <input value='each call'/>.</p></form><p><del>Old rule.</del></p></body></html>";
    let (text, warnings) = told(Kind::Epub, &epub(&[page], &[])).await;
    assert_eq!(text, "## Article 5\n\nAt most t=200 ms for each call .");
    assert_eq!(warnings, "Left out as struck out: \u{ab}Old rule.\u{bb}.");
}

#[tokio::test]
async fn decomposed_letters_are_composed_in_every_format() {
    let word = "Bu\u{308}cher mu\u{308}ssen";
    let body = format!("<p>{word}</p>");
    let word_file = format!(
        "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body><w:p><w:r><w:t>{word}\
         </w:t></w:r></w:p></w:body></w:document>"
    );
    for (kind, bytes) in [
        (Kind::Text, word.as_bytes().to_vec()),
        (Kind::Table, format!("Id;Rule\n1;{word}").into_bytes()),
        (Kind::Html, body.clone().into_bytes()),
        (Kind::Epub, epub(&[&body], &[])),
        (Kind::Odt, crate::make::odt("", &format!("<text:p>{word}</text:p>"))),
        (Kind::Docx, crate::make::docx(&word_file, &[])),
    ] {
        let (text, warnings) = told(kind, &bytes).await;
        assert!(text.contains("B\u{fc}cher m\u{fc}ssen"), "{kind}: {text}");
        assert_eq!(warnings, "", "{kind}");
    }
}

#[tokio::test]
async fn a_bad_byte_is_one_character_in_text_tables_pages_and_books() {
    let bytes = |before: &str, after: &str| [before.as_bytes(), b"\xff", after.as_bytes()].concat();
    let page = bytes("<p>Pr\u{fc}fung ", " muss sein.</p>");
    let book = archive(&[
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", br#"<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>"#),
        (
            "b.opf",
            b"<package><manifest><item id='a' href='a.xhtml' media-type='application/xhtml+xml'/></manifest><spine>\
              <itemref idref='a'/></spine></package>",
        ),
        ("a.xhtml", &page),
    ]);
    for (kind, bytes) in [
        (Kind::Text, bytes("Pr\u{fc}fung ", " muss sein.")),
        (Kind::Markdown, bytes("# Pr\u{fc}fung\n\n", " muss sein.")),
        (Kind::Table, bytes("Id;Pr\u{fc}fung\n1;", " muss sein.")),
        (Kind::Html, page),
        (Kind::Epub, book),
    ] {
        let (text, warnings) = told(kind, &bytes).await;
        assert!(text.contains("Pr\u{fc}fung") && text.contains("\u{fffd}"), "{kind}: {text}");
        assert!(warnings.contains("1 character is no proper UTF-8"), "{kind}: {warnings}");
    }
}

#[tokio::test]
async fn a_sentence_over_the_end_of_a_printed_page_is_one() {
    let page = |number: u32, text: &str| {
        format!("Rules                 Example\n\n\n   {text}\n\n\nDoe                   [Page {number}]\n\u{c}\n")
    };
    let text = page(3, "The sender MUST keep it.  A receiver that does") + &page(4, "not keep it MUST say so.");
    let (text, warnings) = told(Kind::Text, text.as_bytes()).await;
    assert!(text.contains("[page 1]") && text.contains("[page 2]") && !text.contains("Page 3"), "{text}");
    assert!(warnings.contains("running header or footer: \u{ab}Doe [Page 3]\u{bb}"), "{warnings}");
    let sentences = Scan::default().sentences(&text);
    let last = sentences.last().expect("a sentence");
    assert!(last.reason.is_some() && last.text == "A receiver that does not keep it MUST say so.", "{sentences:?}");
}
