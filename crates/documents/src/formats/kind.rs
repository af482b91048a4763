//! The kind of a document, from its name and its first bytes.
//!
//! The name shows the user's intent, the content is what is there. If they disagree about a format with a signature, it
//! is an error; if no format with a signature is involved, the content is text.

use super::foreign::{self, Foreign};
use crate::{DocumentError, formats::text};
use memchr::memmem;
use serde::{Deserialize, Serialize};

/// The formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Portable Document Format.
    Pdf,
    /// Office Open XML word processing.
    Docx,
    /// OpenDocument word processing.
    Odt,
    /// An electronic book.
    Epub,
    /// HTML in any version.
    Html,
    /// Markdown; passed through.
    Markdown,
    /// A table as text: CSV, TSV.
    Table,
    /// Any other text; passed through.
    Text,
}

/// The names of a kind: its word, and the file name extensions.
const TABLE: [(Kind, &str, &[&str]); 8] = [
    (Kind::Pdf, "pdf", &["pdf"]),
    (Kind::Docx, "docx", &["docx", "docm", "dotx"]),
    (Kind::Odt, "odt", &["odt", "ott"]),
    (Kind::Epub, "epub", &["epub"]),
    (Kind::Html, "html", &["html", "htm", "xhtml"]),
    (Kind::Markdown, "markdown", &["md", "markdown", "mdown"]),
    (Kind::Table, "table", &["csv", "tsv", "tab"]),
    (Kind::Text, "text", &["txt", "text", "log", "json", "yaml", "yml", "xml", "rst", "adoc"]),
];

/// A PDF may begin with other bytes, such as a mail header or a byte order mark; readers search this far.
const PDF_HEADER_WINDOW: usize = 1024;
/// The first entry's header, its name and its content are within this many bytes.
const MIMETYPE_WINDOW: usize = 256;
const ZIP: &[u8] = b"PK\x03\x04";
/// Compound files: .doc, .xls, and Office documents with a password.
const COMPOUND: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

impl Kind {
    /// The word for it in a record: `pdf`, `docx`, `odt`, `epub`, `html`, `markdown`, `table`, `text`.
    pub fn word(self) -> &'static str {
        TABLE.iter().find(|row| row.0 == self).map_or("text", |row| row.1)
    }

    /// The kind of a file name's extension, case-insensitively.
    pub fn from_extension(extension: &str) -> Option<Self> {
        let extension = extension.to_ascii_lowercase();
        TABLE.iter().find(|row| row.2.contains(&extension.as_str())).map(|row| row.0)
    }
}

/// Whether a document has page numbers: every PDF, and plain text with form feeds.
pub fn has_pages(kind: Kind, bytes: &[u8]) -> bool {
    match kind {
        Kind::Pdf => true,
        Kind::Markdown | Kind::Text => text::has_printed_pages(bytes),
        Kind::Docx | Kind::Odt | Kind::Epub | Kind::Html | Kind::Table => false,
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Pdf => "PDF",
            Self::Docx => "DOCX",
            Self::Odt => "ODT",
            Self::Epub => "EPUB",
            Self::Html => "HTML page",
            Self::Markdown => "Markdown text",
            Self::Table => "table",
            Self::Text => "text",
        })
    }
}

/// The kind of the document `name` with the content `bytes`.
///
/// # Errors
/// An empty file, content that contradicts the extension, and formats that cannot be read. A file without a known
/// extension is judged by its content alone.
pub fn kind_of(name: &str, bytes: &[u8]) -> Result<Kind, DocumentError> {
    if bytes.is_empty() {
        return Err(DocumentError::Empty { name: name.to_owned() });
    }
    let extension = extension_of(name);
    match Kind::from_extension(&extension) {
        Some(Kind::Pdf) if is_pdf(bytes) => Ok(Kind::Pdf),
        Some(Kind::Pdf) => Err(not_a_pdf(name, bytes)),
        Some(packed @ (Kind::Docx | Kind::Odt | Kind::Epub)) => of_archive(name, packed, bytes),
        Some(text) => of_text(name, text, bytes),
        None => of_content(name, &extension, bytes),
    }
}

