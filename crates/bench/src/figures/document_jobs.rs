//! P22: jobs with a document beside as many jobs without one, with equally many steps. Each job has a document of its
//! own, of about twelve pages, so that nothing is shared between jobs that real ones would not share. A larger crowd runs
//! once more on two workers, all jobs at once. Both paces record the same requirements: one takes a turn for each passage,
//! the other five, as models did when the targets were set.

use crate::{
    error::Error,
    fixture::{Bench, Fixture, defaults},
    model::{ITEMS, Order, PASSAGES, Tool, recording_turns},
    procfs,
    report::{Figure, Target},
};
use plumbline_bench::prose::prose;
use std::time::{Duration, Instant};

/// Bytes of a section; each is a passage of its own.
const SECTION_BYTES: usize = 4000;

/// Jobs of a worker in which all that jobs share is loaded, such as the caches of regular expressions.
const FEW: usize = 8;

/// The cost of one crowd.
struct Taken {
    secs: f64,
    /// CPU of the worker per step, in milliseconds.
    cpu: f64,
    /// The worker's memory per job at its peak beyond that of a worker with [`FEW`] jobs, in KiB.
    memory: f64,
}

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let mut figures = Vec::new();
    for pace in bench.sizes.document_paces {
        figures.extend(at_pace(bench, *pace).await?);
    }
    Ok(figures)
}

/// `pace`: turns for each passage.
async fn at_pace(bench: &Bench, pace: u32) -> Result<Vec<Figure>, Error> {
    let (jobs, delay) = (bench.sizes.document_crowd, bench.sizes.document_crowd_delay);
    let (at_once, patient) = (bench.sizes.document_jobs_at_once, bench.sizes.document_jobs_at_once_delay);
    let turns = recording_turns(pace);
    let (mut with, mut without) = (Vec::new(), Vec::new());
    // At a slow pace one run takes minutes.
    let runs = if pace == 1 { bench.sizes.runs } else { 1 };
    for _ in 0..runs {
        without.push(run(bench, Tool::Write, turns).await?);
        with.push(run(bench, Tool::Record, turns).await?);
    }
    let (secs, peak) = at_once_by_two(bench, turns).await?;
    let of = |runs: &[Taken], value: fn(&Taken) -> f64| runs.iter().map(value).collect::<Vec<f64>>();
    let ideal = |delay: Duration| delay.as_secs_f64() * f64::from(turns);
    let step = format!("a step with {} requirements", ITEMS / pace);
    let crowd = |jobs: usize, workers: &str, delay: Duration| {
        format!("{jobs} jobs with a document × {turns} steps, {workers}model {} ms", delay.as_millis())
    };
    Ok(vec![
        Figure::new(
            "P22",
            format!("CPU per step of a job with a document, worker, {step}"),
            "ms",
            of(&with, |taken| taken.cpu),
        )
        .floor("without", &of(&without, |taken| taken.cpu))
        .target(Target::RatioAtMost(2.0)),
        Figure::new("P22", format!("memory per job with a document, {step}"), "KiB", of(&with, |taken| taken.memory))
            .floor("without", &of(&without, |taken| taken.memory))
            .target(Target::AtMost(500.0)),
        Figure::new("P22", crowd(jobs, "", delay), "s", of(&with, |taken| taken.secs))
            .floor("ideal", &[ideal(delay)])
            .target(Target::RatioAtMost(1.5)),
        Figure::new("P22", crowd(at_once, "two workers, ", patient), "s", vec![secs])
            .floor("ideal", &[ideal(patient)])
            .target(Target::RatioAtMost(1.7)),
        Figure::new("P22", format!("peak memory of the larger of the two workers, {step}"), "MiB", vec![peak])
            .target(Target::AtMost(300.0)),
    ])
}

