//! More than five hundred hostile documents, made by families: cut off, mislabelled, locked, huge, nested, bombed, and
//! full of numbers that lie. With `PLUMBLINE_CORPUS` (`make corpus`) the sizes are absurd ones, which takes minutes.

use crate::make::{archive, assemble, deflated, epub, fixture, lines, odt, parser, pdf, seeds};
use crate::outcomes::{LIMITS, outcomes};
use plumbline_documents::Limits;
use std::time::Duration;

/// A name and its document.
type Animal = (String, Vec<u8>);
/// Common content of documents, and their construction.
type Family = (&'static str, fn() -> Vec<Animal>);

/// The sizes of an ordinary run, or all of them.
fn sizes<'a>(ordinary: &'a [usize], all: &'a [usize]) -> &'a [usize] {
    if std::env::var_os("PLUMBLINE_CORPUS").is_some() { all } else { ordinary }
}

/// Good documents that end too early.
fn cut_off() -> Vec<Animal> {
    let parts = [1, 4, 9, 64, 200, 350, 500, 650, 800, 900, 980, 999];
    let cut = |(name, bytes): (&str, Vec<u8>)| {
        parts.map(|part| (format!("cut-{part}-{name}"), bytes[..(bytes.len() * part).div_ceil(1000)].to_vec()))
    };
    seeds().into_iter().flat_map(cut).collect()
}

/// Good documents under every other name.
fn mislabelled() -> Vec<Animal> {
    let extensions = ["pdf", "docx", "odt", "epub", "html", "md", "txt", "doc", "png", "xlsx"];
    let relabel = |(name, bytes): (&str, Vec<u8>)| {
        let own = name.rsplit('.').next().unwrap_or_default().to_owned();
        let others = extensions.into_iter().filter(move |extension| *extension != own);
        others.map(|extension| (format!("{name}.{extension}"), bytes.clone())).collect::<Vec<_>>()
    };
    seeds().into_iter().flat_map(relabel).collect()
}

/// Documents with a password, and documents that claim to have one.
fn locked() -> Vec<Animal> {
    let list = b"<e><enc:CipherReference URI=\"OEBPS/text/page%200.xhtml\"/></e>";
    let letter = archive(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("META-INF/manifest.xml", b"<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>"),
        ("content.xml", b"\x01\x02\x03"),
    ]);
    let plain = String::from_utf8(pdf(&[lines(72, 700, &["Records shall be kept."])])).expect("plain objects");
    let claims = [
        "<< >>",
        "<< /Filter /Standard /V 9 /R 9 >>",
        "<< /Filter /Standard /V 4 /R 4 /O () /U () /P -1 >>",
        "1 0 R",
        "null",
        "[[[[",
    ];
    let claimed = claims.iter().enumerate().map(|(n, claim)| {
        (format!("claims-{n}.pdf"), plain.replace("/Root 1 0 R", &format!("/Root 1 0 R /Encrypt {claim}")).into_bytes())
    });
    let compound = [b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1".as_slice(), &[0; 4096], b"EncryptedPackage"].concat();
    [
        ("locked.pdf".to_owned(), fixture("encrypted.pdf")),
        ("owner.pdf".to_owned(), fixture("owner_password.pdf")),
        ("locked.epub".to_owned(), epub(&["<p>Locked.</p>"], &[("META-INF/encryption.xml", list)])),
        ("locked.odt".to_owned(), letter),
        ("locked.docx".to_owned(), compound),
    ]
    .into_iter()
    .chain(claimed)
    .collect()
}

/// A one-page PDF whose content stream is `data` with these filters.
fn filtered(filters: &str, data: &[u8]) -> Vec<u8> {
    let page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>";
    let head = format!(
        "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\n\
         endobj\n3 0 obj\n{page}\nendobj\n4 0 obj\n<< /Filter {filters} /Length {} >>\nstream\n",
        data.len()
    );
    [head.as_bytes(), data, b"\nendstream\nendobj\ntrailer\n<< /Size 5 /Root 1 0 R >>\n%%EOF\n"].concat()
}

/// Little that unpacks to much, once and twice.
fn bombs() -> Vec<Animal> {
    let mut found = Vec::new();
    for &mib in sizes(&[1_usize, 16], &[1, 8, 64, 128]) {
        let blank = vec![b' '; mib << 20];
        let packed = deflated(&blank);
        found.push((format!("flate-{mib}.pdf"), filtered("/FlateDecode", &packed)));
        found.push((format!("flate-twice-{mib}.pdf"), filtered("[/FlateDecode /FlateDecode]", &deflated(&packed))));
        let run_length = [129_u8, b' '].repeat((mib << 20) / 128);
        found.push((
            format!("run-length-{mib}.pdf"),
            filtered("[/FlateDecode /RunLengthDecode]", &deflated(&run_length)),
        ));
        let filters = "/ASCIIHexDecode ".repeat(mib * 100);
        found.push((format!("filters-{mib}.pdf"), filtered(&format!("[{filters}]"), b"2020>")));
        found.push((
            format!("word-{mib}.docx"),
            archive(&[("[Content_Types].xml", b"<Types/>"), ("word/document.xml", &blank)]),
        ));
        found.push((format!("letter-{mib}.odt"), odt("", &" ".repeat(mib << 20))));
        found.push((format!("book-{mib}.epub"), epub(&[&format!("<p>{}</p>", " x".repeat(mib << 19))], &[])));
    }
    found
}

/// Large without being packed.
fn huge() -> Vec<Animal> {
    let mut found = Vec::new();
    for &mib in sizes(&[1_usize], &[1, 4, 12]) {
        let bytes = mib << 20;
        found.push((format!("one-line-{mib}.txt"), vec![b'x'; bytes]));
        found.push((format!("line-ends-{mib}.txt"), vec![b'\n'; bytes]));
        found.push((format!("hashes-{mib}.md"), vec![b'#'; bytes]));
        found.push((format!("cells-{mib}.html"), format!("<table>{}", "<td>x".repeat(bytes / 5)).into_bytes()));
        found.push((format!("tags-{mib}.html"), "<p><b><i>".repeat(bytes / 9).into_bytes()));
        found.push((format!("attributes-{mib}.html"), format!("<p {}>x", "a=b ".repeat(bytes / 4)).into_bytes()));
        found.push((format!("entities-{mib}.html"), "&amp;".repeat(bytes / 5).into_bytes()));
        found.push((format!("operators-{mib}.pdf"), pdf(&["BT ET ".repeat(bytes / 6)])));
        found.push((format!("glyphs-{mib}.pdf"), pdf(&[lines(72, 700, &["word ".repeat(bytes / 50).as_str(); 10])])));
        let names: Vec<String> = (0..mib * 700).map(|n| format!("n{n}")).collect();
        let mut entries: Vec<(&str, &[u8])> = vec![("mimetype", b"application/epub+zip")];
        entries.extend(names.iter().map(|name| (name.as_str(), b"".as_slice())));
        found.push((format!("entries-{mib}.epub"), archive(&entries)));
    }
    found
}

/// Deep: every bracket that a format has, at depths from harmless to absurd.
fn nested() -> Vec<Animal> {
    let mut found = Vec::new();
    for &depth in sizes(&[10_usize, 100, 1_000, 10_000], &[10, 100, 1_000, 10_000, 100_000]) {
        let deep = |open: &str, close: &str| format!("{}x{}", open.repeat(depth), close.repeat(depth));
        for (name, content) in [
            ("divs.html", deep("<div>", "</div>")),
            ("quotes.html", deep("<blockquote>", "</blockquote>")),
            ("lists.html", deep("<ul><li>", "</li></ul>")),
            ("tables.html", deep("<table><tr><td>", "</td></tr></table>")),
            ("open.html", deep("<b>", "")),
            ("quotes.md", deep("> ", "")),
            ("lists.md", deep("- ", "")),
            ("brackets.md", deep("[", "](x)")),
            ("stars.md", deep("*a **b ", "")),
        ] {
            found.push((format!("{depth}-{name}"), content.into_bytes()));
        }
        let array = format!("<< /Type /Catalog /Pages {} >>", deep("[", "]"));
        found.push((format!("{depth}-arrays.pdf"), assemble(&[array])));
        let dictionary = format!("<< /Type /Catalog /Pages {} >>", deep("<< /A ", " >>"));
        found.push((format!("{depth}-dictionaries.pdf"), assemble(&[dictionary])));
        found.push((format!("{depth}-operands.pdf"), pdf(&[format!("BT {} TJ ET", deep("[", "]"))])));
        found.push((format!("{depth}-states.pdf"), pdf(&["q ".repeat(depth) + &lines(72, 700, &["deep"])])));
        found.push((
            format!("{depth}-spans.odt"),
            odt("", &format!("<text:p>{}</text:p>", deep("<text:span>", "</text:span>"))),
        ));
        found.push((format!("{depth}-divs.epub"), epub(&[&deep("<div>", "</div>")], &[])));
    }
    found
}

/// A PDF in which one number is another one.
fn lies() -> Vec<Animal> {
    let bytes = pdf(&[lines(72, 700, &["Records shall be kept."]), lines(72, 700, &["All of them."])]);
    let text = String::from_utf8(bytes).expect("plain objects");
    let digits = |at: &usize| text.as_bytes()[*at].is_ascii_digit() && !text.as_bytes()[at - 1].is_ascii_digit();
    let starts: Vec<usize> = (1..text.len()).filter(digits).collect();
    let lie = |(n, value): (usize, &str)| {
        let at = starts[n * 7 % starts.len()];
        let end = at + text[at..].find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        (format!("lie-{n}.pdf"), format!("{}{value}{}", &text[..at], &text[end..]).into_bytes())
    };
    let values = ["-1", "0", "4294967295", "999999999999999999999", "1e38"];
    (0..starts.len() * values.len()).map(|n| lie((n, values[n % values.len()]))).collect()
}

#[tokio::test]
async fn hostile_documents_end_in_text_or_a_sentence() {
    let limits = Limits { cpu: Duration::from_secs(2), ..LIMITS };
    let families: [Family; 7] = [
        ("cut off", cut_off),
        ("mislabelled", mislabelled),
        ("locked", locked),
        ("packed", bombs),
        ("huge", huge),
        ("nested", nested),
        ("lying", lies),
    ];
    let mut count = 0;
    for (what, family) in families {
        let parser = parser().with_limits(limits);
        count += outcomes(what, &parser, family().into_iter()).await.values().sum::<usize>();
    }
    assert!(count >= 500, "{count} documents");
}
