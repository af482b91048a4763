//! The parent's side: starts the parser child, feeds it, and stops it.

use crate::child::page_sink::{BlockedTime, PageSink, within};
use crate::child::protocol::{Line, Request, Trailer};
use crate::error::UNNAMED;
use crate::{About, DocumentError, Ending, Extracted, Kind, Page, Probe, has_pages, kind_of};
use serde_json::json;
use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{Semaphore, SemaphorePermit, mpsc};

/// Resource limits of a parser child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Address space, in bytes; the child sets it on itself.
    pub memory: u64,
    /// CPU time for any document; the child sets the limit on itself, so it ends even if its parent is gone.
    pub cpu: Duration,
    /// Additional CPU time for each MiB of the document.
    pub cpu_per_mib: Duration,
    /// Wall time from start to final message, enforced by the parent. It ends a child that waits forever; on a busy
    /// machine, a computing child may need many times its CPU time.
    pub wall: Duration,
    /// Maximum bytes of output text.
    pub output: u64,
}

impl Default for Limits {
    /// 2 GiB, 60 s of CPU and 30 s more for each MiB, 20 minutes in all, 64 MiB of text. An optimized build takes a
    /// hundredth of that CPU time for ordinary documents, an unoptimized one a tenth.
    fn default() -> Self {
        Self {
            memory: MOST_MEMORY,
            cpu: Duration::from_secs(60),
            cpu_per_mib: Duration::from_secs(30),
            wall: Duration::from_secs(1_200),
            output: 64 << 20,
        }
    }
}

impl Limits {
    /// Seconds of CPU time for a document of this many bytes.
    fn cpu_secs(&self, bytes: usize) -> u64 {
        let mib = u32::try_from(bytes >> 20).unwrap_or(u32::MAX);
        let whole = self.cpu.saturating_add(self.cpu_per_mib.saturating_mul(mib));
        whole.min(MOST_CPU.max(self.cpu)).as_secs().max(1)
    }
}

/// Maximum CPU time of a child for any document: meanwhile it holds one of the few permits.
const MOST_CPU: Duration = Duration::from_secs(600);

/// Maximum address space of a child.
const MOST_MEMORY: u64 = 2 << 30;
/// Minimum address space: with less, ordinary documents fail.
const LEAST_MEMORY: u64 = 512 << 20;

/// How many children may run at once on this many processors, and the address space of each, within the memory limit of
/// the container: half of it is for them, the other half for the worker.
fn shares(processors: usize, container: Option<u64>) -> (usize, u64) {
    let Some(theirs) = container.map(|bytes| bytes / 2) else { return (processors, MOST_MEMORY) };
    let permits = usize::try_from(theirs / LEAST_MEMORY).unwrap_or(processors).clamp(1, processors);
    (permits, (theirs / permits as u64).clamp(LEAST_MEMORY, MOST_MEMORY))
}

/// The container's memory limit in bytes, if there is one: cgroup v2, then v1.
fn container_memory() -> Option<u64> {
    let files = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let text = files.into_iter().find_map(|file| std::fs::read_to_string(file).ok())?;
    // `max`, or a number larger than any memory, means no limit.
    text.trim().parse().ok().filter(|bytes| *bytes < 1 << 50)
}

/// Reads each document in a separate child process; cheap to clone.
///
/// At most as many children run at once as there are processors, or as a container has memory for. Others wait for a
/// [`ParserPermit`], which does not count against their time.
#[derive(Clone, Debug)]
pub struct Parser {
    program: PathBuf,
    limits: Limits,
    permits: Arc<Semaphore>,
}

/// A permit for one parser process. Acquire it before loading the document, so that no bytes are held while waiting.
pub struct ParserPermit<'a> {
    parser: &'a Parser,
    lines: bool,
    _permit: SemaphorePermit<'a>,
}

