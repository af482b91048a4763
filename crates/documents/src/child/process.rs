//! The child's side: the body of the hidden command `plumbline __extract`.
//!
//! It limits itself before it reads a byte of the document and does one thing; its parent does not rely on it to end
//! properly. Its arguments are internal to the binary.

use crate::child::protocol::{Failure, Line, Parsed, Trailer, pieces};
use crate::{
    Kind, Page,
    formats::{docx, epub, html, odt, pdf, text, warnings},
};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::io::{BufWriter, Read as _, Write as _};
use std::ops::RangeInclusive;
use std::process::ExitCode;

/// Parsers recurse as deep as a document is nested; this stack is enough for ordinary deep documents. It is address
/// space, counted against the memory limit and committed only on use.
const STACK_BYTES: usize = 256 << 20;

/// The request of the parent.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    kind: Kind,
    pages: Option<RangeInclusive<u32>>,
    probe: bool,
    article: bool,
    lines: bool,
    memory_bytes: u64,
    cpu_secs: u64,
    output_bytes: u64,
}

/// Reads a document from stdin and writes its text to stdout, under the limits named in the arguments; the whole
/// body of `plumbline __extract --kind KIND [--pages A-B] [--probe] [--article] [--lines] --memory BYTES --cpu SECONDS
/// --output BYTES`.
///
/// The exit code is 0 if a final message was sent, including an error about the document, and 1 otherwise.
pub fn run_child() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    match Request::from_arguments(&arguments).ok_or_else(|| "wrong arguments".to_owned()).and_then(serve) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("__extract: {reason}");
            ExitCode::FAILURE
        }
    }
}

impl Request {
    fn from_arguments(arguments: &[String]) -> Option<Self> {
        let value = |name: &str| {
            let at = arguments.iter().position(|argument| argument == name)?;
            arguments.get(at + 1).map(String::as_str)
        };
        let pages = match value("--pages") {
            Some(range) => {
                let (first, last) = range.split_once('-')?;
                Some(first.parse().ok()?..=last.parse().ok()?)
            }
            None => None,
        };
        Some(Self {
            kind: value("--kind").and_then(|word| Kind::from_word(word).or_else(|| Kind::from_extension(word)))?,
            pages,
            probe: arguments.iter().any(|argument| argument == "--probe"),
            article: arguments.iter().any(|argument| argument == "--article"),
            lines: arguments.iter().any(|argument| argument == "--lines"),
            memory_bytes: value("--memory")?.parse().ok()?,
            cpu_secs: value("--cpu")?.parse().ok()?,
            output_bytes: value("--output")?.parse().ok()?,
        })
    }

    /// Sets the process's limits; they can only be lowered from then on.
    fn limit_self(&self) -> Result<(), String> {
        // The hard limit is one second higher, so that the soft limit's signal, which identifies the cause, comes
        // first.
        let limits = [
            (Resource::Core, 0, 0),
            (Resource::As, self.memory_bytes, self.memory_bytes),
            (Resource::Cpu, self.cpu_secs, self.cpu_secs + 1),
        ];
        for (resource, current, maximum) in limits {
            let limit = Rlimit { current: Some(current), maximum: Some(maximum) };
            setrlimit(resource, limit).map_err(|error| format!("cannot set the {resource:?} limit: {error}"))?;
        }
        Ok(())
    }

    /// The response to the parent. A text beyond the limit is refused as a whole before any of it is sent, because the
    /// parent stores it as it arrives.
    fn answer(&self, bytes: &[u8]) -> Parsed {
        let (pages, trailer) = warnings::settle(self.parse(bytes))?;
        let bytes = pages.iter().map(|page| page.text.len() as u64).sum();
        match self.output_bytes {
            most if bytes > most => Err(Failure::TooLong { bytes, most }),
            _ if self.probe => Ok((Vec::new(), trailer)),
            _ => Ok((pages, trailer)),
        }
    }

    fn parse(&self, bytes: &[u8]) -> Parsed {
        match self.kind {
            Kind::Pdf if self.probe => pdf::probe(bytes).map(|pages| {
                let trailer = Trailer { pages: Some(pages), ..Trailer::default() };
                (Vec::new(), trailer)
            }),
            Kind::Pdf => pdf::extract(bytes, self.pages.clone(), self.lines),
            Kind::Docx => docx::extract(bytes),
            Kind::Odt => odt::extract(bytes),
            Kind::Epub => epub::extract(bytes),
            Kind::Html if self.article => html::article(bytes),
            Kind::Html => html::extract(bytes),
            Kind::Markdown | Kind::Text => text::extract(bytes),
            Kind::Table => text::extract_table(bytes),
        }
    }
}

fn serve(request: Request) -> Result<(), String> {
    request.limit_self()?;
    let parser = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map_err(|error| format!("cannot read stdin: {error}"))?;
        say(request.answer(&bytes)).map_err(|error| format!("cannot write stdout: {error}"))
    });
    let parser = parser.map_err(|error| format!("cannot start the parser's thread: {error}"))?;
    parser.join().unwrap_or_else(|_| Err("the parser panicked".to_owned()))
}

fn say(answer: Parsed) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut write = |line: Line| {
        serde_json::to_writer(&mut out, &line)?;
        out.write_all(b"\n")
    };
    match answer {
        Ok((pages, trailer)) => {
            for Page { number, text } in pages {
                pieces(&text).try_for_each(|piece| write(Line::Page(Page { number, text: piece.to_owned() })))?;
            }
            write(Line::End(trailer))?;
        }
        Err(failure) => write(Line::Error(failure))?,
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_in_any_order_and_refused_when_incomplete() {
        let read = |line: &str| Request::from_arguments(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let request = read("--cpu 60 --pages 3-4 --kind pdf --output 9 --memory 1024").expect("complete");
        assert_eq!(
            request,
            Request {
                kind: Kind::Pdf,
                pages: Some(3..=4),
                probe: false,
                article: false,
                lines: false,
                memory_bytes: 1024,
                cpu_secs: 60,
                output_bytes: 9
            }
        );
        assert!(read("--kind text --memory 1 --cpu 1 --output 1 --probe").expect("complete").probe);
        for wrong in [
            "",
            "--kind pdf",
            "--kind pdf --memory 1 --cpu 1",
            "--kind rtf --memory 1 --cpu 1 --output 1",
            "--kind pdf --memory 1 --cpu 1 --output 1 --pages 3",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
