//! Unsupported formats, with their names and advice: recognized before their bytes are read as text.

use memchr::memmem;

/// A format that cannot be read: its name with the article, and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    pub(crate) what: &'static str,
    pub(crate) advice: &'static str,
}

const fn of(what: &'static str, advice: &'static str) -> Foreign {
    Foreign { what, advice }
}

pub(crate) const LEGACY_WORD: Foreign = of("a legacy Word document (.doc)", "save it as .docx or PDF");
const SPREADSHEET: Foreign = of("a spreadsheet", "export it as PDF or CSV");
const PRESENTATION: Foreign = of("a presentation", "export it as PDF");
const IMAGE: Foreign = of("an image", "OCR is not available, supply its text");
const OUTLOOK: Foreign = of(
    "an e-mail of Outlook (.msg)",
    "save its text as .html, .docx or PDF, and supply its attachments as documents of their own",
);
const MAIL: Foreign =
    of("an e-mail", "save its text as .html, .txt or PDF, and supply its attachments as documents of their own");
const MAILBOX: Foreign = of("a mailbox", "save the messages that matter as .html, .txt or PDF");
const WEB_ARCHIVE: Foreign = of("a web page in a mail archive (.mhtml)", "save the page as .html or PDF");
const SIGNED: Foreign =
    of("a signed or encrypted e-mail (.p7m)", "open it in your mail program and save its text as .html or PDF");
const CALENDAR: Foreign = of("a calendar file", "save the text that matters as .txt");
const CONTACTS: Foreign = of("a file of contacts", "save the text that matters as .txt");
const REQIF: Foreign = of(
    "a requirements exchange file (ReqIF)",
    "export the specification as .docx, PDF or CSV from your requirements tool",
);
const ARCHIVE: Foreign = of("an archive", "unpack it and supply the documents in it");
const RTF: Foreign = of("a rich text document (.rtf)", "save it as .docx, PDF or HTML");
const OTHER_TEXT: Foreign = of("a document in another format", "export it as .docx, PDF or HTML");
const WORD_XML: Foreign = of("an Office document saved as XML", "save it as .docx, .odt or PDF");
const DRAWING: Foreign = of("a drawing", "export it as PDF");
const MEDIA: Foreign = of("a recording", "supply its words as text");
const POSTSCRIPT: Foreign = of("a PostScript file", "convert it to PDF");
const DATABASE: Foreign = of("a database", "export its tables as CSV");

/// By the extension of a name.
const EXTENSIONS: [(&[&str], Foreign); 17] = [
    (&["doc", "dot", "wbk"], LEGACY_WORD),
    (&["rtf"], RTF),
    (&["pages", "fodt", "mobi", "azw", "azw3", "wpd", "wps", "hwp", "hwpx", "djvu", "xps", "oxps", "chm"], OTHER_TEXT),
    (&["xls", "xlsx", "xlsm", "xlsb", "xlt", "xltx", "ods", "ots", "fods", "numbers"], SPREADSHEET),
    (&["ppt", "pptx", "pptm", "pps", "ppsx", "odp", "otp", "fodp", "key"], PRESENTATION),
    (&["png", "jpg", "jpeg", "gif", "tif", "tiff", "bmp", "webp", "heic", "heif", "jp2", "avif"], IMAGE),
    (&["msg", "oft"], OUTLOOK),
    (&["eml", "emlx"], MAIL),
    (&["mbox", "pst", "ost"], MAILBOX),
    (&["mhtml", "mht"], WEB_ARCHIVE),
    (&["p7m", "p7s"], SIGNED),
    (&["ics", "ical"], CALENDAR),
    (&["vcf"], CONTACTS),
    (&["reqif", "reqifz", "reqifx", "rif"], REQIF),
    (&["zip", "7z", "rar", "gz", "tgz", "tar", "bz2", "xz", "zst"], ARCHIVE),
    (&["vsd", "vsdx", "odg", "dwg", "dxf", "svg"], DRAWING),
    (&["mp3", "mp4", "wav", "m4a", "ogg", "mov", "avi", "mkv"], MEDIA),
];

