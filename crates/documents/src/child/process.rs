//! The child's side: the body of the hidden command `plumbline __extract`.
//!
//! It limits itself before it reads a byte of the document and does one thing; its parent does not rely on it to end
//! properly. Its argument is internal to the binary.

use crate::child::protocol::{Failure, Line, Parsed, Request, Trailer, pieces};
use crate::{
    Kind, Page,
    formats::{docx, epub, html, odt, pdf, text, warnings},
};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::io::{BufWriter, Read as _, Write as _};
use std::process::ExitCode;

/// Parsers recurse as deep as a document is nested; this stack is enough for ordinary deep documents. It is address
/// space, counted against the memory limit and committed only on use.
const STACK_BYTES: usize = 256 << 20;

/// Reads a document from stdin and writes its text to stdout, under the limits named in the request; the whole
/// body of `plumbline __extract REQUEST`.
///
/// The exit code is 0 if a final message was sent, including an error about the document, and 1 otherwise.
pub fn run_child() -> ExitCode {
    let request = std::env::args().nth(2).ok_or_else(|| "no request".to_owned());
    let request =
        request.and_then(|text| serde_json::from_str(&text).map_err(|error| format!("a wrong request: {error}")));
    match request.and_then(serve) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("__extract: {reason}");
            ExitCode::FAILURE
        }
    }
}

impl Request {
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
