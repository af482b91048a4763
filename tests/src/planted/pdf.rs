//! A PDF file of text lines in the two fonts that every reader has.

/// Width and height of a page in points, A4.
pub(crate) const WIDTH: u32 = 595;
pub(crate) const HEIGHT: u32 = 842;

/// A line of text on a page.
pub(crate) struct Line {
    /// Points from the left and from the bottom.
    pub(crate) x: u32,
    pub(crate) y: u32,
    /// Font size in points.
    pub(crate) size: u32,
    pub(crate) bold: bool,
    pub(crate) text: String,
}

/// A thin line between two points.
pub(crate) struct Rule {
    pub(crate) from: (u32, u32),
    pub(crate) to: (u32, u32),
}

/// The contents of a page.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) lines: Vec<Line>,
    pub(crate) rules: Vec<Rule>,
}

/// The file.
pub(crate) fn write(pages: &[Page]) -> Vec<u8> {
    let face = |name: &str| format!("<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>");
    let kids: Vec<String> = (0..pages.len()).map(|at| format!("{} 0 R", 5 + 2 * at)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()),
        face("Helvetica"),
        face("Helvetica-Bold"),
    ];
    for (at, page) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> \
             /Contents {} 0 R >>",
            6 + 2 * at
        ));
        let stream = stream(page);
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
    }
    assemble(&objects)
}

fn stream(page: &Page) -> String {
    let rules = page.rules.iter().map(|Rule { from, to }| format!("{} {} m {} {} l S\n", from.0, from.1, to.0, to.1));
    let lines = page.lines.iter().map(|line| {
        let face = if line.bold { "F2" } else { "F1" };
        format!("BT /{face} {} Tf {} {} Td ({}) Tj ET\n", line.size, line.x, line.y, literal(&line.text))
    });
    rules.chain(lines).collect()
}

/// A text as a literal string in the fonts' encoding, which agrees with Latin-1 on the letters.
fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '(' | ')' | '\\' => out.extend(['\\', letter]),
            '\u{20}'..='\u{7e}' => out.push(letter),
            '\u{a0}'..='\u{ff}' => out.push_str(&format!("\\{:03o}", u32::from(letter))),
            other => panic!("the faces have no {other}"),
        }
    }
    out
}

/// The file with these objects, the first of which is the catalogue.
pub(crate) fn assemble(objects: &[String]) -> Vec<u8> {
    let mut out = String::from("%PDF-1.4\n");
    let mut places = Vec::with_capacity(objects.len());
    for (at, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.push_str(&format!("{} 0 obj\n{object}\nendobj\n", at + 1));
    }
    let table = out.len();
    out.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    places.iter().for_each(|place| out.push_str(&format!("{place:010} 00000 n \n")));
    out.push_str(&format!("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1));
    out.into_bytes()
}