fn extension_of(name: &str) -> String {
    let file = name.rsplit('/').next().unwrap_or(name);
    match file.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => extension.to_ascii_lowercase(),
        _ => String::new(),
    }
}

fn is_pdf(bytes: &[u8]) -> bool {
    let head = bytes.get(..PDF_HEADER_WINDOW).unwrap_or(bytes);
    memmem::find(head, b"%PDF-").is_some()
}

/// Whether a text contains the signature of a PDF without being one: a PDF ends with `%%EOF`.
fn speaks_of_pdf(bytes: &[u8]) -> bool {
    let tail = &bytes[bytes.len().saturating_sub(PDF_HEADER_WINDOW)..];
    is_text(bytes) && memmem::find(tail, b"%%EOF").is_none()
}

/// The kind of document in a ZIP archive, without unpacking: ODT and EPUB declare it in their first entry, which is
/// stored uncompressed, as are the names in its directory.
fn in_archive(bytes: &[u8]) -> Option<Kind> {
    if !bytes.starts_with(ZIP) {
        return None;
    }
    let head = bytes.get(..MIMETYPE_WINDOW).unwrap_or(bytes);
    let names = directory(bytes);
    let has = |name: &str| memmem::find(names, name.as_bytes()).is_some();
    if memmem::find(head, b"mimetypeapplication/epub+zip").is_some() {
        return Some(Kind::Epub);
    }
    if memmem::find(head, b"mimetypeapplication/vnd.oasis.opendocument").is_some() {
        return memmem::find(head, b"opendocument.text").map(|_| Kind::Odt);
    }
    match () {
        () if has("word/document") || has("word\\document") => Some(Kind::Docx),
        () if has("[Content_Types].xml") && has("word/") => Some(Kind::Docx),
        () if has("META-INF/container.xml") && has(".opf") => Some(Kind::Epub),
        () => None,
    }
}

/// The table of contents at the end of an archive, without the contents, which may be archives; all bytes if it is not
/// where the end of the archive says.
fn directory(bytes: &[u8]) -> &[u8] {
    let found = memmem::rfind(bytes, b"PK\x05\x06").and_then(|end| {
        let offset = bytes.get(end + 16..end + 20)?.try_into().ok().map(u32::from_le_bytes)? as usize;
        bytes.get(offset..end).filter(|names| names.starts_with(b"PK\x01\x02"))
    });
    found.unwrap_or(bytes)
}

/// An Office document with a password is a compound file whose directory names, in UTF-16, its encrypted content.
fn is_encrypted_office(bytes: &[u8]) -> bool {
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes.starts_with(COMPOUND) && memmem::find(bytes, &name).is_some()
}

/// Text contains no NUL byte, except in UTF-16.
fn is_text(bytes: &[u8]) -> bool {
    let head = bytes.get(..8192).unwrap_or(bytes);
    encoding_rs::Encoding::for_bom(bytes).is_some()
        || memchr::memchr(0, head).is_none()
        || text::unmarked_utf16(bytes).is_some()
}

fn looks_like_html(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(bytes.get(..1024).unwrap_or(bytes)).to_ascii_lowercase();
    let head = head.trim_start_matches('\u{feff}').trim_start();
    head.starts_with("<!doctype html") || head.starts_with("<html")
}

fn of_archive(name: &str, promised: Kind, bytes: &[u8]) -> Result<Kind, DocumentError> {
    match in_archive(bytes) {
        Some(kind) if kind == promised => Ok(kind),
        Some(other) => Err(not_that_archive(name, promised, &format!("it is a document of kind {other}"))),
        None if bytes.starts_with(ZIP) => {
            Err(not_that_archive(name, promised, &format!("no {} in it", inside(promised))))
        }
        None if is_encrypted_office(bytes) => Err(DocumentError::Encrypted { name: name.to_owned() }),
        None if bytes.starts_with(COMPOUND) => Err(unsupported(name, compound(bytes))),
        None => Err(not_that_archive(name, promised, "it does not begin with the bytes of a ZIP archive")),
    }
}

