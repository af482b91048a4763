//! Documents made by the tests themselves.

const SENTENCES: [&str; 5] = [
    "Records shall be kept for ten years after the end of the calendar year.",
    "The controller documents every change of a record and who made it.",
    "Backups are tested twice a year by restoring them to another machine.",
    "Invoices that were received on paper may be destroyed after they were scanned.",
    "Nobody but the archivist may delete a record before its time is over.",
];

/// Line `line` of page `page`.
pub(crate) fn sentence(page: usize, line: usize) -> String {
    format!("{} {page}.{line}", SENTENCES[(page + line) % SENTENCES.len()])
}

/// A PDF of so many pages with forty lines each.
pub(crate) fn pdf(pages: usize) -> Vec<u8> {
    let kids: Vec<String> = (0..pages).map(|n| format!("{} 0 R", 4 + 2 * n)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_string(),
        format!("<< /Type /Pages /Kids [{}] /Count {pages} >>", kids.join(" ")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_string(),
    ];
    for page in 1..=pages {
        let draw = |line: usize| format!("BT /F1 10 Tf 72 {} Td ({}) Tj ET\n", 740 - 14 * line, sentence(page, line));
        let stream: String = (0..40).map(draw).collect();
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> \
             /Contents {} 0 R >>",
            3 + 2 * page
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
    }
    assemble(&objects)
}

fn assemble(objects: &[String]) -> Vec<u8> {
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
