//! The fail-points armed by the environment, and their actions.

use super::{PARTS, Point};
use crate::Error;
use rustix::process::{Signal, getpid, kill_process};
use std::{
    collections::HashMap,
    io::Write as _,
    path::PathBuf,
    str::FromStr,
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// The action at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Crash,
    Error,
    Delay(Duration),
    /// Blocks the thread, and all other tasks on it.
    Block(Duration),
}

/// An action, and the pass at which it happens, once.
#[derive(Debug)]
struct Armed {
    action: Action,
    nth: u64,
    passed: AtomicU64,
}

/// Parsed once, when the first place is reached.
static ARMED: LazyLock<HashMap<String, Armed>> = LazyLock::new(|| {
    let asked = std::env::var("PLUMBLINE_FAIL_POINTS").unwrap_or_default();
    read(&asked).unwrap_or_else(|reason| {
        // A panic would fail a job only: a worker whose place is never reached would work for ever.
        eprintln!("PLUMBLINE_FAIL_POINTS: {reason}");
        std::process::exit(2)
    })
});

static TRACE: LazyLock<Option<PathBuf>> =
    LazyLock::new(|| std::env::var_os("PLUMBLINE_FAIL_POINT_TRACE").map(PathBuf::from));

/// Records that the place is reached, and acts if it is due.
pub(super) async fn pass(place: &str) -> Result<(), Error> {
    if let Some(path) = TRACE.as_ref() {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(format!("{place}\n").as_bytes()))
            .expect("the trace's file can be written");
    }
    let Some(armed) = ARMED.get(place) else { return Ok(()) };
    if armed.passed.fetch_add(1, Ordering::Relaxed) + 1 != armed.nth {
        return Ok(());
    }
    match armed.action {
        Action::Crash => kill_itself(),
        Action::Error => Err(Error::Database {
            doing: "pass a fail-point",
            source: sqlx::Error::Io(std::io::Error::other(format!("injected at {place}"))),
        }),
        Action::Delay(time) => {
            tokio::time::sleep(time).await;
            Ok(())
        }
        Action::Block(time) => {
            std::thread::sleep(time);
            Ok(())
        }
    }
}

/// Ends the process as the kernel's out-of-memory killer does: no signal handler and no destructor runs.
fn kill_itself() -> ! {
    let _ = kill_process(getpid(), Signal::KILL);
    // The signal has no effect on the first process of a PID namespace.
    std::process::abort()
}

/// `place=action` or `place=action@nth`, separated by semicolons.
fn read(asked: &str) -> Result<HashMap<String, Armed>, String> {
    let parts = asked.split(';').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let wrong = || format!("`{part}` is not `place=action@nth`, e.g. `applied/tactical=crash@3`");
            let (place, order) = part.split_once('=').ok_or_else(wrong)?;
            if !is_place(place) {
                return Err(format!("`{place}` is no place; write a point and a part, e.g. `claimed/claim`"));
            }
            let (action, nth) = order.split_once('@').unwrap_or((order, "1"));
            let nth = nth.parse().ok().filter(|nth| *nth > 0).ok_or_else(wrong)?;
            let armed = Armed { action: action.parse().map_err(|()| wrong())?, nth, passed: AtomicU64::new(0) };
            Ok((place.to_owned(), armed))
        })
        .collect()
}

fn is_place(place: &str) -> bool {
    let Some((point, part)) = place.split_once('/') else { return false };
    Point::ALL.iter().any(|known| known.name() == point) && PARTS.contains(&part)
}

impl FromStr for Action {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "crash" => Ok(Self::Crash),
            "error" => Ok(Self::Error),
            _ => {
                let (kind, millis) = text.split_once(':').ok_or(())?;
                let time = Duration::from_millis(millis.parse().map_err(drop)?);
                match kind {
                    "delay" => Ok(Self::Delay(time)),
                    "block" => Ok(Self::Block(time)),
                    _ => Err(()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, read};
    use std::time::Duration;

    #[test]
    fn orders_are_read_or_refused_with_an_example() {
        let armed = read("applied/tactical=crash@3; after_mirror/completion=delay:1500;").unwrap();
        let third = &armed["applied/tactical"];
        assert_eq!((third.action, third.nth), (Action::Crash, 3));
        let first = &armed["after_mirror/completion"];
        assert_eq!((first.action, first.nth), (Action::Delay(Duration::from_millis(1500)), 1));
        let blocked = read("applied/tactical=block:20").unwrap()["applied/tactical"].action;
        assert_eq!(blocked, Action::Block(Duration::from_millis(20)));
        assert!(read("").unwrap().is_empty());
        for wrong in [
            "applied",
            "applied/tactical=explode",
            "applied/tactical=error@0",
            "applied/tactical=delay:soon",
            "claimed=crash",
            "claimed/nowhere=crash",
        ] {
            assert!(read(wrong).unwrap_err().contains("e.g."), "{wrong}");
        }
    }
}
