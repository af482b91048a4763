//! Visible content that is missing from the text is reported: each loss in several formats.

use crate::make::{archive, assemble, docx, epub, lines, odt, odt_with, parser, pdf};
use plumbline_documents::{Kind, candidates::Scan, to_text_file};

/// A document's text with page marks, and its warnings.
pub(crate) async fn told(kind: Kind, bytes: &[u8]) -> (String, String) {
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
        (Kind::Odt, odt("", &format!("<text:p>{word}</text:p>"))),
        (Kind::Docx, docx(&word_file, &[])),
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

const W: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
                 xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" \
                 xmlns:m=\"http://schemas.openxmlformats.org/officeDocument/2006/math\"";

pub(crate) fn word(body: &str, more: &[(&str, &[u8])]) -> Vec<u8> {
    docx(&format!("<w:document {W}><w:body>{body}<w:sectPr/></w:body></w:document>"), more)
}

pub(crate) fn run(properties: &str, text: &str) -> String {
    format!("<w:r><w:rPr>{properties}</w:rPr><w:t xml:space=\"preserve\">{text}</w:t></w:r>")
}

#[tokio::test]
async fn formulas_are_text_in_word_processing() {
    let body = format!(
        "<w:p>{}<m:oMath><m:r><m:t>t=200</m:t></m:r></m:oMath>{}</w:p>",
        run("", "The time shall be at most "),
        run("", " ms.")
    );
    let (text, _) = told(Kind::Docx, &word(&body, &[])).await;
    assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), "The time shall be at most t=200 ms.");
    let math = b"<math><mi>t</mi><mo>=</mo><mn>200</mn></math>";
    let letter = odt_with(
        "",
        "<text:p>The time shall be at most <draw:frame><draw:object xlink:href=\"./Object 1\"/></draw:frame> ms.</text:p>",
        &[("Object 1/content.xml", math)],
    );
    let (text, _) = told(Kind::Odt, &letter).await;
    assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), "The time shall be at most t=200 ms.");
}

#[tokio::test]
async fn hidden_struck_and_deleted_text_is_left_out_and_named_in_word_processing() {
    let body = format!(
        "<w:p>{}{}{}</w:p><w:p><w:moveFrom w:id=\"1\">{}</w:moveFrom><w:del w:id=\"2\"><w:r><w:delText>Gone.</w:delText></w:r>\
         </w:del></w:p>",
        run("", "Logs shall be kept."),
        run("<w:vanish/>", "Draft note."),
        run("<w:strike/>", "Old rule."),
        run("", "Moved.")
    );
    let styles = "<style:style style:name=\"H\"><style:text-properties text:display=\"none\"/></style:style><style:style \
                  style:name=\"S\"><style:text-properties style:text-line-through-style=\"solid\"/></style:style>";
    let letter = "<text:tracked-changes><text:changed-region><text:deletion><text:p>Gone.</text:p></text:deletion>\
                  </text:changed-region></text:tracked-changes><text:p>Logs shall be kept.<text:span text:style-name=\"H\">\
                  Draft note.</text:span><text:span text:style-name=\"S\">Old rule.</text:span></text:p>";
    for (kind, bytes) in [(Kind::Docx, word(&body, &[])), (Kind::Odt, odt_with(styles, letter, &[]))] {
        let (text, warnings) = told(kind, &bytes).await;
        assert_eq!(text, "Logs shall be kept.", "{kind}");
        for said in
            ["hidden: \u{ab}Draft note.\u{bb}", "struck out: \u{ab}Old rule.\u{bb}", "change: \u{ab}Gone.\u{bb}"]
        {
            assert!(warnings.contains(said), "{kind}: {said} in {warnings}");
        }
    }
}

#[tokio::test]
async fn pieces_of_other_documents_are_read_or_named() {
    let links = br#"<Relationships><Relationship Id="a" Type="x/aFChunk" Target="a.html"/>
        <Relationship Id="b" Type="x/aFChunk" Target="/word/b.txt"/><Relationship Id="c" Type="x/aFChunk" Target="c.rtf"/>
        </Relationships>"#;
    let body = format!(
        "<w:p>{}</w:p><w:altChunk r:id=\"a\"/><w:altChunk r:id=\"b\"/><w:altChunk r:id=\"c\"/><w:p>{}</w:p>",
        run("", "1 Scope"),
        run("", "3 End")
    );
    let bytes = word(
        &body,
        &[
            ("word/_rels/document.xml.rels", links),
            ("word/a.html", b"<h2>2 Copies</h2><p>They shall be encrypted.</p>"),
            ("word/b.txt", b"They shall be tested."),
            ("word/c.rtf", b"{\\rtf1}"),
        ],
    );
    let (text, warnings) = told(Kind::Docx, &bytes).await;
    assert_eq!(text, "1 Scope\n\n## 2 Copies\n\nThey shall be encrypted.\n\nThey shall be tested.\n\n\n\n3 End");
    assert_eq!(warnings, "Not in the text: a part in another format, \u{ab}word/c.rtf\u{bb}.");
}