/// By the first bytes. Images of one container share its beginning with sound.
const SIGNATURES: [(&[u8], Foreign); 19] = [
    (b"{\\rtf", RTF),
    (b"\x89PNG\r\n\x1a\n", IMAGE),
    (b"\xff\xd8\xff", IMAGE),
    (b"GIF87a", IMAGE),
    (b"GIF89a", IMAGE),
    (b"II*\0", IMAGE),
    (b"MM\0*", IMAGE),
    (b"%!PS", POSTSCRIPT),
    (b"7z\xbc\xaf\x27\x1c", ARCHIVE),
    (b"Rar!\x1a\x07", ARCHIVE),
    (b"\x1f\x8b", ARCHIVE),
    (b"BZh", ARCHIVE),
    (b"\xfd7zXZ\0", ARCHIVE),
    (b"\x28\xb5\x2f\xfd", ARCHIVE),
    (b"!BDN", MAILBOX),
    (b"SQLite format 3\0", DATABASE),
    (b"AT&TFORM", OTHER_TEXT),
    (b"BEGIN:VCALENDAR", CALENDAR),
    (b"BEGIN:VCARD", CONTACTS),
];

/// By the entry names of a ZIP archive, which are not compressed.
const IN_ZIP: [(&str, Foreign); 7] = [
    ("xl/workbook", SPREADSHEET),
    ("ppt/presentation", PRESENTATION),
    ("visio/document", DRAWING),
    ("opendocument.spreadsheet", SPREADSHEET),
    ("opendocument.presentation", PRESENTATION),
    ("opendocument.graphics", DRAWING),
    (".reqif", REQIF),
];

/// By the names in a compound file's directory, which are UTF-16.
const IN_COMPOUND: [(&str, Foreign); 5] = [
    ("__properties_version1.0", OUTLOOK),
    ("WordDocument", LEGACY_WORD),
    ("PowerPoint Document", PRESENTATION),
    ("Workbook", SPREADSHEET),
    ("VisioDocument", DRAWING),
];

/// Marks of an Office document that is one XML file: its markup is none of the text.
const OFFICE_XML: [&str; 4] = ["<?mso-application", "<w:wordDocument", "<pkg:package", "<office:document "];

/// Number of bytes within which a mail's header or a file's root element begins.
const HEAD: usize = 4096;

/// The unsupported format of an extension.
pub(crate) fn by_extension(extension: &str) -> Option<Foreign> {
    EXTENSIONS.iter().find(|row| row.0.contains(&extension)).map(|row| row.1)
}

/// The format of the content, by its signature.
pub(crate) fn by_signature(bytes: &[u8]) -> Option<Foreign> {
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    let known = SIGNATURES.iter().find(|row| bytes.starts_with(row.0)).map(|row| row.1);
    known.or(is_webp.then_some(IMAGE))
}

/// What is in a ZIP archive.
pub(crate) fn in_zip(bytes: &[u8]) -> Foreign {
    let found = IN_ZIP.iter().find(|row| memmem::find(bytes, row.0.as_bytes()).is_some());
    found.map_or(ARCHIVE, |row| row.1)
}

/// What is in a compound file.
pub(crate) fn in_compound(bytes: &[u8]) -> Option<Foreign> {
    let wide = |name: &str| name.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    IN_COMPOUND.iter().find(|row| memmem::find(bytes, &wide(row.0)).is_some()).map(|row| row.1)
}

/// The format of a text written for programs: a raw mail, an export of a requirements tool, an Office document in XML.
pub(crate) fn by_text(bytes: &[u8]) -> Option<Foreign> {
    let head = String::from_utf8_lossy(bytes.get(..HEAD).unwrap_or(bytes));
    let head = head.trim_start_matches('\u{feff}').trim_start();
    if head.starts_with('<') && (head.contains("<REQ-IF") || head.contains("<reqif:REQ-IF") || head.contains("<RIF ")) {
        return Some(REQIF);
    }
    if head.starts_with('<') && OFFICE_XML.iter().any(|mark| head.contains(mark)) {
        return Some(WORD_XML);
    }
    let fields = mail_fields(head)?;
    let has = |name: &str| fields.iter().any(|(known, _)| known == name);
    let is_mail = has("mime-version") && (has("content-type") || has("from") || has("subject"));
    let is_page = fields.iter().any(|(name, value)| name == "content-type" && value.contains("multipart/related"));
    is_mail.then_some(if is_page { WEB_ARCHIVE } else { MAIL })
}

/// The header fields of a mail at the beginning of the text: `Name: value`, longer values continue in indented lines.
fn mail_fields(head: &str) -> Option<Vec<(String, String)>> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in head.lines().skip_while(|line| line.starts_with("From ")).take_while(|line| !line.trim().is_empty()) {
        match (line.starts_with([' ', '\t']), fields.last_mut()) {
            (true, Some((_, value))) => value.push_str(line.trim()),
            _ => {
                let (name, value) = line.split_once(':')?;
                let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
                fields.extend(is_name.then(|| (name.to_ascii_lowercase(), value.trim().to_ascii_lowercase())));
                is_name.then_some(())?;
            }
        }
    }
    Some(fields)
}
