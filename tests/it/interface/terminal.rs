//! The commands on a real terminal: a pseudo-terminal of the kernel, with a size, a cursor and a line discipline.

use plumbline_system_tests::{Answer, PgPool, World, documents, eventually, jobs::NewJob};
use rustix::{
    fs::{Mode, OFlags},
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcgetattr, tcsetwinsize},
};
use std::{
    fs::File,
    io::Read,
    os::fd::OwnedFd,
    process::Stdio,
    sync::{Arc, Mutex},
    thread::JoinHandle,
};
use tokio::process::{Child, Command};

/// A terminal with a program on it.
struct Terminal {
    child: Child,
    /// Our own handle of the program's side, to read its modes.
    side: OwnedFd,
    seen: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Terminal {
    /// Starts a command on a terminal of this size.
    fn start(mut command: Command, rows: u16, columns: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("the kernel has pseudo-terminals");
        grantpt(&master).expect("ours to give");
        unlockpt(&master).expect("ours to unlock");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        let side = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).expect("the other side can be opened");
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&side, size).expect("a terminal has a size");
        let end = || Stdio::from(side.try_clone().expect("a descriptor can be copied"));
        command.env("TERM", "xterm-256color").stdin(end()).stdout(end()).stderr(end()).kill_on_drop(true);
        let child = command.spawn().expect("the program can be started");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let all = seen.clone();
        let reader = std::thread::spawn(move || {
            let (mut master, mut buffer) = (File::from(master), [0; 4096]);
            // It ends with an error once all handles of the other side are closed.
            while let Ok(count @ 1..) = master.read(&mut buffer) {
                all.lock().expect("nobody panics with it").extend_from_slice(&buffer[..count]);
            }
        });
        Self { child, side, seen, reader }
    }

    fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().expect("nobody panics with it")).into_owned()
    }

    async fn shows(&self, text: &str) {
        eventually(&format!("the terminal to show `{text}`"), async || self.seen().contains(text).then_some(())).await;
    }

    /// As Ctrl-C does for the program in the foreground.
    fn interrupt(&self) {
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        kill_process(pid.expect("it runs"), Signal::INT).expect("a child can be signalled");
    }

    /// Waits for its end; gives the exit code and all that was shown.
    async fn ended(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().await.expect("a child can be waited for").code();
        // After closing the last handle of its side, the reader reaches the end of the output.
        drop(self.side);
        self.reader.join().expect("the reader does not panic");
        let all = String::from_utf8_lossy(&self.seen.lock().expect("nobody panics with it")).into_owned();
        (code, all)
    }
}

/// The colour sequences, without those that move and hide the cursor.
fn colours(text: &str) -> usize {
    let sequences = text.split("\u{1b}[").skip(1);
    sequences
        .filter(|rest| rest.find(|c: char| c.is_ascii_alphabetic()).is_some_and(|at| rest[at..].starts_with('m')))
        .count()
}

const HIDE: &str = "\u{1b}[?25l";
const SHOW: &str = "\u{1b}[?25h";

