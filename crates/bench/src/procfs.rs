//! CPU time and memory of a process, from `/proc`.

use crate::error::{During, Error};
use std::{fs, path::Path, time::Duration};

/// CPU time of a process so far, over all of its living threads, to the nanosecond.
pub(crate) fn cpu(pid: u32) -> Result<Duration, Error> {
    let tasks = format!("/proc/{pid}/task");
    let mut total = 0;
    for task in fs::read_dir(&tasks).during(&format!("read {tasks}"))?.flatten() {
        // A thread may end while it is read; its usage is then lost, which affects only idle helpers.
        let stat = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        total += stat.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(Duration::from_nanos(total))
}

/// Memory of a process in bytes: resident now, and peak.
pub(crate) fn memory(pid: u32) -> Result<(u64, u64), Error> {
    let path = format!("/proc/{pid}/status");
    let status = fs::read_to_string(&path).during(&format!("read {path}"))?;
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
    };
    let missing = || Error::new(format!("{path} names no memory; is the process still running?"));
    Ok((field("VmRSS:").ok_or_else(missing)?, field("VmHWM:").ok_or_else(missing)?))
}

/// The process that started another one.
pub(crate) fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may itself hold blanks and parentheses.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// The processes that another one started and that still run.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    listed(pid).unwrap_or_else(|| searched(pid))
}

/// From the kernel's lists, one for each of its threads; `None` if the kernel has none.
fn listed(pid: u32) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let list = fs::read_to_string(task.path().join("children")).ok()?;
        all.extend(list.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    Some(all)
}

/// The same by scanning all processes, which takes milliseconds.
fn searched(pid: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(Path::new("/proc")) else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|&candidate| parent(candidate) == Some(pid)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_very_process_is_read() {
        let own = std::process::id();
        let before = cpu(own).unwrap();
        let mut sum = 0_u64;
        while cpu(own).unwrap() == before {
            sum = (0..10_000).fold(sum, u64::wrapping_add);
        }
        let (now, highest) = memory(own).unwrap();
        assert!(now > 0 && highest >= now);
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (found, searched) = (children(own), searched(own));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.contains(&child.id()) && searched.contains(&child.id()));
    }
}