#[tokio::test]
async fn headers_comments_attachments_and_objects_of_word_processing_are_named() {
    let header = format!("<w:hdr {W}><w:p>{}</w:p></w:hdr>", run("", "Rules of 2024"));
    let comments = format!("<w:comments {W}><w:comment><w:p>{}</w:p></w:comment></w:comments>", run("", "Really ten?"));
    let bytes = word(
        &format!("<w:p>{}</w:p>", run("", "Logs shall be kept.")),
        &[
            ("word/header1.xml", header.as_bytes()),
            ("word/comments.xml", comments.as_bytes()),
            ("word/embeddings/prices.xlsx", b"PK"),
        ],
    );
    let (_, warnings) = told(Kind::Docx, &bytes).await;
    for said in [
        "header or footer: \u{ab}Rules of 2024\u{bb}",
        "a comment: \u{ab}Really ten?\u{bb}",
        "file, \u{ab}prices.xlsx\u{bb}",
    ] {
        assert!(warnings.contains(said), "{said} in {warnings}");
    }
    let letter = "<text:p>Logs shall be kept.<office:annotation><dc:creator>Me</dc:creator><text:p>Really ten?</text:p>\
                  </office:annotation><draw:frame><draw:object xlink:href=\"./Object 2\"/></draw:frame></text:p>";
    let letter = odt_with("", letter, &[("Object 2/content.xml", b"<office:document-content/>")]);
    let (text, warnings) = told(Kind::Odt, &letter).await;
    assert_eq!(text, "Logs shall be kept.");
    for said in ["a comment: \u{ab}Really ten?\u{bb}", "object, \u{ab}Object 2\u{bb}"] {
        assert!(warnings.contains(said), "{said} in {warnings}");
    }
}

#[tokio::test]
async fn what_was_filled_into_forms_is_text() {
    let field = "<w:r><w:fldChar w:fldCharType=\"begin\"><w:ffData><w:ddList><w:listEntry w:val=\"within 14 days\"/></w:ddList>\
                 </w:ffData></w:fldChar></w:r><w:r><w:instrText> FORMDROPDOWN </w:instrText></w:r><w:r><w:fldChar \
                 w:fldCharType=\"end\"/></w:r>";
    let body = format!("<w:p>{}{field}</w:p>", run("", "It shall deliver "));
    assert_eq!(told(Kind::Docx, &word(&body, &[])).await.0, "It shall deliver within 14 days");
    let letter = "<office:forms><form:form><form:text form:id=\"c1\" form:current-value=\"within 14 days\"/></form:form>\
                  </office:forms><text:p>It shall deliver <draw:control draw:control=\"c1\"/></text:p>";
    assert_eq!(told(Kind::Odt, &odt_with("", letter, &[])).await.0, "It shall deliver within 14 days");
}

#[tokio::test]
async fn a_document_is_found_by_its_relations_and_read_whatever_its_prefix() {
    let links = br#"<Relationships><Relationship Id="r1" Type="x/officeDocument" Target="/word/document2.xml"/></Relationships>"#;
    let main = format!(
        "<x:document {}><x:body><x:p><x:r><x:t>It shall.</x:t></x:r></x:p></x:body></x:document>",
        W.replace("xmlns:w", "xmlns:x")
    );
    let bytes = archive(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("_rels/.rels", links),
        ("word/document2.xml", main.as_bytes()),
    ]);
    assert_eq!(plumbline_documents::kind_of("a.docx", &bytes), Ok(Kind::Docx));
    assert_eq!(told(Kind::Docx, &bytes).await.0, "It shall.");
}

/// A PDF of one page with these annotations, objects from number 8 on, and catalogue entries; object 7 is a font without
/// Unicode.
pub(crate) fn pdf_page(stream: &str, catalogue: &str, annotations: &str, more: &[&str]) -> Vec<u8> {
    let mut objects = vec![
        format!("<< /Type /Catalog /Pages 2 0 R {catalogue} >>"),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 5 0 R /F2 7 0 R >> >> /Contents 4 0 R \
             /Annots [{annotations}] >>"
        ),
        format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /AAAAAA+Own /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) \
         /Supplement 0 >> /DW 500 >>"
            .to_owned(),
        "<< /Type /Font /Subtype /Type0 /BaseFont /AAAAAA+Own /Encoding /Identity-H /DescendantFonts [6 0 R] >>".to_owned(),
    ];
    objects.extend(more.iter().map(|object| (*object).to_owned()));
    assemble(&objects)
}