/// Maximum bytes of stdout per byte of text: quotes and line ends are escaped with a backslash. The child enforces the
/// limit on the text itself, so only a misbehaving child reaches this one.
const OUTPUT_PER_TEXT: u64 = 2;
/// Bytes of stdout besides the text: the framing of each page.
const OUTPUT_BESIDE: u64 = 16 << 20;
/// Maximum size of a byte of plain text after conversion to UTF-8.
const MOST_GROWTH: u64 = 3;
/// How many pages, or pieces of long ones, the child may be ahead of the consumer.
const PAGES_AHEAD: usize = 8;
/// Enough of a dying child's stderr to determine the cause.
const STDERR_BYTES: u64 = 8 << 10;

impl Parser {
    /// A parser that runs `program __extract …`, usually the running binary itself, under the default limits, with less
    /// memory if the container has less.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let (permits, memory) = shares(processors, container_memory());
        let limits = Limits { memory, ..Limits::default() };
        Self { program: program.into(), limits, permits: Arc::new(Semaphore::new(permits)) }
    }

    /// The same parser under other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The text of a document; of a paged one, only the requested pages.
    ///
    /// # Errors
    /// See [`DocumentError`]; the document is called `the document` in it, see [`DocumentError::with_name`].
    pub async fn extract(
        &self,
        kind: Kind,
        bytes: &[u8],
        pages: Option<RangeInclusive<u32>>,
    ) -> Result<Extracted, DocumentError> {
        let (sender, read) = mpsc::channel(PAGES_AHEAD);
        let extracted = self.permit().await.extract_to(kind, bytes.into(), pages, sender);
        let (about, pages) = tokio::join!(extracted, joined(read));
        let About { title, unread, warnings } = about?;
        Ok(Extracted { kind, title, pages, paged: has_pages(kind, bytes), unread, warnings })
    }

    /// Waits until a child may run.
    pub async fn permit(&self) -> ParserPermit<'_> {
        let permit = self.permits.acquire().await.expect("the semaphore is never closed");
        ParserPermit { parser: self, lines: false, _permit: permit }
    }

    /// The main article of a web page, or the whole page if there is none.
    ///
    /// # Errors
    /// As [`Parser::extract`].
    pub async fn article(&self, html: &[u8]) -> Result<Extracted, DocumentError> {
        let (sender, read) = mpsc::channel(PAGES_AHEAD);
        let request = Request { article: true, ..self.request(Kind::Html, html.len()) };
        let (trailer, pages) = tokio::join!(self.permit().await.run(request, html.into(), sender), joined(read));
        let Trailer { title, unread, warnings, .. } = trailer?;
        Ok(Extracted { kind: Kind::Html, title, pages, paged: false, unread, warnings })
    }

    /// The kind of the document `name`, and whether it can be opened, without extracting it.
    ///
    /// # Errors
    /// As [`kind_of`]; for a PDF also if it is encrypted or broken, for plain text if it exceeds the limit.
    pub async fn probe(&self, name: &str, bytes: &[u8]) -> Result<Probe, DocumentError> {
        let kind = kind_of(name, bytes)?;
        let may_be_too_long = bytes.len() as u64 > self.limits.output / MOST_GROWTH;
        let has_to_be_opened = match kind {
            Kind::Pdf => true,
            Kind::Markdown | Kind::Text | Kind::Table => may_be_too_long,
            Kind::Docx | Kind::Odt | Kind::Epub | Kind::Html => false,
        };
        if !has_to_be_opened {
            return Ok(Probe { kind, pages: None });
        }
        let request = Request { probe: true, ..self.request(kind, bytes.len()) };
        let run = self.permit().await.run(request, bytes.into(), mpsc::channel(1).0).await;
        run.map(|trailer| Probe { kind, pages: trailer.pages }).map_err(|error| error.with_name(name))
    }

    /// A request for all of a document of this many bytes.
    fn request(&self, kind: Kind, bytes: usize) -> Request {
        Request {
            kind,
            pages: None,
            probe: false,
            article: false,
            lines: false,
            memory_bytes: self.limits.memory,
            cpu_secs: self.limits.cpu_secs(bytes),
            output_bytes: self.limits.output,
        }
    }

    fn spawn(&self, request: &Request) -> Result<Child, DocumentError> {
        Command::new(&self.program)
            .args(["__extract", &json!(request).to_string()])
            // The child inherits nothing: no secrets in the environment, no files by a relative path.
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| self.not_run(&error))
    }

    fn not_run(&self, error: &std::io::Error) -> DocumentError {
        DocumentError::Spawn { program: self.program.display().to_string(), reason: error.to_string() }
    }
}

