//! Bombs, loops and abysses, one by one.

use crate::make::{archive, assemble, epub, lines, odt, parser, pdf};
use crate::outcomes::LIMITS;
use plumbline_documents::{DocumentError, Ending, Kind, Limits, kind_of};
use std::time::Duration;

/// Enough time for a document with a known result.
const AMPLE: Duration = Duration::from_secs(120);
/// Little time for one that takes any amount.
const SHORT: Duration = Duration::from_secs(4);

/// Reads a document that no name contradicts.
async fn read(kind: Kind, bytes: &[u8]) -> Result<String, DocumentError> {
    read_within(AMPLE, kind, bytes).await
}

/// The same with so much CPU time.
async fn read_within(cpu: Duration, kind: Kind, bytes: &[u8]) -> Result<String, DocumentError> {
    assert_eq!(kind_of(&format!("x.{}", kind.word()), bytes), Ok(kind));
    let read = parser().with_limits(Limits { cpu, ..LIMITS }).extract(kind, bytes, None).await;
    read.map(|document| document.pages.into_iter().map(|page| page.text).collect::<Vec<_>>().join("\n"))
}

async fn refused(kind: Kind, bytes: &[u8]) -> String {
    read(kind, bytes).await.expect_err("it is hostile").to_string()
}

#[tokio::test]
async fn archives_that_grow_are_refused_before_they_do() {
    let zeros = vec![b' '; 100 << 20];
    let letter = archive(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("META-INF/manifest.xml", b""),
        ("content.xml", &zeros),
    ]);
    let said = refused(Kind::Odt, &letter).await;
    assert!(said.contains("content.xml would unpack to more than a document needs"), "{said}");
    let book = epub(&["<p>x</p>"], &[("big", &zeros), ("META-INF/encryption.xml", &zeros)]);
    assert!(refused(Kind::Epub, &book).await.contains("encryption.xml would unpack to more"));
    let report = archive(&[("word/document.xml", &zeros)]);
    assert!(read(Kind::Docx, &report).await.is_err());
    // A book that names one page a hundred thousand times.
    let page = format!("<p>{}</p>", "word ".repeat(10_000));
    let spine = "<itemref idref=\"p\"/>".repeat(100_000);
    let package = format!(
        "<package><manifest><item id=\"p\" href=\"p.html\" media-type=\"text/html\"/></manifest><spine>{spine}</spine></package>"
    );
    let book = archive(&[
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", br#"<c><rootfile full-path="a.opf"/></c>"#),
        ("a.opf", package.as_bytes()),
        ("p.html", page.as_bytes()),
    ]);
    assert!(read_within(SHORT, Kind::Epub, &book).await.is_err());
}

#[tokio::test]
async fn archives_of_archives_and_of_too_much_are_refused() {
    let mut nested = archive(&[("mimetype", b"application/epub+zip"), ("a.opf", b"")]);
    for _ in 0..50 {
        nested = archive(&[
            ("mimetype", b"application/epub+zip"),
            ("META-INF/container.xml", b"<c/>"),
            ("inner.epub", &nested),
        ]);
    }
    assert!(refused(Kind::Epub, &nested).await.contains("it names no package file"));
    let names: Vec<String> = (0..10_001).map(|n| format!("n{n}")).collect();
    let mut entries: Vec<(&str, &[u8])> = vec![("mimetype", b"application/epub+zip")];
    entries.extend(names.iter().map(|name| (name.as_str(), b"".as_slice())));
    assert!(refused(Kind::Epub, &archive(&entries)).await.contains("at most 10000 are read"));
}

#[tokio::test]
async fn deep_nesting_crashes_nothing() {
    let depth = 100_000;
    let lists = format!(
        "{}<text:p>deep</text:p>{}",
        "<text:list><text:list-item>".repeat(depth),
        "</text:list-item></text:list>".repeat(depth)
    );
    let text = read(Kind::Odt, &odt("", &lists)).await.expect("no recursion, no trouble");
    assert_eq!(text.trim_start(), "- deep");
    let cells = format!("{}<text:p>deep</text:p>", "<table:table><table:table-row><table:table-cell>".repeat(depth));
    assert!(read(Kind::Odt, &odt("", &cells)).await.is_err(), "nothing is closed");
    let arrays = assemble(&[format!("<< /Type /Catalog /Pages {} >>", "[".repeat(200_000))]);
    assert!(read(Kind::Pdf, &arrays).await.is_err());
    let divs = format!("<html>{}", "<div>".repeat(1_000_000));
    assert!(read(Kind::Html, divs.as_bytes()).await.is_err());
}

#[tokio::test]
async fn loops_in_a_pdf_end() {
    let own_child = assemble(&[
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 4 >>".to_owned(),
    ]);
    assert!(read(Kind::Pdf, &own_child).await.is_err());
    let draws_itself = assemble(&[
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /XObject << /X 5 0 R >> >> /Contents 4 0 R >>"
            .to_owned(),
        "<< /Length 5 >>\nstream\n/X Do\nendstream".to_owned(),
        "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >> /Length 5 >>\nstream\n\
         /X Do\nendstream"
            .to_owned(),
    ]);
    assert!(read(Kind::Pdf, &draws_itself).await.is_err(), "there is no text in it");
}

#[tokio::test]
async fn numbers_that_lie_are_not_believed() {
    let bytes = pdf(&[lines(72, 700, &["Records shall be kept."])]);
    let text = String::from_utf8(bytes).expect("plain objects");
    for (good, bad) in [
        ("/Count 1", "/Count 4000000000"),
        ("/Count 1", "/Count -1"),
        ("xref\n0 6", "xref\n0 99999999"),
        ("/MediaBox [0 0 612 792]", "/MediaBox [0 0 1e38 -1e38]"),
        ("/Size 6", "/Size 2147483647"),
        ("startxref\n", "startxref\n999999999"),
    ] {
        assert!(text.contains(good), "{good}");
        match read_within(SHORT, Kind::Pdf, text.replace(good, bad).as_bytes()).await {
            Ok(text) => assert!(text.contains("Records shall be kept."), "{bad}: {text}"),
            Err(DocumentError::ParserDied { ending: Ending::OutOfMemory | Ending::OutOfTime, .. }) => {}
            Err(error) => {
                assert!(matches!(error, DocumentError::Damaged { .. } | DocumentError::NoText { .. }), "{bad}: {error}")
            }
        }
    }
}