/// All jobs at once on two workers: seconds, and the peak memory of the larger worker in MiB.
async fn at_once_by_two(bench: &Bench, turns: u32) -> Result<(f64, f64), Error> {
    let jobs = bench.sizes.document_jobs_at_once;
    let fixture = bench.fixture("documents", bench.sizes.document_jobs_at_once_delay).await?;
    let started = Instant::now();
    insert(&fixture, jobs, Tool::Record, turns).await?;
    let workers = [fixture.worker(jobs.div_ceil(2))?, fixture.worker(jobs.div_ceil(2))?];
    fixture.completed().await?;
    let secs = started.elapsed().as_secs_f64();
    let mut peak = 0;
    for worker in workers {
        peak = peak.max(procfs::memory(worker.pid())?.1);
        worker.stop()?;
    }
    bench.close(fixture).await?;
    Ok((secs, peak as f64 / 1024.0 / 1024.0))
}

/// The time starts at the insertion and includes the start of the worker.
async fn run(bench: &Bench, tool: Tool, turns: u32) -> Result<Taken, Error> {
    let (jobs, delay) = (bench.sizes.document_crowd, bench.sizes.document_crowd_delay);
    let fixture = bench.fixture("documents", delay).await?;
    let few = memory_of_few(&fixture, tool, turns).await?;
    let started = Instant::now();
    insert(&fixture, jobs, tool, turns).await?;
    let worker = fixture.worker(jobs)?;
    fixture.completed().await?;
    let steps = jobs as f64 * f64::from(turns);
    let peak = procfs::memory(worker.pid())?.1.saturating_sub(few);
    let taken = Taken {
        secs: started.elapsed().as_secs_f64(),
        cpu: procfs::cpu(worker.pid())?.as_secs_f64() * 1e3 / steps,
        memory: peak as f64 / 1024.0 / jobs.saturating_sub(FEW).max(1) as f64,
    };
    worker.stop()?;
    bench.close(fixture).await?;
    Ok(taken)
}

async fn insert(fixture: &Fixture, jobs: usize, tool: Tool, turns: u32) -> Result<(), Error> {
    let order = |place: usize| Order { tag: format!("documents-{place}"), turns, bytes: 2048, tool, trace: false };
    let orders = (0..jobs).map(order);
    match tool {
        Tool::Record => {
            let with_documents: Vec<(Order, String)> =
                orders.zip(0..).map(|(order, seed)| (order, document(seed))).collect();
            fixture.insert_with_documents(&with_documents, &defaults()).await
        }
        _ => fixture.insert(&orders.collect::<Vec<_>>(), &defaults()).await,
    }
}

/// Peak memory of a worker that runs [`FEW`] jobs.
async fn memory_of_few(fixture: &Fixture, tool: Tool, turns: u32) -> Result<u64, Error> {
    insert(fixture, FEW, tool, turns).await?;
    let worker = fixture.worker(FEW)?;
    fixture.completed().await?;
    let (_, peak) = procfs::memory(worker.pid())?;
    worker.stop()?;
    Ok(peak)
}

fn document(seed: u64) -> String {
    let section = |number: u32| {
        let text = prose(seed * 1000 + u64::from(number), SECTION_BYTES);
        let sentences: Vec<String> = text.lines().map(capitalized).collect();
        format!("## {number} Section {number}\n\n{}\n\n", sentences.join("\n"))
    };
    (1..=PASSAGES).map(section).collect()
}

/// A new sentence begins with a capital letter.
fn capitalized(line: &str) -> String {
    let (first, rest) = line.trim_start().split_at_checked(1).unwrap_or_default();
    first.to_uppercase() + rest
}

#[cfg(test)]
mod tests {
    use super::document;
    use crate::model::PASSAGES;
    use plumbline_documents::{
        Page,
        chunking::{ChunkOptions, chunk},
    };

    #[test]
    fn each_section_is_a_passage_with_enough_sentences() {
        for seed in 0..50 {
            let page = Page { number: 1, text: document(seed) };
            let chunks = chunk("policy.md", &[page], false, ChunkOptions::default());
            assert_eq!(chunks.len(), PASSAGES as usize);
            for chunk in chunks {
                let sentences = plumbline_documents::candidates::cut(&chunk.text).len();
                assert!(sentences > 40, "{sentences}");
            }
        }
    }
}
