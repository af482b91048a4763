//! Documents with the real parser child: the text of good ones, and the errors of bad ones.

use plumbline_documents::quotes::{Match, SourceText};
use plumbline_documents::{
    DocumentError, Ending, Extracted, Kind, Limits, Parser, from_text_file, kind_of, to_text_file,
};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;

const CEILING: Duration = include!("../../../tests/src/wait/ceiling.rs");

/// The stand-in for `plumbline __extract`, which `cargo test` builds with this test.
fn child() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own program");
    let folder = test.parent().and_then(Path::parent).expect("tests lie in target/<profile>/deps");
    let child = folder.join("examples/extract_child");
    assert!(child.exists(), "{} is missing: build it with cargo test -p plumbline-documents", child.display());
    child
}

fn parser() -> Parser {
    Parser::new(child())
}

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn sample(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/sample").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The error message for a document that cannot be read.
async fn refusal(name: &str, bytes: &[u8]) -> String {
    match parser().probe(name, bytes).await {
        Err(error) => error.to_string(),
        Ok(probe) => match parser().extract(probe.kind, bytes, None).await {
            Err(error) => error.with_name(name).to_string(),
            Ok(text) => panic!("{name} was read: {text:?}"),
        },
    }
}

fn texts(document: &Extracted) -> Vec<(u32, &str)> {
    document.pages.iter().map(|page| (page.number, page.text.as_str())).collect()
}

#[tokio::test]
async fn a_pdf_comes_page_by_page_without_its_furniture() {
    let bytes = fixture("small.pdf");
    let probe = parser().probe("input/small.pdf", &bytes).await.expect("a good PDF");
    assert_eq!((probe.kind, probe.pages), (Kind::Pdf, Some(4)));
    let document = parser().extract(Kind::Pdf, &bytes, None).await.expect("a good PDF");
    let expected = [
        (
            1,
            "## 1 Duties\n\nThe controller shall keep all documents for ten years. Every well-known rule applies. The \
             duty to keep records\n\nA second paragraph stands apart.",
        ),
        (2, "goes on over the end of the page.\n\nBackups must be tested twice a year."),
        (3, "### 1.1 Details\n\nThird page. A document is well-known here."),
        (4, "Fourth page, the last of the policy."),
    ];
    assert_eq!(texts(&document), expected);
    assert_eq!((document.title.as_deref(), document.paged), (Some("Small policy"), true));
    assert_eq!(document.warnings.len(), 2, "its running header and footer are named: {:?}", document.warnings);
    assert_eq!(from_text_file(&to_text_file(&document)).pages, document.pages);
}

#[tokio::test]
async fn a_page_reads_the_same_whichever_pages_are_asked_for() {
    let bytes = fixture("small.pdf");
    let all = parser().extract(Kind::Pdf, &bytes, None).await.expect("a good PDF");
    let some = parser().extract(Kind::Pdf, &bytes, Some(2..=3)).await.expect("pages there are");
    assert_eq!(some.pages, all.pages[1..3]);
    for (asked, named) in [(0..=1, "page 0"), (5..=5, "page 5"), (3..=9, "page 9")] {
        let error = parser().extract(Kind::Pdf, &bytes, Some(asked)).await.expect_err("no such pages").to_string();
        assert!(error.contains(named) && error.contains("ask for pages 1 to 4"), "{error}");
    }
}

#[tokio::test]
async fn a_docx_keeps_headings_lists_and_tables() {
    let document = parser().extract(Kind::Docx, &fixture("small.docx"), None).await.expect("a good DOCX");
    let expected = "# 1 Duties\n\nThe controller shall keep records.\n\n- invoices\n- letters\n1. collect\n2. file\n\n\
                    | Kind | Years |\n| --- | --- |\n| Invoice | 8 |";
    assert_eq!(texts(&document), [(1, expected)]);
    assert_eq!((document.title.as_deref(), document.paged), (Some("Small policy"), false));
    assert!(!to_text_file(&document).contains("[page"));
}

#[tokio::test]
async fn html_and_text_are_read_too() {
    let html = b"<html><body><h1>Policy</h1><p>Records <em>must</em> be kept.</p><script>x()</script></body></html>";
    let document = parser().extract(Kind::Html, html, None).await.expect("a page");
    assert_eq!(texts(&document), [(1, "# Policy\n\nRecords must be kept.")]);
    let document = parser().extract(Kind::Text, b"Die Pr\xfcfung ist n\xf6tig.", None).await.expect("text");
    assert_eq!(texts(&document), [(1, "Die Prüfung ist nötig.")]);
    assert_eq!(document.warnings, ["The text is not UTF-8; it was read as windows-1252."]);
}

#[tokio::test]
async fn a_pdf_without_words_is_an_error_and_one_with_some_a_warning() {
    let error = refusal("input/scan.pdf", &fixture("scan.pdf")).await;
    assert!(error.starts_with("input/scan.pdf: all 2 pages have no text layer; OCR is not available"), "{error}");
    let document = parser().extract(Kind::Pdf, &fixture("partly_scanned.pdf"), None).await.expect("one page has text");
    assert_eq!(document.warnings, ["Pages 2-3 have no text layer; OCR is not available."]);
    assert_eq!(document.pages.len(), 3, "pages without text keep their place");
}

#[tokio::test]
async fn encryption_with_a_password_is_refused_and_without_one_is_none() {
    let expected = "input/encrypted.pdf is encrypted; supply it without a password";
    assert_eq!(refusal("input/encrypted.pdf", &fixture("encrypted.pdf")).await, expected);
    let document =
        parser().extract(Kind::Pdf, &fixture("owner_password.pdf"), None).await.expect("no password to open");
    assert_eq!(texts(&document), [(1, "A text that was encrypted.")]);
}

#[tokio::test]
async fn damaged_documents_are_refused_in_one_sentence() {
    let (pdf, docx) = (fixture("small.pdf"), fixture("small.docx"));
    for (name, bytes) in [
        ("input/cut.pdf", &pdf[..40]),
        ("input/cut.docx", &docx[..docx.len() / 2]),
        ("input/header.pdf", b"%PDF-1.7\nnothing else\n".as_slice()),
    ] {
        let error = refusal(name, bytes).await;
        assert!(error.starts_with(&format!("{name} could not be read: ")) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn content_and_name_must_agree() {
    let pdf = fixture("small.pdf");
    let compound = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 and so on".as_slice();
    for (name, bytes, expected) in [
        ("a/small.pdf", pdf.as_slice(), "PDF"),
        ("a/SMALL.PDF", &pdf, "PDF"),
        ("a/small", &pdf, "PDF"),
        ("a/notes.txt", b"plain", "text"),
        ("a/notes.xyz", b"plain", "text"),
        ("a/notes.md", b"# plain", "Markdown text"),
        ("a/page", b"<!DOCTYPE html><p>x", "HTML page"),
        (
            "a/x.pdf",
            b"just text",
            "a/x.pdf is not a PDF: it does not begin with %PDF-; rename it to .txt or supply the PDF",
        ),
        ("a/x.pdf", b"", "a/x.pdf is empty; supply a document with content"),
        (
            "a/x.doc",
            compound,
            "a/x.doc is a legacy Word document (.doc), which cannot be read; save it as .docx or PDF",
        ),
        (
            "a/x.docx",
            compound,
            "a/x.docx is a legacy Word document (.doc), which cannot be read; save it as .docx or PDF",
        ),
        (
            "a/x.docx",
            b"PK\x03\x04zip",
            "a/x.docx is not a DOCX: no Word document in it; supply the document saved as .docx",
        ),
        ("a/x.txt", &pdf, "a/x.txt is not a text: it begins with %PDF-; rename it to .pdf"),
        (
            "a/x.bin",
            b"\x00\x01\x02",
            "a/x.bin is a binary file, which cannot be read; supply PDF, DOCX, ODT, EPUB, HTML, Markdown or text",
        ),
        (
            "a/x.png",
            b"\x89PNG\r\n\x1a\n\0",
            "a/x.png is an image, which cannot be read; OCR is not available, supply its text",
        ),
    ] {
        let said = kind_of(name, bytes).map_or_else(|error| error.to_string(), |kind| kind.to_string());
        assert_eq!(said, expected);
    }
}

#[test]
fn what_cannot_be_read_is_refused_by_its_right_name() {
    let compound = |name: &str| -> Vec<u8> {
        let name = name.encode_utf16().flat_map(u16::to_le_bytes);
        b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1".iter().copied().chain(name).collect()
    };
    let mail = b"From: a@example.org\r\nSubject: =?utf-8?q?x?=\r\n y\r\nMIME-Version: 1.0\r\n\r\nVGhl\r\n".as_slice();
    let page = b"MIME-Version: 1.0\nContent-Type: multipart/related;\n\tboundary=x\n\n--x\n";
    // An archive whose one entry, stored as it is, is a document.
    let holding = |name: &str| {
        let directory = [b"PK\x01\x02".as_slice(), name.as_bytes()].concat();
        let document = b"PK\x03\x04word/document.xml[Content_Types].xml";
        let end = [b"PK\x05\x06".as_slice(), &[0; 12], &(document.len() as u32).to_le_bytes(), &[0; 2]].concat();
        [document.as_slice(), &directory, &end].concat()
    };
    let exchange = b"<?xml version='1.0'?>\n<REQ-IF xmlns='x'/>".as_slice();
    for (name, bytes, what) in [
        ("a.eml", mail, "an e-mail,"),
        ("mail", mail, "an e-mail,"),
        ("mail.txt", mail, "an e-mail,"),
        ("a.mhtml", page, "a web page in a mail archive"),
        ("a.mht", b"From: x", "a web page in a mail archive"),
        ("a.txt", page, "a web page in a mail archive"),
        ("a.reqif", exchange, "a requirements exchange file (ReqIF)"),
        ("a.xml", exchange, "a requirements exchange file (ReqIF)"),
        ("a.reqifz", b"PK\x03\x04...", "a requirements exchange file (ReqIF)"),
        ("a.zip", b"PK\x03\x04...a.reqif", "an archive"),
        ("export", b"PK\x03\x04...a.reqif", "a requirements exchange file (ReqIF)"),
        ("tender", b"PK\x03\x04...xl/workbook.xml", "a spreadsheet"),
        ("a.msg", &compound("__properties_version1.0"), "an e-mail of Outlook (.msg)"),
        ("mail", &compound("__properties_version1.0"), "an e-mail of Outlook (.msg)"),
        ("a.docx", &compound("Workbook"), "a spreadsheet"),
        ("a.ics", b"BEGIN:VCALENDAR", "a calendar file"),
        ("a.p7m", b"MIIB", "a signed or encrypted e-mail (.p7m)"),
        ("a.rtf", b"{\\rtf1 x}", "a rich text document (.rtf)"),
        ("note", b"{\\rtf1 x}", "a rich text document (.rtf)"),
        ("scan", b"\xff\xd8\xff\xe0\0", "an image"),
        (
            "a.xml",
            b"<?xml version='1.0'?><?mso-application progid='Word.Document'?><w/>",
            "an Office document saved as XML",
        ),
        ("a", b"<office:document xmlns:office='x'/>", "an Office document saved as XML"),
        ("tender", &holding("offer.docx"), "an archive"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c", "an archive"),
    ] {
        let said = kind_of(name, bytes).expect_err(name).to_string();
        assert!(said.starts_with(&format!("{name} is {what}")) && said.contains("cannot be read; "), "{said}");
    }
    for (name, text) in [
        ("a.txt", "Subject: the law\n\nMIME-Version is a field of a mail."),
        ("a.txt", "Note: read this.\nFrom: the board\nRecords shall be kept."),
        ("a.xml", "<rules>REQ-IF is a format</rules>"),
    ] {
        assert_eq!(kind_of(name, text.as_bytes()), Ok(Kind::Text), "{text}");
    }
}

#[tokio::test]
async fn a_child_that_takes_too_much_is_an_error_and_not_the_end() {
    let died = |ending| DocumentError::ParserDied { name: "the document".to_owned(), ending };
    let page = "<p>a".repeat(4 << 20).into_bytes();
    let small = Limits { memory: 320 << 20, ..Limits::default() };
    assert_eq!(parser().with_limits(small).extract(Kind::Html, &page, None).await, Err(died(Ending::OutOfMemory)));
    let short = Limits { wall: Duration::ZERO, ..Limits::default() };
    assert_eq!(parser().with_limits(short).extract(Kind::Html, &page, None).await, Err(died(Ending::OutOfTime)));
    let busy = Limits { cpu: Duration::from_secs(1), cpu_per_mib: Duration::ZERO, ..Limits::default() };
    assert_eq!(parser().with_limits(busy).extract(Kind::Html, &page, None).await, Err(died(Ending::OutOfTime)));
    // A document that is nested too deep does not crash: parsing is not started.
    let deep = "<div>".repeat(1_500_000).into_bytes();
    let refused = parser().extract(Kind::Html, &deep, None).await;
    assert!(matches!(&refused, Err(DocumentError::Damaged { reason, .. }) if reason.contains("nested")), "{refused:?}");
    // Depth costs the PDF parser stack.
    let deep = format!("%PDF-1.4\n1 0 obj\n{}\nendobj\ntrailer<</Root 1 0 R>>\n", "[".repeat(3_000_000)).into_bytes();
    assert_eq!(parser().extract(Kind::Pdf, &deep, None).await, Err(died(Ending::Crashed)));
    // The parser is as good as before.
    assert!(parser().extract(Kind::Text, b"words", None).await.is_ok());
}

#[tokio::test]
async fn text_beyond_the_limit_is_refused_before_a_word_of_it_is_given() {
    let terse = parser().with_limits(Limits { output: 1100, ..Limits::default() });
    let (fits, exceeds) = ("\"many\"\nwords".repeat(90), "many words ".repeat(101));
    let document = terse.extract(Kind::Text, fits.as_bytes(), None).await.expect("1,080 bytes, however they are sent");
    assert_eq!(document.pages[0].text, fits);

    let (sender, mut given) = mpsc::channel(8);
    let error = terse.permit().await.extract_to(Kind::Text, exceeds.as_bytes().into(), None, sender).await;
    let error = error.expect_err("1,111 bytes").with_name("input/long.txt").to_string();
    let said = "input/long.txt has 1111 bytes of text, more than the 1100 bytes that can be taken in; split it into several \
                documents";
    assert_eq!((error.as_str(), given.recv().await), (said, None));
    // The size of plain text is known in advance, in any encoding.
    let utf16: Vec<u8> = fits.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(
        terse.probe("input/long.txt", exceeds.as_bytes()).await.map_err(|error| error.to_string()),
        Err(said.into())
    );
    assert!(utf16.len() > 1100 && terse.probe("input/utf-16.txt", &utf16).await.is_ok());
}

#[tokio::test]
async fn a_child_that_never_stops_writing_is_stopped() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let child = script(folder.path(), r#"while :; do echo '{"page":{"number":1,"text":"words"}}'; done"#);
    let terse = Limits { output: 100, ..Limits::default() };
    let error =
        Parser::new(child).with_limits(terse).extract(Kind::Text, b"text", None).await.expect_err("it never ends");
    assert!(error.to_string().contains("the parser gave more text than can be taken in"), "{error}");
}

/// A program to run instead of the child.
fn script(folder: &Path, body: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let script = folder.join("child");
    std::fs::write(&script, format!("#!/bin/sh\n{body}\n")).expect("a folder of our own");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("a file of our own");
    script
}

/// A child that never answers, and the file it writes its process id to.
fn silent_child(folder: &Path) -> (Parser, PathBuf) {
    let id = folder.join("id");
    let script =
        script(folder, &format!("echo $$ > {0}.new && /bin/mv {0}.new {0}\nexec /bin/sleep 600", id.display()));
    (Parser::new(script), id)
}

/// Waits until a condition holds, giving way to everything else meanwhile.
async fn until(what: &str, holds: impl Fn() -> bool) {
    let wait = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(CEILING, wait).await.unwrap_or_else(|_| panic!("{what} did not happen"));
}

/// Whether the process whose id a file holds is gone; one that has written none was killed before it could.
fn is_gone(id: &Path) -> bool {
    let Ok(id) = std::fs::read_to_string(id) else { return true };
    let status = std::fs::read_to_string(format!("/proc/{}/stat", id.trim()));
    status.is_err() || status.is_ok_and(|status| status.contains(") Z "))
}

#[tokio::test]
async fn no_child_outlives_its_time_or_its_caller() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (parser, id) = silent_child(folder.path());
    let caller = tokio::spawn({
        let parser = parser.clone();
        async move { parser.extract(Kind::Text, b"text", None).await }
    });
    until("the child's start", || id.exists()).await;
    assert!(!is_gone(&id));
    caller.abort();
    until("the child's end", || is_gone(&id)).await;

    std::fs::remove_file(&id).expect("the child wrote it");
    let short = Limits { wall: Duration::from_secs(1), ..Limits::default() };
    let error = parser.with_limits(short).extract(Kind::Text, b"text", None).await.expect_err("it never answers");
    assert_eq!(
        error.to_string(),
        "the document could not be read: the parser ran out of time; supply a smaller or repaired copy"
    );
    until("the child's end", || is_gone(&id)).await;
}

#[tokio::test]
async fn a_program_that_cannot_run_is_not_the_documents_fault() {
    let error = Parser::new("/nonexistent/plumbline").extract(Kind::Text, b"text", None).await.expect_err("no program");
    assert!(matches!(&error, DocumentError::Spawn { program, .. } if program == "/nonexistent/plumbline"), "{error}");
}

#[tokio::test]
async fn the_sample_documents_read_alike() {
    let pdf = parser().extract(Kind::Pdf, &sample("record-keeping-policy.pdf"), None).await.expect("our own sample");
    let docx = parser().extract(Kind::Docx, &sample("record-keeping-policy.docx"), None).await.expect("our own sample");
    assert_eq!(pdf.pages.len(), 12);
    let named = [&pdf.warnings[..], &docx.warnings[..]].concat();
    assert!(named.iter().all(|named| named.contains("header") || named.contains("footer")), "{named:#?}");
    let (pdf, docx) = (SourceText::new(&to_text_file(&pdf)), SourceText::new(&to_text_file(&docx)));
    // Prose of the source text, quoted from both; the words of a sentence may not depend on the format.
    let source = String::from_utf8(sample("record-keeping-policy.md")).expect("UTF-8");
    let paragraphs = source.split("\n\n").filter(|text| text.starts_with(char::is_uppercase) && text.len() > 20);
    let mut quoted = 0;
    for sentence in paragraphs.flat_map(|text| text.split_inclusive(". ")).map(str::trim).filter(|text| text.len() > 20)
    {
        assert!(matches!(pdf.find(sentence, None), Match::Found(found) if found.page.is_some()), "PDF: {sentence}");
        assert!(matches!(docx.find(sentence, None), Match::Found(found) if found.page.is_none()), "DOCX: {sentence}");
        quoted += 1;
    }
    assert!(quoted > 150, "{quoted} sentences were quoted");
    let known = "A backup is no archive: it protects against loss, not against unauthorised change.";
    assert!(matches!(pdf.find(known, Some(6)), Match::Found(found) if found.page == Some(6)));
}
