//! How the documents are made.

use plumbline_documents::Parser;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A parser that uses the stand-in for `plumbline __extract`, which `cargo test` builds with this test.
pub(crate) fn parser() -> Parser {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).expect("tests lie in target/<profile>/deps");
    Parser::new(folder.join("examples/extract_child"))
}

/// A file of this crate's tests.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name))
}

/// A file of the sample that comes with the binary.
pub(crate) fn sample(name: &str) -> Vec<u8> {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/sample").join(name))
}

fn read(path: &PathBuf) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// An archive; its first entry is stored uncompressed, as ODT and EPUB require.
pub(crate) fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (number, (name, content)) in entries.iter().enumerate() {
        let method = if number == 0 { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Bytes as a `FlateDecode` stream has them.
pub(crate) fn deflated(bytes: &[u8]) -> Vec<u8> {
    let packed = archive(&[("stored", b""), ("x", bytes)]);
    // The second entry's data, between its own header and the table at the end.
    let header = packed.windows(4).skip(1).position(|window| window == b"PK\x03\x04").expect("a second entry") + 1;
    let field = |at: usize| usize::from(u16::from_le_bytes([packed[header + at], packed[header + at + 1]]));
    let data = header + 30 + field(26) + field(28);
    let end = packed.windows(4).rposition(|window| window == b"PK\x01\x02").expect("a table");
    let end = packed[..end].windows(4).rposition(|window| window == b"PK\x01\x02").unwrap_or(end);
    [b"\x78\x9c".as_slice(), &packed[data..end]].concat()
}

/// An ODT file with this in its body and these automatic styles.
pub(crate) fn odt(styles: &str, body: &str) -> Vec<u8> {
    odt_with(styles, body, &[])
}

/// The same with these further parts.
pub(crate) fn odt_with(styles: &str, body: &str, more: &[(&str, &[u8])]) -> Vec<u8> {
    let content = format!(
        "<?xml version=\"1.0\"?><office:document-content><office:automatic-styles>{styles}</office:automatic-styles>\
         <office:body><office:text>{body}</office:text></office:body></office:document-content>"
    );
    let mut entries: Vec<(&str, &[u8])> = vec![
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("META-INF/manifest.xml", b"<manifest:manifest/>"),
        ("content.xml", content.as_bytes()),
        ("meta.xml", b"<office:meta><dc:title>Small &amp; simple</dc:title></office:meta>"),
    ];
    entries.extend_from_slice(more);
    archive(&entries)
}

/// A DOCX file with this as its main part, and these further parts.
pub(crate) fn docx(document: &str, more: &[(&str, &[u8])]) -> Vec<u8> {
    let types = br#"<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
        <Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
        <Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#;
    let links = br#"<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
        <Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>"#;
    let mut entries: Vec<(&str, &[u8])> =
        vec![("[Content_Types].xml", types), ("_rels/.rels", links), ("word/document.xml", document.as_bytes())];
    entries.retain(|(name, _)| more.iter().all(|(other, _)| name != other));
    entries.extend_from_slice(more);
    archive(&entries)
}

/// An EPUB file with these pages, and these further parts.
pub(crate) fn epub(pages: &[&str], more: &[(&str, &[u8])]) -> Vec<u8> {
    let name = |number: usize| format!("OEBPS/text/page {number}.xhtml");
    let items: String = (0..pages.len())
        .map(|n| format!("<item id=\"p{n}\" href=\"text/page%20{n}.xhtml\" media-type=\"application/xhtml+xml\"/>"))
        .collect();
    let spine: String = (0..pages.len()).map(|n| format!("<itemref idref=\"p{n}\"/>")).collect();
    let package = format!(
        "<package><metadata><dc:title>A small book</dc:title></metadata><manifest>{items}</manifest>\
         <spine>{spine}</spine></package>"
    );
    let container = br#"<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>"#;
    let names: Vec<String> = (0..pages.len()).map(name).collect();
    let mut entries: Vec<(&str, &[u8])> = vec![
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", container),
        ("OEBPS/book.opf", package.as_bytes()),
    ];
    entries.extend(names.iter().map(String::as_str).zip(pages.iter().map(|page| page.as_bytes())));
    entries.extend_from_slice(more);
    archive(&entries)
}

/// A PDF with one content stream per page, in 10-point Helvetica called `F1`.
pub(crate) fn pdf(streams: &[String]) -> Vec<u8> {
    let pages = streams.len();
    let kids: Vec<String> = (0..pages).map(|n| format!("{} 0 R", 4 + 2 * n)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_string(),
        format!("<< /Type /Pages /Kids [{}] /Count {pages} >>", kids.join(" ")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_string(),
    ];
    for (n, stream) in streams.iter().enumerate() {
        let contents = 5 + 2 * n;
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> \
             /Contents {contents} 0 R >>"
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
    }
    assemble(&objects)
}

/// A PDF file of these objects, the first being the catalogue.
pub(crate) fn assemble(objects: &[String]) -> Vec<u8> {
    let mut out = String::from("%PDF-1.4\n");
    let mut offsets = Vec::new();
    for (n, object) in objects.iter().enumerate() {
        offsets.push(out.len());
        out.push_str(&format!("{} 0 obj\n{object}\nendobj\n", n + 1));
    }
    let table = out.len();
    out.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    offsets.iter().for_each(|offset| out.push_str(&format!("{offset:010} 00000 n \n")));
    out.push_str(&format!("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1));
    out.into_bytes()
}

/// Draws lines of text from a place downwards.
pub(crate) fn lines(x: u32, top: u32, texts: &[&str]) -> String {
    let draw = |(n, text): (usize, &&str)| format!("BT /F1 10 Tf {x} {} Td ({text}) Tj ET\n", top as usize - 14 * n);
    texts.iter().enumerate().map(draw).collect()
}

/// Good documents with the names they go by.
pub(crate) fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let body = "<text:h text:outline-level=\"1\">Duties</text:h><text:p>Records shall be kept.</text:p>\
                <table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row>\
                </table:table>";
    let page = "<html><head><title>Rules</title></head><body><h1>Rules</h1><p>Records shall be kept.</p><table><tr>\
                <td>a</td></tr></table></body></html>";
    vec![
        ("small.pdf", fixture("small.pdf")),
        ("partly_scanned.pdf", fixture("partly_scanned.pdf")),
        ("encrypted.pdf", fixture("encrypted.pdf")),
        ("owner_password.pdf", fixture("owner_password.pdf")),
        ("small.docx", fixture("small.docx")),
        ("policy.docx", sample("record-keeping-policy.docx")),
        ("policy.md", sample("record-keeping-policy.md")),
        ("policy.pdf", sample("record-keeping-policy.pdf")),
        ("letter.odt", odt("", body)),
        ("book.epub", epub(&[page, page], &[])),
        ("page.html", page.as_bytes().to_vec()),
    ]
}

/// A fixed sequence of numbers that looks random: the same corpus on every machine and in every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end.max(1) as u64).unwrap()
    }
}
