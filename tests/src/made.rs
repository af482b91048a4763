//! Documents of several formats, made by code: archives, and PDF files of lines and of a form.

use crate::planted::pdf::{self, HEIGHT, Line, Page};

/// An archive of uncompressed files.
///
/// # Panics
/// When a file has four gigabytes or more.
pub fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut table) = (Vec::new(), Vec::new());
    for (name, content) in entries {
        let place = number(out.len());
        let header = header(name, content);
        out.extend([b"PK\x03\x04".as_slice(), &header, name.as_bytes(), content].concat());
        table.extend([b"PK\x01\x02\x14\0".as_slice(), &header, &[0; 10], &place, name.as_bytes()].concat());
    }
    let count = number(entries.len())[..2].repeat(2);
    let (size, place) = (number(table.len()), number(out.len()));
    [&out, table.as_slice(), b"PK\x05\x06\0\0\0\0", &count, &size, &place, &[0; 2]].concat()
}

/// What both headers of a file contain: version, method, time, checksum, sizes and the length of its name.
fn header(name: &str, content: &[u8]) -> Vec<u8> {
    let size = number(content.len());
    let name = number(name.len());
    [&[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0], &crc32(content).to_le_bytes()[..], &size, &size, &name[..2], &[0; 2]].concat()
}

fn number(value: usize) -> [u8; 4] {
    u32::try_from(value).expect("these archives are small").to_le_bytes()
}

fn crc32(bytes: &[u8]) -> u32 {
    let of_byte = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 })
    };
    !bytes.iter().fold(!0, of_byte)
}

const WORD: &str = "http://schemas.openxmlformats.org";

/// A DOCX file with this in its body; `part` is the name of the main part.
pub fn docx(part: &str, body: &str) -> Vec<u8> {
    let document = format!(
        "<?xml version=\"1.0\"?><w:document xmlns:w=\"{WORD}/wordprocessingml/2006/main\" \
         xmlns:m=\"{WORD}/officeDocument/2006/math\"><w:body>{body}</w:body></w:document>"
    );
    let types = format!(
        "<?xml version=\"1.0\"?><Types xmlns=\"{WORD}/package/2006/content-types\"><Default Extension=\"rels\" \
         ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Override PartName=\"/{part}\" \
         ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/></Types>"
    );
    let links = format!(
        "<?xml version=\"1.0\"?><Relationships xmlns=\"{WORD}/package/2006/relationships\"><Relationship Id=\"r1\" \
         Type=\"{WORD}/officeDocument/2006/relationships/officeDocument\" Target=\"{part}\"/></Relationships>"
    );
    archive(&[
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", links.as_bytes()),
        (part, document.as_bytes()),
    ])
}

/// A paragraph of a DOCX file.
pub fn paragraph(text: &str) -> String {
    format!("<w:p><w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r></w:p>")
}

/// An ODT file with this in its body.
pub fn odt(body: &str) -> Vec<u8> {
    let names = ["office", "text", "table", "draw"]
        .map(|name| {
            format!(" xmlns:{name}=\"urn:oasis:names:tc:opendocument:xmlns:{}:1.0\"", name.replace("draw", "drawing"))
        })
        .concat();
    let content = format!(
        "<?xml version=\"1.0\"?><office:document-content{names}><office:body><office:text>{body}</office:text></office:body>\
         </office:document-content>"
    );
    archive(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        (
            "META-INF/manifest.xml",
            b"<manifest:manifest xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\"/>",
        ),
        ("content.xml", content.as_bytes()),
    ])
}

/// A PDF file with these lines on each page, from the top.
pub fn pdf(pages: &[Vec<String>]) -> Vec<u8> {
    let line = |(at, text): (u32, &String)| Line {
        x: 72,
        y: HEIGHT - 70 - 16 * at,
        size: 11,
        bold: false,
        text: text.clone(),
    };
    let page = |lines: &Vec<String>| Page { lines: (0..).zip(lines).map(line).collect(), ..Page::default() };
    pdf::write(&pages.iter().map(page).collect::<Vec<_>>())
}

/// A PDF file with a label and a text field that has this value.
pub fn pdf_form(label: &str, value: &str) -> Vec<u8> {
    let stream = format!("BT /F1 11 Tf 72 760 Td ({label}) Tj ET");
    pdf::assemble(&[
        "<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R] /DA (/F1 11 Tf) >> >>".to_owned(),
        "<< /Type /Pages /Kids [4 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R /Annots [6 0 R] >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()),
        format!(
            "<< /Type /Annot /Subtype /Widget /FT /Tx /T (term) /V ({value}) /Rect [72 700 400 720] /P 4 0 R /F 4 /DA (/F1 11 Tf) >>"
        ),
    ])
}
