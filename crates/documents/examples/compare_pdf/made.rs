//! PDFs generated for the comparison: columns and tables, where tools differ. Their content is known, so each comes
//! with the text of its pages in reading order.

const WORDS: [&str; 24] = [
    "records", "shall", "be", "kept", "for", "ten", "years", "after", "the", "end", "of", "calendar", "year", "in",
    "which", "they", "were", "made", "unless", "another", "law", "asks", "more", "time",
];

/// Lines on a page.
const LINES: usize = 48;

/// A PDF and the text of each of its pages.
pub(crate) struct Made {
    pub(crate) bytes: Vec<u8>,
    pub(crate) texts: Vec<String>,
}

/// A page in progress: its drawing operations and its words.
#[derive(Default)]
struct Drawn {
    stream: String,
    text: String,
}

impl Drawn {
    fn show(&mut self, x: usize, line: usize, text: &str) {
        self.stream.push_str(&format!("BT /F1 9 Tf {x} {} Td ({text}) Tj ET\n", 740 - 14 * line));
        self.text.push_str(text);
        self.text.push('\n');
    }
}

/// Two columns, drawn row by row across both: the left one is read first.
pub(crate) fn two_columns(pages: usize) -> Made {
    made(pages, |page| {
        let (mut left, mut right) = (Drawn::default(), Drawn::default());
        let mut stream = String::new();
        for line in 0..LINES {
            left.show(60, line, &words(page * 2 * LINES + line, 8));
            right.show(330, line, &words((page * 2 + 1) * LINES + line, 8));
            stream.push_str(&std::mem::take(&mut left.stream));
            stream.push_str(&std::mem::take(&mut right.stream));
        }
        Drawn { stream, text: left.text + &right.text }
    })
}

/// Ruled tables of five columns with a line of text between them.
pub(crate) fn tables(pages: usize) -> Made {
    made(pages, |page| {
        let mut drawn = Drawn::default();
        for line in 0..LINES {
            if line % 12 == 11 {
                drawn.show(60, line, &words(page + line, 14));
                continue;
            }
            let y = 736 - 14 * line;
            drawn.stream.push_str(&format!("60 {y} m 560 {y} l S\n"));
            for column in 0..5 {
                drawn.show(64 + 100 * column, line, &words(page * LINES + line * 5 + column, 2));
            }
        }
        drawn
    })
}

fn made(pages: usize, draw: impl Fn(usize) -> Drawn) -> Made {
    let (streams, texts): (Vec<String>, Vec<String>) =
        (0..pages).map(draw).map(|drawn| (drawn.stream, drawn.text)).unzip();
    Made { bytes: document(&streams), texts }
}

fn words(from: usize, count: usize) -> String {
    (0..count).map(|n| WORDS[(from * 7 + n * 5 + from / 24) % WORDS.len()]).collect::<Vec<_>>().join(" ")
}

fn document(streams: &[String]) -> Vec<u8> {
    let pages = streams.len();
    let kids: Vec<String> = (0..pages).map(|n| format!("{} 0 R", 4 + 2 * n)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {pages} >>", kids.join(" ")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for (page, stream) in streams.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> \
             /Contents {} 0 R >>",
            5 + 2 * page
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
    }
    let mut out = String::from("%PDF-1.4\n");
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (n, object) in objects.iter().enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", out.len()));
        out.push_str(&format!("{} 0 obj\n{object}\nendobj\n", n + 1));
    }
    let end = format!("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{}\n%%EOF\n", objects.len() + 1, out.len());
    (out + &table + &end).into_bytes()
}