#[tokio::test]
async fn a_picture_of_a_page_with_a_stamp_is_named() {
    let picture =
        |size: u32| format!("q {size} 0 0 {} 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q\n", size * 842 / 595);
    let stamp = lines(70, 20, &["CONFIDENTIAL 000017"]);
    let prose = lines(70, 500, &["The operator shall keep a register of all copies."]);
    for (stream, is_named) in [
        (picture(595) + &stamp, true),
        (picture(595) + &lines(300, 400, &["COPY"]), true),
        (picture(595) + &prose, false),
        (picture(595) + "3 Tr " + &prose, false),
        (picture(300) + &stamp, false),
        (stamp.clone(), false),
    ] {
        let (_, warnings) = told(Kind::Pdf, &pdf_page(&stream, "", "", &[])).await;
        assert_eq!(
            warnings.contains("Page 1 is a picture with little text beside it"),
            is_named,
            "{stream}: {warnings}"
        );
    }
    for (stream, is_named) in [
        (picture(300) + &prose, true),
        (picture(100) + &prose, false),
        (picture(595) + &prose, false),
        (picture(300) + "3 Tr " + &prose, false),
    ] {
        let (_, warnings) = told(Kind::Pdf, &pdf_page(&stream, "", "", &[])).await;
        assert_eq!(warnings.contains("Page 1 shows a picture; what it says is not in the text"), is_named, "{stream}");
    }
}

#[tokio::test]
async fn values_of_a_pdfs_form_are_at_their_places() {
    let stream = lines(70, 780, &["Tender form. The tenderer offers:"])
        + &lines(70, 750, &["Deadline:"])
        + &lines(70, 600, &["Signed."]);
    let typed = "<< /Subtype /FreeText /Contents (Typed on the page.) /Rect [70 500 300 520] >>";
    let hidden = "<< /Subtype /Widget /FT /Tx /V (Hidden value.) /F 2 /Rect [130 700 530 720] >>";
    let cases = [
        ("<< /Subtype /Widget /FT /Tx /V (within 14 days) /Rect [130 745 530 765] >>", "within 14 days"),
        (
            "<< /Subtype /Widget /FT /Ch /V (a) /Opt [[(a) (within 14 days)] [(b) (later)]] /Rect [130 745 530 765] >>",
            "within 14 days",
        ),
        ("<< /Subtype /Widget /Parent << /FT /Tx /V <FEFF00FC006200650072> >> /Rect [130 745 530 765] >>", "\u{fc}ber"),
        ("<< /Subtype /Widget /FT /Btn /AS /Yes /TU (Express) /Rect [130 745 530 765] >>", "[x] Express"),
        ("<< /Subtype /Widget /FT /Tx /AP << /N 8 0 R >> /Rect [130 745 530 765] >>", "drawn alone"),
        (
            "<< /Subtype /Widget /FT /Tx /RV (<body><p>set with care</p></body>) /Rect [130 745 530 765] >>",
            "set with care",
        ),
        (
            "<< /Subtype /Widget /FT /Ch /V [(a) (c)] /Opt [[(a) (on paper)] [(c) (by mail)]] /Rect [130 745 530 765] >>",
            "on paper; by mail",
        ),
        (
            "<< /Subtype /Widget /FT /Btn /Ff 65536 /MK << /CA (It shall be sent) >> /Rect [130 745 530 765] >>",
            "It shall be sent",
        ),
        ("<< /Subtype /FreeText /RC (<body><p>rich words</p></body>) /Rect [130 745 530 765] >>", "rich words"),
    ];
    let drawn = "<< /Subtype /Form /BBox [0 0 400 20] /Resources << /Font << /F1 5 0 R >> >> /Length 34 >>\nstream\n\
                 BT /F1 11 Tf (drawn alone) Tj ET  \nendstream";
    for (field, value) in cases {
        let (text, _) = told(Kind::Pdf, &pdf_page(&stream, "", &format!("{field} {typed} {hidden}"), &[drawn])).await;
        let at = |wanted: &str| text.find(wanted).unwrap_or_else(|| panic!("{wanted} in {text}"));
        assert!(
            at("Deadline:") < at(value) && at(value) < at("Signed.") && at("Signed.") < at("Typed on the page."),
            "{text}"
        );
        assert!(!text.contains("Hidden value"), "{text}");
    }
}

