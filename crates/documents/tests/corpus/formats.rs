//! The text of ODT and EPUB files.

use crate::make::{archive, epub, lines, odt, parser, pdf};
use plumbline_documents::{DocumentError, Kind, candidates::Scan, kind_of};

async fn text(kind: Kind, bytes: &[u8]) -> String {
    parser().extract(kind, bytes, None).await.expect("a good document").pages[0].text.clone()
}

#[tokio::test]
async fn an_odt_keeps_headings_lists_tables_and_notes() {
    let styles = r#"<text:list-style style:name="L1"><text:list-level-style-bullet text:level="1"/>
        <text:list-level-style-number text:level="2" style:num-format="1" style:num-suffix="."/></text:list-style>"#;
    let body = r#"<text:tracked-changes><text:p>was deleted</text:p></text:tracked-changes>
        <text:table-of-content><text:index-body><text:p>Duties 1</text:p></text:index-body></text:table-of-content>
        <text:h text:outline-level="2">1 <text:span>Duties</text:span></text:h>
        <text:p>The controller shall<text:s text:c="2"/>keep
           <office:annotation><text:p>really?</text:p></office:annotation>records&#8212;all
           of them<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>For ten years.</text:p>
           </text:note-body></text:note>.</text:p>
        <text:list text:style-name="L1"><text:list-item><text:p>invoices</text:p>
          <text:list><text:list-item><text:p>paid</text:p></text:list-item>
            <text:list-item text:start-value="7"><text:p>open</text:p></text:list-item></text:list></text:list-item>
          <text:list-item><text:p>letters</text:p><text:p>of any kind</text:p></text:list-item></text:list>
        <table:table><table:table-row><table:table-cell><text:p>Kind</text:p></table:table-cell>
          <table:table-cell><text:p>Years</text:p></table:table-cell></table:table-row>
          <table:table-row><table:table-cell><text:p>Invoice</text:p><text:p>or bill</text:p></table:table-cell>
          <table:table-cell><table:table><table:table-row><table:table-cell><text:p>10</text:p></table:table-cell>
          </table:table-row></table:table></table:table-cell>
          <table:table-cell table:number-columns-repeated="16000"/></table:table-row></table:table>
        <text:p>one<text:line-break/>two</text:p>"#;
    let bytes = odt(styles, body);
    assert_eq!(kind_of("input/small.odt", &bytes), Ok(Kind::Odt));
    assert_eq!(kind_of("input/small", &bytes), Ok(Kind::Odt));
    let document = parser().extract(Kind::Odt, &bytes, None).await.expect("a good ODT");
    let expected = "## 1 Duties\n\nThe controller shall  keep records\u{2014}all of them[^1].\n\n[^1]: For ten years.\n\n\
                    - invoices\n  1. paid\n  7. open\n- letters\n\nof any kind\n\n\
                    | Kind | Years |\n| --- | --- |\n| Invoice\u{2028}or bill | 10 |\n\none\ntwo";
    assert_eq!(document.pages[0].text, expected);
    assert_eq!((document.title.as_deref(), document.paged), (Some("Small & simple"), false));
}

#[tokio::test]
async fn an_epub_is_read_in_the_order_of_its_spine() {
    let bytes = epub(
        &["<html><body><h1>One</h1><p>First <em>page</em>.</p></body></html>", "<html><body/></html>", "<p>Last.</p>"],
        &[("META-INF/encryption.xml", b"<e><CipherReference URI=\"OEBPS/fonts/a.otf\"/></e>")],
    );
    assert_eq!(kind_of("input/book.epub", &bytes), Ok(Kind::Epub));
    let document = parser().extract(Kind::Epub, &bytes, None).await.expect("a good EPUB");
    assert_eq!(document.pages[0].text, "# One\n\nFirst page.\n\nLast.");
    assert_eq!(document.title.as_deref(), Some("A small book"));
}

#[tokio::test]
async fn locked_documents_are_called_encrypted() {
    let expected = Err(DocumentError::Encrypted { name: "the document".to_owned() });
    let list = b"<e><enc:CipherReference URI=\"OEBPS/text/page%200.xhtml\"/></e>";
    let book = epub(&["<p>Locked.</p>"], &[("META-INF/encryption.xml", list)]);
    assert_eq!(parser().extract(Kind::Epub, &book, None).await, expected);
    let letter = archive(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("META-INF/manifest.xml", b"<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>"),
        ("content.xml", b"\x01\x02\x03"),
    ]);
    assert_eq!(parser().extract(Kind::Odt, &letter, None).await, expected);
}