#[sqlx::test(migrations = false)]
async fn watch_draws_and_gives_the_terminal_back_at_ctrl_c(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.model.hold_from(6);
    let worker = world.worker();
    world.model.arrived(6).await;
    let terminal = Terminal::start(world.command(&["watch", &job.to_string()]), 30, 100);
    let before = tcgetattr(&terminal.side).expect("a terminal has modes").local_modes;
    terminal.shows("Phase 2 (tactical)").await;
    terminal.shows("Ctrl-C stops watching").await;
    assert!(terminal.seen().contains(HIDE), "the cursor is in the way: {:?}", terminal.seen());
    terminal.interrupt();
    let after = tcgetattr(&terminal.side).expect("a terminal has modes").local_modes;
    let (code, seen) = terminal.ended().await;
    assert_eq!((code, before), (Some(130), after));
    assert!(seen.rfind(SHOW) > seen.rfind(HIDE), "the cursor stays hidden: {seen:?}");
    assert!(colours(&seen) > 0 && !seen.contains("panicked"), "{seen:?}");
    assert_eq!(world.job(job).await.status, "running", "the job goes on");
    world.model.answers(Answer::Work);
    world.becomes(job, "completed").await;

    let terminal = Terminal::start(world.command(&["watch", &job.to_string()]), 30, 100);
    let (code, seen) = terminal.ended().await;
    assert_eq!(code, Some(0));
    assert!(seen.contains("completed") && seen.contains("3 of 3 todos") && seen.contains(SHOW), "{seen:?}");
    let (_, behind) = seen.rsplit_once(SHOW).expect("the cursor is shown again");
    assert!(behind.contains("requirements for"), "the headline stands below the picture: {seen:?}");
    worker.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn colours_are_for_terminals_and_never_with_no_color(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(1);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await.to_string();
    world.work_until_idle().await;
    for arguments in [["status"].as_slice(), &["status", &job], &["trace", &job], &["watch", &job], &["doctor"]] {
        let coloured = Terminal::start(world.command(arguments), 40, 100).ended().await.1;
        assert!(colours(&coloured) > 0, "{arguments:?} has no colours: {coloured:?}");
        let mut plain = world.command(arguments);
        plain.env("NO_COLOR", "1");
        let plain = Terminal::start(plain, 40, 100).ended().await.1;
        assert_eq!(colours(&plain), 0, "{arguments:?} has colours in spite of NO_COLOR: {plain:?}");
        let piped = world.run(arguments).await.stdout;
        assert!(!piped.contains('\u{1b}'), "{arguments:?} has control characters in a pipe: {piped:?}");
    }
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn the_list_fits_the_terminal(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(1);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.work_until_idle().await;
    let mut headers = Vec::new();
    for columns in [80, 100, 120, 160] {
        let mut status = world.command(&["status"]);
        status.env("NO_COLOR", "1");
        let seen = Terminal::start(status, 40, columns).ended().await.1;
        let widest = seen.lines().map(|line| line.trim_end().chars().count()).max().unwrap_or(0);
        assert!(widest <= usize::from(columns), "{widest} of {columns} columns:\n{seen}");
        assert!(seen.contains(&job.to_string()), "an id that is to be copied is whole:\n{seen}");
        headers.push(seen.lines().next().unwrap_or_default().split_whitespace().count());
    }
    assert!(headers.is_sorted() && headers[0] < headers[3], "a wider terminal shows more: {headers:?}");
    world.finish().await;
}

/// A row's texts reach every display, and drive no terminal from there: no title, no clipboard, no cursor, no turned line.
#[sqlx::test(migrations = false)]
async fn what_a_row_holds_drives_no_terminal(pool: PgPool) {
    let world = World::new(pool).await;
    let prompt = "Say \u{1b}]0;owned\u{7} what \u{1b}[7;77H \u{1b}]52;c;eA==\u{7} \u{9b}31m \u{202e}records \u{1b}[0;8mhidden\u{1b}[30;40mblack\u{1b}[38;5;0mtoo are";
    let job = world.insert(&NewJob { prompt, ..NewJob::default() }).await.to_string();
    let failing = NewJob { prompt, path: Some("no\u{1b}[7;77Hsuch.pdf"), ..NewJob::default() };
    let failed = world.insert(&failing).await.to_string();
    world.work_until_idle().await;
    let shown = [
        &["status"][..],
        &["status", &job],
        &["trace", &job],
        &["watch", &job],
        &["status", &failed],
        &["trace", &failed],
        &["watch", &failed],
    ];
    for arguments in shown {
        let piped = world.run(arguments).await;
        let drives = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || c == '\u{202e}';
        for text in [&piped.stdout, &piped.stderr] {
            assert!(!text.contains(drives), "{arguments:?}: {text:?}");
        }
        let seen = Terminal::start(world.command(arguments), 40, 100).ended().await.1;
        let hiding = ["\u{1b}[0;8m", "\u{1b}[30;40m", "\u{1b}[38;5;0m"];
        for sequence in ["\u{1b}]", "\u{1b}[7;77H", "\u{9b}", "\u{202e}", "\u{7}"].into_iter().chain(hiding) {
            assert!(!seen.contains(sequence), "{arguments:?} on a terminal: {seen:?}");
        }
    }
    world.finish().await;
}
