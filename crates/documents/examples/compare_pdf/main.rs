//! Text quality and speed against `pdftotext`, and against the parser's own layout without ours: `cargo run --release
//! --example compare_pdf -- FILE.pdf…`; a PDF of two columns and one of tables, made for it, come after the files.
//!
//! One line per file and tool: pages per second including process start (the parser's own runs in this process), and
//! the similarity to our text, page by page: twice the longest common sequence of words over the words of both. The
//! text of generated files is known, so each tool is compared with it.

mod made;

use plumbline_documents::{Kind, Parser, run_child};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Words compared of one page: the comparison takes the square of it.
const MAX_WORDS: usize = 2_000;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("__extract") {
        return run_child();
    }
    match std::env::args().skip(1).try_for_each(|file| compare(&file, None)).and_then(|()| compare_made()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the made PDFs beside the program and compares them.
fn compare_made() -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    for (name, made) in [("two-columns.pdf", made::two_columns(100)), ("tables.pdf", made::tables(100))] {
        let file = program.with_file_name(name);
        std::fs::write(&file, made.bytes).map_err(|error| format!("{}: {error}", file.display()))?;
        compare(&file.display().to_string(), Some(&made.texts))?;
    }
    Ok(())
}

/// Runs all tools on a file; `written`: the text of its pages, if known.
fn compare(file: &str, written: Option<&[String]>) -> Result<(), String> {
    let (ours, rate) = timed(|| extract(file))?;
    let truth = |pages: &[String]| {
        written.map_or_else(String::new, |written| format!("   to what was written {:.3}", likeness(pages, written)))
    };
    println!(
        "{file}: {} pages\n  plumbline          {rate:7.0} pages/s                    {}",
        ours.len(),
        truth(&ours)
    );
    for name in ["unpdf", "pdftotext", "pdftotext -layout"] {
        let theirs = timed(|| match name {
            "unpdf" => unpdf_alone(file),
            "pdftotext" => pdftotext(file, &[]),
            _ => pdftotext(file, &["-layout"]),
        });
        match theirs {
            Ok((theirs, rate)) => {
                let (like, truth) = (likeness(&ours, &theirs), truth(&theirs));
                println!("  {name:18} {rate:7.0} pages/s   likeness to ours {like:.3}{truth}");
            }
            Err(reason) => println!("  {name:18} {reason}"),
        }
    }
    Ok(())
}

/// The pages and how many of them a second gives.
fn timed(run: impl FnOnce() -> Result<Vec<String>, String>) -> Result<(Vec<String>, f64), String> {
    let began = Instant::now();
    let pages = run()?;
    let rate = pages.len() as f64 / began.elapsed().as_secs_f64();
    Ok((pages, rate))
}

fn extract(file: &str) -> Result<Vec<String>, String> {
    let bytes = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let document = runtime.block_on(Parser::new(program).extract(Kind::Pdf, &bytes, None));
    let document = document.map_err(|error| error.with_name(file).to_string())?;
    Ok(document.pages.into_iter().map(|page| page.text).collect())
}

/// The parser's own lines, paragraphs and tables.
fn unpdf_alone(file: &str) -> Result<Vec<String>, String> {
    let document = unpdf::parse_file(file).map_err(|error| format!("failed: {error}"))?;
    Ok(document.pages.iter().map(unpdf::Page::plain_text).collect())
}

fn pdftotext(file: &str, options: &[&str]) -> Result<Vec<String>, String> {
    let run = Command::new("pdftotext").args(options).args([file, "-"]).output();
    let run = run.map_err(|error| format!("is not here: {error}"))?;
    if !run.status.success() {
        return Err(format!("failed: {}", String::from_utf8_lossy(&run.stderr).trim()));
    }
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let mut pages: Vec<String> = text.split('\u{c}').map(str::to_owned).collect();
    // A form feed ends each page, the last one too.
    pages.pop();
    Ok(pages)
}

fn likeness(ours: &[String], theirs: &[String]) -> f64 {
    let (mut common, mut all) = (0, 0);
    for (left, right) in ours.iter().zip(theirs) {
        let (left, right) = (words(left), words(right));
        common += common_sequence(&left, &right);
        all += left.len() + right.len();
    }
    if all == 0 { 1.0 } else { 2.0 * common as f64 / all as f64 }
}

/// The words without Markdown marks and hyphens, so that a dehyphenated word is equal.
fn words(page: &str) -> Vec<String> {
    let mended = page.replace("-\n", "").replace("\u{ad}", "");
    let plain = mended.split_whitespace().map(|word| word.replace('-', ""));
    plain.filter(|word| word.chars().any(char::is_alphanumeric)).take(MAX_WORDS).collect()
}

fn common_sequence(left: &[String], right: &[String]) -> usize {
    let mut row = vec![0; right.len() + 1];
    for word in left {
        let mut diagonal = 0;
        for (place, other) in right.iter().enumerate() {
            let above = row[place + 1];
            row[place + 1] = if word == other { diagonal + 1 } else { above.max(row[place]) };
            diagonal = above;
        }
    }
    row[right.len()]
}
