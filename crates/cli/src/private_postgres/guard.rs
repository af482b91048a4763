//! The guard: the shell script that is the server's parent, and the pipe that ties the server's life to its users.
//!
//! A shell script because it must outlive a `kill -9` of this process, and because nothing else is certain to be on
//! the machine. The pipe has a name so that a second process of the same checkout can hold it as well.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::fs::{Mode, OFlags};
use tokio::process::{Child, Command};

use super::error::Error;
use super::os_user::OsUser;
use super::{files, run_folder};

/// `$1` is deleted after an orderly stop unless it is empty; the rest is the server's command line. The reader closes
/// its end before it stops the server, so that a newcomer finds a pipe without a reader and does not join a server
/// that is about to end. The pipe is passed on as descriptor 3 because a shell gives background commands no input.
const SCRIPT: &str = r#"
folder=$1
shift
exec 3<&0 </dev/null
"$@" 3<&- &
server=$!
( while read -r line <&3; do :; done; exec 3<&-; kill -INT "$server" ) &
reader=$!
exec 3<&-
wait "$server"
status=$?
kill "$reader" 2>/dev/null
if [ "$status" -eq 0 ] && [ -n "$folder" ]; then rm -rf "$folder"; fi
exit "$status"
"#;

/// A held write end of the users' pipe. While one exists, the server runs.
#[derive(Debug)]
pub(crate) struct Hold {
    pipe: File,
}

impl Hold {
    /// Takes hold of a running guard's pipe; `None` when no guard reads it any more.
    pub(crate) fn join(run: &Path) -> Option<Self> {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let pipe = rustix::fs::open(run_folder::pipe(run), flags, Mode::empty()).ok()?;
        let hold = Self { pipe: File::from(pipe) };
        hold.is_read().then_some(hold)
    }

    /// Whether the guard still reads, that is, has not begun to stop the server. The byte is no line yet, so it does
    /// not wake the guard's loop.
    pub(crate) fn is_read(&self) -> bool {
        (&self.pipe).write(b".").is_ok()
    }
}

/// The pipe of a server about to start, held until the server is ready. It appears under its name only once it is held,
/// so a folder in use can be told from a left-over: only an abandoned pipe has no reader.
#[derive(Debug)]
pub(crate) struct Pipe {
    run: PathBuf,
    both_ends: File,
}

impl Pipe {
    /// Makes the pipe in the run folder.
    pub(crate) async fn create(run: &Path, account: &OsUser) -> Result<Self, Error> {
        let unnamed = run.join("new.pipe");
        let mut mkfifo = Command::new("mkfifo");
        mkfifo.arg("-m").arg("600").arg(&unnamed);
        account.apply(&mut mkfifo);
        let made = mkfifo.output().await.map_err(Error::file("create", &unnamed))?;
        if !made.status.success() {
            return Err(Error::Program { program: "mkfifo".to_owned(), said: files::reason(&made) });
        }
        // Opening one end of a pipe waits for the other; opening both at once does not.
        let both_ends = OpenOptions::new().read(true).write(true).open(&unnamed);
        let both_ends = both_ends.map_err(Error::file("open", &unnamed))?;
        std::fs::rename(&unnamed, run_folder::pipe(run)).map_err(Error::file("rename", &unnamed))?;
        Ok(Self { run: run.to_path_buf(), both_ends })
    }

    /// The folder it is in.
    pub(crate) fn run(&self) -> &Path {
        &self.run
    }

    /// Starts the server's command line under a guard.
    pub(crate) fn start(&self, command_line: &[String], log: &File, account: &OsUser) -> Result<Child, Error> {
        let run = &self.run;
        let path = run_folder::pipe(run);
        let reader = File::open(&path).map_err(Error::file("open", &path))?;
        let output = log.try_clone().map_err(Error::file("open", run))?;
        let errors = log.try_clone().map_err(Error::file("open", run))?;
        let mut guard = Command::new("/bin/sh");
        guard.arg("-c").arg(SCRIPT).arg("plumbline-postgres-guard").arg(run).args(command_line);
        guard.stdin(Stdio::from(reader)).stdout(Stdio::from(output)).stderr(Stdio::from(errors));
        // Its own process group: Ctrl-C at the terminal is for us, and we still need the server to end in order.
        guard.process_group(0);
        account.apply(&mut guard);
        guard.spawn().map_err(Error::file("run", Path::new("/bin/sh")))
    }

    /// Gives up the reading end, so that from now on the guard is the only reader.
    pub(crate) fn into_hold(self) -> Result<Hold, Error> {
        let path = run_folder::pipe(&self.run);
        let pipe = OpenOptions::new().write(true).open(&path).map_err(Error::file("open", &path))?;
        drop(self.both_ends);
        Ok(Hold { pipe })
    }
}
