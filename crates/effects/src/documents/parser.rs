//! The parent's side: starts the parser child, feeds it, and puts an end to it.

use super::error::UNNAMED;
use super::wire::{Line, Trailer};
use super::{DocumentError, Ending, Extracted, Kind, Page, Probe, kind_of};
use std::ops::RangeInclusive;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

/// What a parser child may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Address space, in bytes; the child sets it on itself.
    pub memory: u64,
    /// CPU time; the child sets it on itself, so it ends even when its parent is gone.
    pub cpu: Duration,
    /// Time from its start to its last word, kept by the parent.
    pub wall: Duration,
    /// Bytes it may write to stdout.
    pub output: u64,
}

impl Default for Limits {
    /// 2 GiB, 60 s of CPU, 120 s in all, 64 MiB of text.
    fn default() -> Self {
        Self { memory: 2 << 30, cpu: Duration::from_secs(60), wall: Duration::from_secs(120), output: 64 << 20 }
    }
}

/// Reads documents, each in a child process of its own; cheap to clone.
///
/// No more children run at once than there are processors: the others wait for their turn, which does not count
/// against their time.
#[derive(Clone, Debug)]
pub struct Parser {
    program: PathBuf,
    limits: Limits,
    turns: Arc<Semaphore>,
}

/// Enough of a dying child's last words to tell why it died.
const STDERR_BYTES: u64 = 8 << 10;

impl Parser {
    /// A parser that runs `program __extract …`, ordinarily the running binary itself, under the default limits.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { program: program.into(), limits: Limits::default(), turns: Arc::new(Semaphore::new(processors)) }
    }

    /// The same parser under other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The text of a document, of a paged one only the pages asked for.
    ///
    /// # Errors
    /// See [`DocumentError`]; the document is called `the document` in it, see [`DocumentError::with_name`].
    pub async fn extract(
        &self,
        kind: Kind,
        bytes: &[u8],
        pages: Option<RangeInclusive<u32>>,
    ) -> Result<Extracted, DocumentError> {
        let mut extra = Vec::new();
        if let Some(range) = pages {
            extra.extend(["--pages".to_owned(), format!("{}-{}", range.start(), range.end())]);
        }
        let (pages, trailer) = self.run(kind, bytes, &extra).await?;
        Ok(Extracted { kind, title: trailer.title, pages, paged: kind.paged(), warnings: trailer.warnings })
    }

    /// What the document `name` is, and whether it can be opened at all, without extracting it.
    ///
    /// # Errors
    /// As [`kind_of`]; for a PDF also that it is encrypted or broken.
    pub async fn probe(&self, name: &str, bytes: &[u8]) -> Result<Probe, DocumentError> {
        let kind = kind_of(name, bytes)?;
        if kind != Kind::Pdf {
            return Ok(Probe { kind, pages: None });
        }
        let run = self.run(kind, bytes, &["--probe".to_owned()]).await;
        run.map(|(_, trailer)| Probe { kind, pages: trailer.pages }).map_err(|error| error.with_name(name))
    }

    async fn run(&self, kind: Kind, bytes: &[u8], extra: &[String]) -> Result<(Vec<Page>, Trailer), DocumentError> {
        let _turn = self.turns.acquire().await.expect("the semaphore is never closed");
        let mut child = self.spawn(kind, extra)?;
        let talk = tokio::time::timeout(self.limits.wall, converse(&mut child, bytes, self.limits.output)).await;
        let Ok(talk) = talk else {
            // A child that cannot be killed has ended by itself.
            let _ = child.kill().await;
            return Err(died(Ending::OutOfTime));
        };
        let talk = talk.map_err(|error| self.not_run(&error))?;
        if talk.stdout.len() as u64 > self.limits.output {
            let _ = child.kill().await;
            return Err(died(Ending::TooMuchOutput));
        }
        let status = child.wait().await.map_err(|error| self.not_run(&error))?;
        if !status.success() {
            return Err(died(why(status, &talk.stderr)));
        }
        read_lines(&talk.stdout)
    }

    fn spawn(&self, kind: Kind, extra: &[String]) -> Result<Child, DocumentError> {
        Command::new(&self.program)
            .args(["__extract", "--kind", kind.word()])
            .args(["--memory".to_owned(), self.limits.memory.to_string()])
            .args(["--cpu".to_owned(), self.limits.cpu.as_secs().max(1).to_string()])
            .args(extra)
            // Nothing of ours to read: no secrets in the environment, no files by a relative path.
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

struct Talk {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// Feeds the child and listens to it at the same time: either alone would stand still once a pipe is full.
async fn converse(child: &mut Child, bytes: &[u8], output: u64) -> std::io::Result<Talk> {
    let mut stdin = child.stdin.take().expect("stdin was asked for as a pipe");
    let stdout = child.stdout.take().expect("stdout was asked for as a pipe");
    let stderr = child.stderr.take().expect("stderr was asked for as a pipe");
    let feed = async {
        // A child that ends early closes its end; what it has to say about that is on the other pipes.
        let _ = stdin.write_all(bytes).await;
        drop(stdin);
    };
    // One byte over the limit is read, to tell a full output from one that is too large.
    let ((), stdout, stderr) = tokio::join!(feed, listen(stdout, output + 1), listen(stderr, STDERR_BYTES));
    Ok(Talk { stdout: stdout?, stderr: stderr? })
}

async fn listen(pipe: impl AsyncRead + Unpin, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pipe.take(limit).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

fn died(ending: Ending) -> DocumentError {
    DocumentError::ParserDied { name: UNNAMED.to_owned(), ending }
}

/// Why a child died: the signal of the CPU limit, the allocator's last words, or anything else.
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

fn read_lines(stdout: &[u8]) -> Result<(Vec<Page>, Trailer), DocumentError> {
    let mut pages = Vec::new();
    for line in stdout.split(|byte| *byte == b'\n') {
        match serde_json::from_slice(line) {
            Ok(Line::Page(page)) => pages.push(page),
            Ok(Line::End(trailer)) => return Ok((pages, trailer)),
            Ok(Line::Error(failure)) => return Err(failure.into()),
            Err(_) => break,
        }
    }
    Err(died(Ending::Crashed))
}