impl ParserPermit<'_> {
    /// Whether the text of a PDF keeps its line ends and all other content of the pages.
    #[must_use]
    pub fn keeping_lines(mut self, lines: bool) -> Self {
        self.lines = lines;
        self
    }

    /// The requested pages of a PDF, line by line as printed: nothing is joined or omitted.
    ///
    /// # Errors
    /// As [`Parser::extract`].
    pub async fn lines(self, pdf: Vec<u8>, pages: Option<RangeInclusive<u32>>) -> Result<Vec<Page>, DocumentError> {
        let (sender, read) = mpsc::channel(PAGES_AHEAD);
        let extracted = self.keeping_lines(true).extract_to(Kind::Pdf, pdf.into(), pages, sender);
        let (about, read) = tokio::join!(extracted, joined(read));
        about.map(|_| read)
    }

    /// Streams the pages of a document to the consumer; back-pressure is not charged to the child's time limit. If the
    /// consumer is gone, the child is stopped. The document's bytes are dropped when the child has read them.
    ///
    /// # Errors
    /// As [`Parser::extract`]. Discard pages that were passed on before an error.
    pub async fn extract_to(
        self,
        kind: Kind,
        bytes: Cow<'_, [u8]>,
        pages: Option<RangeInclusive<u32>>,
        to: mpsc::Sender<Page>,
    ) -> Result<About, DocumentError> {
        let request = Request { pages, lines: self.lines, ..self.parser.request(kind, bytes.len()) };
        let Trailer { title, unread, warnings, .. } = self.run(request, bytes, to).await?;
        Ok(About { title, unread, warnings })
    }

    async fn run(
        self,
        request: Request,
        bytes: Cow<'_, [u8]>,
        pages: mpsc::Sender<Page>,
    ) -> Result<Trailer, DocumentError> {
        let Self { parser, _permit, .. } = self;
        let limits = parser.limits;
        let output = limits.output.saturating_mul(OUTPUT_PER_TEXT).saturating_add(OUTPUT_BESIDE);
        let mut child = parser.spawn(&request)?;
        let waited = BlockedTime::default();
        let talk = converse(&mut child, bytes, output, PageSink { pages, waited: &waited });
        let Some(talk) = within(limits.wall, &waited, talk).await else {
            // If a child cannot be killed, it has already ended.
            let _ = child.kill().await;
            return Err(died(Ending::OutOfTime));
        };
        let talk = talk.map_err(|error| parser.not_run(&error))?;
        if talk.heard.bytes > output {
            let _ = child.kill().await;
            return Err(died(Ending::TooMuchOutput));
        }
        let status = child.wait().await.map_err(|error| parser.not_run(&error))?;
        if !status.success() {
            return Err(died(why(status, &talk.stderr)));
        }
        match talk.heard.last_word {
            Some(Line::End(trailer)) => Ok(trailer),
            Some(Line::Error(failure)) => Err(failure.into()),
            Some(Line::Page(_)) | None => Err(died(Ending::Crashed)),
        }
    }
}

/// The output of a child.
struct Talk {
    heard: ChildOutput,
    stderr: Vec<u8>,
}

/// The output on stdout, besides the pages.
struct ChildOutput {
    bytes: u64,
    last_word: Option<Line>,
}

/// The pages that a child sends, each whole.
async fn joined(mut sent: mpsc::Receiver<Page>) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    while let Some(page) = sent.recv().await {
        match pages.last_mut() {
            Some(last) if last.number == page.number => last.text.push_str(&page.text),
            _ => pages.push(page),
        }
    }
    pages
}