#[tokio::test]
async fn entities_of_the_document_itself_are_not_expanded() {
    let levels: String = (1..20).map(|n| format!("<!ENTITY e{n} \"&e{0};&e{0};\">", n - 1)).collect();
    let content = format!(
        "<!DOCTYPE x [<!ENTITY e0 \"ha\">{levels}<!ENTITY file SYSTEM \"file:///etc/passwd\">]>\
         <office:body><text:p>It says &e19; and &file;.</text:p></office:body>"
    );
    let bytes = archive(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("META-INF/manifest.xml", b""),
        ("content.xml", content.as_bytes()),
    ]);
    assert_eq!(text(Kind::Odt, &bytes).await, "It says &e19; and &file;.");
}

#[test]
fn archives_are_distinguished() {
    let (letter, book) = (odt("", "<text:p>x</text:p>"), epub(&["<p>x</p>"], &[]));
    let sheet = archive(&[("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", b"")]);
    for (name, bytes, expected) in [
        ("a.docx", &letter, "a.docx is not a DOCX: it is a document of kind ODT; supply the document saved as .docx"),
        ("a.odt", &book, "a.odt is not a ODT: it is a document of kind EPUB; supply the document saved as .odt"),
        ("a.odt", &sheet, "a.odt is not a ODT: no text document in it; supply the document saved as .odt"),
        ("a.txt", &book, "a.txt is not a text: it is a ZIP archive; give it its own extension, for example .docx"),
    ] {
        assert_eq!(kind_of(name, bytes).expect_err("it is something else").to_string(), expected);
    }
}

#[tokio::test]
async fn two_columns_are_read_one_after_the_other() {
    let column = |name: &str| -> Vec<String> {
        (1..=30).map(|n| format!("{name} line {n} has words enough to fill its column")).collect()
    };
    let (left, right) = (column("left"), column("right"));
    // Drawn row by row, across both columns, as some programs do.
    let rows = left.iter().zip(&right).enumerate().map(|(n, (left, right))| {
        lines(60, 740 - 14 * n as u32, &[left.as_str()]) + &lines(330, 740 - 14 * n as u32, &[right.as_str()])
    });
    let text = text(Kind::Pdf, &pdf(&[rows.collect::<String>()])).await;
    let at = |wanted: &str| text.find(wanted).unwrap_or_else(|| panic!("{wanted} in {text}"));
    assert!(at("left line 1 ") < at("left line 30 ") && at("left line 30 ") < at("right line 1 "), "{text}");
    assert!(at("right line 1 ") < at("right line 30 "), "{text}");
}

#[tokio::test]
async fn text_between_the_tables_of_a_pdf_stays_between_them() {
    let table = |top: u32, first: &str| {
        let columns: [[&str; 3]; 3] = [["Kind", first, "Offers"], ["Years", "10", "6"], ["Where", "Archive", "Office"]];
        columns.iter().zip([72, 220, 380]).map(|(texts, x)| lines(x, top, texts)).collect::<String>()
    };
    let rules =
        |top: u32| (0..4).map(|row| format!("70 {y} m 500 {y} l S\n", y = top + 11 - 14 * row)).collect::<String>();
    for (name, ruled) in [("ruled", true), ("not ruled", false)] {
        let tables = [(700, "Invoices"), (560, "Letters")].map(|(top, first)| {
            let rules = if ruled { rules(top) } else { String::new() };
            table(top, first) + &rules
        });
        let text = lines(72, 740, &["These are kept for ten years or for six."])
            + &lines(72, 610, &["Letters are kept like invoices, unless they are offers."])
            + &lines(72, 460, &["Everything else is thrown away."]);
        let bytes = pdf(&[tables.concat() + &text]);
        let page = parser().extract(Kind::Pdf, &bytes, None).await.unwrap().pages.remove(0).text;
        let places: Vec<Option<usize>> =
            ["ten years or", "Invoices |", "unless", "Letters |", "thrown away"].map(|text| page.find(text)).to_vec();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{name}: {places:?}\n{page}");
    }
}

#[tokio::test]
async fn entries_of_a_list_in_a_cell_are_apart_however_the_page_is_wrapped() {
    let list = "<ul>\n\t<li>The operator shall log\n  the call.</li>\n\t<li>The officer shall sign it.</li>\n</ul>\n";
    let page = format!("<table><tr><th>Id</th><th>Rule</th></tr>\n<tr><td>1</td>\n<td>{list}</td></tr></table>");
    for (kind, bytes) in [(Kind::Html, page.clone().into_bytes()), (Kind::Epub, epub(&[&page], &[]))] {
        let found = Scan::default().sentences(&text(kind, &bytes).await);
        let duties: Vec<&str> = found.iter().filter(|one| one.reason.is_some()).map(|one| one.text.as_str()).collect();
        assert_eq!(duties, ["1 | - The operator shall log the call.", "The officer shall sign it."], "{kind}");
    }
}
