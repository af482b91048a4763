//! I1–I3: instructions, counted by callgrind. They are the same on a busy and on an idle machine, so additional work in
//! a turn shows here before it shows in any time. The bounds are in `instructions.json` beside the crate's manifest,
//! for the unoptimized build of the tests: counts depend slightly on the compiler, so they have a margin; ratios of two
//! counts do not.

use crate::{
    error::{During, Error},
    fixture::Bench,
    instructed::{REGION, What},
    report::{Figure, Target},
};
use clap::ValueEnum;
use serde::Deserialize;
use std::{path::Path, process::Command};

/// Turns of the job, early and late.
const HISTORY: [usize; 2] = [50, 500];

/// Bytes of a short and a long text.
const TEXT: [usize; 2] = [2 << 10, 64 << 10];

/// The bounds of the counts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bounds {
    /// The margin by which a count may exceed its bound.
    margin: f64,
    /// A turn of the engine at 50 turns.
    turn: f64,
    /// A turn at 500 turns against one at 50.
    turn_growth: f64,
    /// A request's instructions per KiB, relative to writing only its texts as JSON.
    request_against_texts: f64,
    /// The same a KiB at 500 turns against 50.
    request_growth: f64,
    /// A token count, a byte of text.
    tokens: f64,
    /// The same for a long text against a short one.
    tokens_growth: f64,
}

pub(super) async fn measure(_: &Bench) -> Result<Vec<Figure>, Error> {
    let bounds = bounds()?;
    find_valgrind()?;
    let [turn, late_turn] = both(What::Turn, HISTORY)?;
    let [request, late_request] = both(What::Request, HISTORY)?;
    let texts = count(What::Texts, HISTORY[1])?;
    let [short, long] = both(What::Tokens, TEXT)?;
    let kib = |count: f64| vec![count * 1024.0];
    let counted = |id, name: String, values| Figure::new(id, name, "instructions", values);
    let [early, late] = HISTORY;
    Ok(vec![
        counted("I1", format!("a turn of the engine at turn {early}"), vec![turn])
            .target(absolute(bounds.turn))
            .guarded(bounds.margin),
        counted("I1", format!("a turn of the engine at turn {late}"), vec![late_turn])
            .floor(&format!("at {early}"), &[turn])
            .target(Target::RatioAtMost(bounds.turn_growth))
            .guarded(0.0),
        counted("I2", format!("a KiB of the request at turn {late}"), kib(late_request))
            .floor("its texts as JSON", &kib(texts))
            .target(Target::RatioAtMost(bounds.request_against_texts))
            .guarded(0.0),
        counted("I2", "the same".to_owned(), kib(late_request))
            .floor(&format!("at {early}"), &kib(request))
            .target(Target::RatioAtMost(bounds.request_growth))
            .guarded(0.0),
        counted("I3", "counting tokens, a byte".to_owned(), vec![long])
            .target(absolute(bounds.tokens))
            .guarded(bounds.margin),
        counted("I3", "the same for 64 KiB".to_owned(), vec![long])
            .floor("for 2 KiB", &[short])
            .target(Target::RatioAtMost(bounds.tokens_growth))
            .guarded(0.0),
    ])
}

fn bounds() -> Result<Bounds, Error> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.json");
    let text = std::fs::read(&path).during(&format!("read {}", path.display()))?;
    serde_json::from_slice(&text).during(&format!("read {}", path.display()))
}

/// The bounds of counts were taken on one kind of processor; on another only the ratios are checked.
fn absolute(bound: f64) -> Target {
    if cfg!(target_arch = "x86_64") { Target::AtMost(bound) } else { Target::None }
}

fn find_valgrind() -> Result<(), Error> {
    match Command::new("valgrind").arg("--version").output() {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err(Error::skip("valgrind is not installed; on Debian: apt-get install valgrind")),
    }
}

fn both(what: What, sizes: [usize; 2]) -> Result<[f64; 2], Error> {
    Ok([count(what, sizes[0])?, count(what, sizes[1])?])
}

/// Instructions a turn, or a byte.
fn count(what: What, size: usize) -> Result<f64, Error> {
    let name = what.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let folder = tempfile::tempdir().during("make a folder for callgrind's counts")?;
    let file = folder.path().join("counts");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--toggle-collect={REGION}"))
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(std::env::current_exe()?)
        .args(["instructed", &name, &size.to_string()])
        .output()
        .during("run valgrind")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or("nothing");
        return Err(Error::new(format!("valgrind could not run this program; it said: {last}")));
    }
    let share: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().during("read what was counted")?;
    Ok(total(&std::fs::read_to_string(&file).during("read callgrind's counts")?)? / share)
}

/// The sum that callgrind wrote.
fn total(counts: &str) -> Result<f64, Error> {
    let sum = counts.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse::<f64>().ok());
    sum.filter(|&sum| sum > 0.0).ok_or_else(|| {
        let advice = "build it with its symbols: `make bench-check` does";
        Error::skip(format!("callgrind does not find the counted function in this program; {advice}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_are_complete_and_the_sum_is_found() {
        let bounds = bounds().unwrap();
        assert!(bounds.margin > 0.0 && bounds.turn_growth >= 1.0, "{bounds:?}");
        assert_eq!(total("events: Ir\nfn=(1) main\n1 5\n\ntotals: 1234\n").unwrap(), 1234.0);
        assert!(total("events: Ir\ntotals: 0\n").unwrap_err().skips());
    }
}