fn inside(kind: Kind) -> &'static str {
    match kind {
        Kind::Docx => "Word document",
        Kind::Epub => "book",
        _ => "text document",
    }
}

fn of_text(name: &str, kind: Kind, bytes: &[u8]) -> Result<Kind, DocumentError> {
    let found = match bytes {
        _ if bytes.starts_with(b"%PDF-") => Some(("it begins with %PDF-", "rename it to .pdf")),
        _ if bytes.starts_with(ZIP) => Some(("it is a ZIP archive", "give it its own extension, for example .docx")),
        _ if !is_text(bytes) => Some(("it holds binary data", "supply the document itself")),
        _ => None,
    };
    if let Some((found, advice)) = found {
        let (found, advice) = (found.to_owned(), advice.to_owned());
        return Err(DocumentError::NotThatKind { name: name.to_owned(), expected: kind, found, advice });
    }
    match foreign::by_text(bytes) {
        Some(foreign) => Err(unsupported(name, foreign)),
        None => Ok(kind),
    }
}

/// By its content, except for names that say more than the content: a `.doc` that is really plain text still has the
/// format of its name.
fn of_content(name: &str, extension: &str, bytes: &[u8]) -> Result<Kind, DocumentError> {
    let named = foreign::by_extension(extension);
    if let Some(kind) = in_archive(bytes) {
        return Ok(kind);
    }
    match bytes {
        _ if bytes.starts_with(b"%PDF-") || named.is_none() && is_pdf(bytes) && !speaks_of_pdf(bytes) => Ok(Kind::Pdf),
        _ if is_encrypted_office(bytes) => Err(DocumentError::Encrypted { name: name.to_owned() }),
        _ if bytes.starts_with(COMPOUND) => Err(unsupported(name, named.unwrap_or_else(|| compound(bytes)))),
        _ if bytes.starts_with(ZIP) => Err(unsupported(name, named.unwrap_or_else(|| foreign::in_zip(bytes)))),
        _ => match named.or_else(|| foreign::by_signature(bytes)).or_else(|| foreign::by_text(bytes)) {
            Some(foreign) => Err(unsupported(name, foreign)),
            None if looks_like_html(bytes) => Ok(Kind::Html),
            None if is_text(bytes) => Ok(Kind::Text),
            None => Err(unsupported(name, BINARY)),
        },
    }
}

/// Unknown content.
const BINARY: Foreign =
    Foreign { what: "a binary file", advice: "supply PDF, DOCX, ODT, EPUB, HTML, Markdown or text" };

fn compound(bytes: &[u8]) -> Foreign {
    foreign::in_compound(bytes).unwrap_or(foreign::LEGACY_WORD)
}

fn unsupported(name: &str, Foreign { what, advice }: Foreign) -> DocumentError {
    DocumentError::Unsupported { name: name.to_owned(), what: what.to_owned(), advice: advice.to_owned() }
}

fn not_a_pdf(name: &str, bytes: &[u8]) -> DocumentError {
    let advice = match bytes {
        _ if in_archive(bytes) == Some(Kind::Docx) => "rename it to .docx or supply the PDF",
        _ if looks_like_html(bytes) => "rename it to .html or supply the PDF",
        _ if is_text(bytes) => "rename it to .txt or supply the PDF",
        _ => "supply the PDF",
    };
    let found = "it does not begin with %PDF-".to_owned();
    DocumentError::NotThatKind { name: name.to_owned(), expected: Kind::Pdf, found, advice: advice.to_owned() }
}

fn not_that_archive(name: &str, expected: Kind, found: &str) -> DocumentError {
    let advice = format!("supply the document saved as .{}", expected.word());
    DocumentError::NotThatKind { name: name.to_owned(), expected, found: found.to_owned(), advice }
}
