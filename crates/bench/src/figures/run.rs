//! Measures the requested figures: one line per figure while running, the table at the end.

use super::{GROUPS, Group};
use crate::{
    child::Model,
    database::Server,
    error::{During, Error},
    fixture::Bench,
    machine,
    options::Options,
    report::{Figure, Report},
};
use futures_util::FutureExt;
use std::{
    panic::AssertUnwindSafe,
    sync::Mutex,
    time::{Duration, Instant},
};

/// Measures the requested figures, prints the table and writes the JSON. `false`: a relevant target was missed.
pub(crate) async fn run(options: Options) -> Result<bool, Error> {
    let started = Instant::now();
    let bench = Bench {
        plumbline: options.plumbline()?,
        server: Server::find(options.database_url()?).await?,
        sizes: options.sizes(),
        pdf: options.pdf(),
        left: Mutex::default(),
    };
    let mut report = describe(&bench, options.sizes_name()).await?;
    for group in &GROUPS {
        if group.ids.iter().any(|id| options.wants(id)) {
            measure(&bench, &options, group, &mut report).await;
        }
    }
    println!("{}", report.table());
    let json = serde_json::to_vec_pretty(&report)?;
    std::fs::write(&options.json, json).during(&format!("write {}", options.json.display()))?;
    eprintln!("all of it took {:.0} s; the same as JSON: {}", started.elapsed().as_secs_f64(), options.json.display());
    Ok(judged(&options, &report))
}

/// Measures one group into the report. One that fails, panics or hangs must not cost the others.
async fn measure(bench: &Bench, options: &Options, group: &Group, report: &mut Report) {
    let ids = group.ids.join(", ");
    eprintln!("measuring {ids} …");
    let started = Instant::now();
    // State of an aborted group is not reused: each has its own database and processes.
    let measuring = AssertUnwindSafe((group.measure)(bench)).catch_unwind();
    let measured = match tokio::time::timeout(bench.sizes.patience, measuring).await {
        Ok(Ok(measured)) => measured,
        Ok(Err(_)) => Err(Error::new("the measurement panicked; the message is above")),
        Err(_) => Err(Error::new(format!("it had not ended after {:?}", bench.sizes.patience))),
    };
    let took = started.elapsed().as_secs_f64();
    match measured {
        Ok(figures) => {
            let wanted: Vec<Figure> = figures.into_iter().filter(|figure| options.wants(figure.id)).collect();
            wanted.iter().for_each(|figure| eprintln!("{}", figure.line()));
            report.figures.extend(wanted);
        }
        Err(error) => {
            let (what, list) = match error.skips() {
                true => ("skipped", &mut report.skipped),
                false => ("could not be measured", &mut report.left_out),
            };
            eprintln!("  {ids} {what}: {error}");
            list.extend(group.ids.iter().filter(|id| options.wants(id)).map(|id| (*id, error.to_string())));
        }
    }
    eprintln!("  {ids} took {took:.0} s");
    report.took.push((ids, took));
}

/// Whether the run is a success, with a sentence for each figure that made it fail.
fn judged(options: &Options, report: &Report) -> bool {
    let failed: Vec<&Figure> = report.figures.iter().filter(|figure| options.fails(figure)).collect();
    for figure in &failed {
        eprintln!("error: a figure misses its target by more than is allowed:\n{}", figure.line());
    }
    let incomplete = options.needs_all() && !report.left_out.is_empty();
    if incomplete {
        eprintln!("error: not every figure could be measured; the reasons are above");
    }
    failed.is_empty() && !incomplete
}

/// The report's head: the machine, the server, and the speed of the model.
async fn describe(bench: &Bench, sizes: &str) -> Result<Report, Error> {
    let database = bench.server.create("bench_head").await?;
    let postgres = machine::postgres(&database).await?;
    bench.server.drop(database).await?;
    let mut machine = machine::machine();
    let model = Model::start(Duration::ZERO).await?;
    for (name, bytes) in [("20 KB", 20 << 10), ("1 MB", 1 << 20)] {
        let time = model.speed(bytes).await?.as_secs_f64() * 1e3;
        machine.push((format!("the model's answer to {name}, client included"), format!("{time:.3} ms")));
    }
    let (figures, left_out, skipped, took) = Default::default();
    Ok(Report { machine, postgres, sizes: sizes.to_owned(), figures, left_out, skipped, took })
}