#[tokio::test]
async fn content_of_a_pdf_outside_its_pages_is_named() {
    let stream = lines(70, 780, &["A text that can be read."]);
    let note = "<< /Subtype /Text /Contents (Really ten years?) /Rect [0 0 9 9] >> << /Subtype /FileAttachment /FS << /F (prices.xlsx) >> \
                /Rect [0 0 9 9] >>";
    let files = "/Names << /EmbeddedFiles << /Kids [<< /Names [(a) << /UF (annex.docx) >>] >>] >> >>";
    let (_, warnings) = told(Kind::Pdf, &pdf_page(&stream, files, note, &[])).await;
    for said in [
        "Page 1: not in the text: a comment, \u{ab}Really ten years?\u{bb}.",
        "Page 1: not in the text: an attached file, \u{ab}prices.xlsx\u{bb}.",
        "Not in the text: an attached file, \u{ab}annex.docx\u{bb}.",
    ] {
        assert!(warnings.contains(said), "{said} in {warnings}");
    }
    let forms = "/AcroForm << /Fields [<< /T (a) /Kids [<< /T (b) /FT /Tx /V (within 14 days) >>] >>] >>";
    let notes = "<< /Subtype /Polygon /Contents (Not this one?) >> << /Subtype /Watermark /AP << /N 8 0 R >> >> \
                 << /Subtype /Popup /Contents (Not this one?) >> << /Subtype /Widget /FT /Tx /V (Hidden value.) /F 2 >>";
    let drawn = "<< /Subtype /Form /BBox [0 0 400 20] /Resources << /Font << /F1 5 0 R >> >> /Length 31 >>\nstream\n\
                 BT /F1 11 Tf (A draft.) Tj ET  \nendstream";
    let (_, warnings) = told(Kind::Pdf, &pdf_page(&stream, forms, notes, &[drawn])).await;
    let expected = [
        "Not in the text: a field without a place on a page, \u{ab}within 14 days\u{bb}.",
        "Page 1: not in the text: a comment, \u{ab}Not this one?\u{bb}.",
        "Page 1: not in the text: words drawn over the page, \u{ab}A draft.\u{bb}.",
        "Page 1: left out as hidden: \u{ab}Hidden value.\u{bb}.",
    ];
    assert_eq!(warnings.lines().collect::<Vec<_>>(), expected);
    let packet = "<template><draw><value><text>Submit it.</text></value></draw></template>";
    let packet = format!("<< /Length {} >>\nstream\n{packet}\nendstream", packet.len());
    let form = "/AcroForm << /Fields [] /XFA [(template) 8 0 R] >> /NeedsRendering true";
    let document = parser().extract(Kind::Pdf, &pdf_page(&stream, form, "", &[&packet]), None).await.expect("a page");
    assert!(
        document.warnings[0].contains("XFA form") && document.warnings[0].contains("Submit it."),
        "{:?}",
        document.warnings
    );
    assert_eq!(document.unread, [1]);
}

#[tokio::test]
async fn the_description_of_a_link_is_no_comment() {
    let stream = lines(70, 780, &["A text that can be read."]);
    for (kind, words, said) in [
        ("Link", "The board of the institute, on another page", ""),
        ("Link", "https://example.com/rules", ""),
        (
            "Link",
            "The operator shall keep it.",
            "Page 1: not in the text: a description of a link, \u{ab}The operator shall keep it.\u{bb}.",
        ),
        ("Text", "The board of it?", "Page 1: not in the text: a comment, \u{ab}The board of it?\u{bb}."),
    ] {
        let note = format!("<< /Subtype /{kind} /Contents ({words}) /Rect [0 0 9 9] >>");
        assert_eq!(told(Kind::Pdf, &pdf_page(&stream, "", &note, &[])).await.1, said, "{kind} {words}");
    }
}

#[tokio::test]
async fn pages_that_cannot_be_decoded_are_named() {
    let readable = lines(70, 780, &["The operator shall keep a register of all of it, and of more."]);
    let code = "BT /F2 11 Tf 1 0 0 1 70 750 Tm <0037004b004800030056> Tj ET";
    let document = parser().extract(Kind::Pdf, &pdf_page(&(readable + code), "", "", &[]), None).await.expect("a page");
    assert_eq!(document.warnings, ["Page 1: 5 characters could not be decoded; OCR is not available."]);
    assert_eq!(document.unread, [0; 0], "most of it can be read");
    let most = lines(70, 780, &["Title"]) + &code.repeat(3);
    let document = parser().extract(Kind::Pdf, &pdf_page(&most, "", "", &[]), None).await.expect("a page");
    assert_eq!((document.pages[0].text.contains("Title"), document.unread), (true, vec![1]));
}