/// Writes to the child and reads from it concurrently: either alone would deadlock once a pipe is full.
async fn converse(child: &mut Child, bytes: Cow<'_, [u8]>, output: u64, sink: PageSink<'_>) -> std::io::Result<Talk> {
    let mut stdin = child.stdin.take().expect("stdin was asked for as a pipe");
    let stdout = child.stdout.take().expect("stdout was asked for as a pipe");
    let stderr = child.stderr.take().expect("stderr was asked for as a pipe");
    let feed = async {
        // A child that ends early closes its end; the reason is on the other pipes.
        let _ = stdin.write_all(&bytes).await;
        drop((stdin, bytes));
    };
    // One byte more than the limit is read, to distinguish a full output from one that is too large.
    let ((), heard, stderr) = tokio::join!(feed, hear(stdout, output + 1, sink), last_words(stderr));
    Ok(Talk { heard: heard?, stderr: stderr? })
}

/// Passes the pages on as they arrive, until the final message or an invalid line.
async fn hear(pipe: impl AsyncRead + Unpin, limit: u64, sink: PageSink<'_>) -> std::io::Result<ChildOutput> {
    let mut lines = BufReader::new(pipe.take(limit));
    let mut heard = ChildOutput { bytes: 0, last_word: None };
    let mut line = Vec::new();
    loop {
        line.clear();
        heard.bytes += lines.read_until(b'\n', &mut line).await? as u64;
        match serde_json::from_slice(&line) {
            // If the consumer is gone, there is no final message, and the child counts as dead.
            Ok(Line::Page(page)) => match sink.take(page).await {
                true => {}
                false => return Ok(heard),
            },
            Ok(last @ (Line::End(_) | Line::Error(_))) => {
                heard.last_word = Some(last);
                return Ok(heard);
            }
            Err(_) => return Ok(heard),
        }
    }
}

async fn last_words(pipe: impl AsyncRead + Unpin) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pipe.take(STDERR_BYTES).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

fn died(ending: Ending) -> DocumentError {
    DocumentError::ParserDied { name: UNNAMED.to_owned(), ending }
}

/// Why a child died: the signal of the CPU limit, the allocator's message, or anything else.
fn why(status: ExitStatus, stderr: &[u8]) -> Ending {
    let words = String::from_utf8_lossy(stderr);
    if status.signal() == Some(rustix::process::Signal::XCPU.as_raw()) {
        Ending::OutOfTime
    } else if words.contains("memory allocation of") || words.contains("capacity overflow") {
        Ending::OutOfMemory
    } else {
        Ending::Crashed
    }
}

#[cfg(test)]
mod tests {
    use super::{LEAST_MEMORY, Limits, MOST_MEMORY, shares};
    use std::time::Duration;

    #[test]
    fn a_large_document_has_more_time_than_a_small_one_and_none_has_all_of_it() {
        let limits = Limits::default();
        assert_eq!([0, 1 << 19, 1 << 20, 9 << 20, 1 << 40].map(|bytes| limits.cpu_secs(bytes)), [60, 60, 90, 330, 600]);
        let long = Limits { cpu: Duration::from_secs(900), ..limits };
        assert_eq!(long.cpu_secs(1 << 20), 900, "a limit that is asked for holds");
        assert_eq!(Limits { cpu: Duration::ZERO, cpu_per_mib: Duration::ZERO, ..limits }.cpu_secs(5), 1);
    }

    #[test]
    fn children_share_half_of_what_a_container_has() {
        const GIB: u64 = 1 << 30;
        assert_eq!(shares(4, None), (4, MOST_MEMORY));
        assert_eq!(shares(2, Some(2 * GIB)), (2, LEAST_MEMORY));
        assert_eq!(shares(8, Some(2 * GIB)), (2, LEAST_MEMORY));
        assert_eq!(shares(4, Some(64 * GIB)), (4, MOST_MEMORY));
        assert_eq!(shares(2, Some(4 * GIB)), (2, GIB));
        assert_eq!(shares(2, Some(GIB / 4)), (1, LEAST_MEMORY), "with less, nothing can be read");
    }
}