#[tokio::test]
async fn clean_up_removes_no_sentence_of_a_pdf() {
    let page = |n: u32| {
        lines(70, 770, &["Rules of the board 2024"])
            + &lines(
                70,
                740,
                &[&format!("Form {n} shall be kept for {n} years."), &format!("The owner must sign form {n}.")],
            )
            + &lines(70, 40, &[&format!("Page {n} of 9")])
    };
    let (text, warnings) = told(Kind::Pdf, &pdf(&(1..=9).map(page).collect::<Vec<_>>())).await;
    for n in 1..=9 {
        assert!(text.contains(&format!("Form {n} shall be kept for {n} years.")), "{n}: {text}");
    }
    assert!(!text.contains("Rules of the board") && !text.contains("of 9"), "{text}");
    assert!(
        warnings.contains("Pages 1-9: left out as a running header or footer: \u{ab}Rules of the board 2024\u{bb}."),
        "{warnings}"
    );
    let alone: Vec<String> = (1..=9).map(|n| lines(70, 780, &[&format!("Form {n} shall be kept.")])).collect();
    assert_eq!(told(Kind::Pdf, &pdf(&alone)).await.0.matches("shall be kept").count(), 9);
}

#[tokio::test]
async fn headings_and_rules_with_numbers_of_their_own_stay_on_each_page_of_a_pdf() {
    let edge = |n: usize| {
        [
            format!("R-{n} Login"),
            format!("Article {n}"),
            format!("Logs of class C{n} shall be read by the owner."),
            format!("Form A shall be kept for {n} years."),
        ]
    };
    for line in 0..4 {
        for y in [770, 40] {
            let page = |n: usize| {
                lines(70, y, &[&edge(n)[line]])
                    + &lines(70, 500, &[&format!("Text number {} of the page.", n * 7), "And more of it."])
            };
            let (text, warnings) = told(Kind::Pdf, &pdf(&(1..=9).map(page).collect::<Vec<_>>())).await;
            assert!((1..=9).all(|n| text.contains(&edge(n)[line])), "{text}");
            assert_eq!(warnings, "");
        }
    }
}

#[tokio::test]
async fn bytes_before_a_pdf_are_none_of_it() {
    let bytes = pdf(&[lines(70, 780, &["It shall keep a register."])]);
    for before in [b"\xef\xbb\xbf".as_slice(), b"\r\n", b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n"] {
        let bytes = [before, &bytes].concat();
        assert_eq!(plumbline_documents::kind_of("a.pdf", &bytes), Ok(Kind::Pdf));
        assert_eq!(plumbline_documents::kind_of("a", &bytes), Ok(Kind::Pdf));
        assert!(told(Kind::Pdf, &bytes).await.0.contains("It shall keep a register."));
        assert_eq!(parser().probe("a.pdf", &bytes).await.expect("it opens").pages, Some(1));
    }
}

/// A page whose content is drawn after that transformation.
fn turned(rotate: u16, drawn: &str) -> Vec<u8> {
    let text =
        lines(72, 700, &["1. Duties", "The operator must keep each record and", "must delete it after ten years."])
            + &lines(72, 600, &["The vendor shall report breaches within", "one day of their discovery."]);
    let content = format!("q {drawn} cm\n{text}Q");
    assemble(&[
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 800 800] /Rotate {rotate} /Contents 4 0 R /Resources << /Font \
             << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> >> >> >>"
        ),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
    ])
}

#[tokio::test]
async fn a_turned_page_is_read_in_the_order_that_its_text_runs() {
    let (upright, _) = told(Kind::Pdf, &turned(0, "1 0 0 1 0 0")).await;
    assert!(upright.contains("must keep each record and must delete it after ten years.\n\nThe vendor"), "{upright}");
    let up = "0 1 -1 0 800 0";
    let over = "-1 0 0 -1 800 800";
    let down = "0 -1 1 0 0 800";
    let crooked = "-0.03 0.9995 -0.9995 -0.03 820 0";
    for (rotate, drawn) in [(90, up), (180, over), (270, down), (0, up), (0, over), (180, "1 0 0 1 0 0"), (90, crooked)]
    {
        assert_eq!(
            told(Kind::Pdf, &turned(rotate, drawn)).await,
            (upright.clone(), String::new()),
            "{rotate}, {drawn}"
        );
    }
}
