//! The figures, each in the file of what it is about.
//!
//! | figures | file |
//! |---|---|
//! | P1–P3: time, CPU and log of a step as the job grows | [`steps`] |
//! | P4: commits and round trips of a step | [`trips`] |
//! | P5: a step's commit alone | [`commit`] |
//! | P6, P7: many jobs at once | [`crowd`] |
//! | P8: from insert to the first request | [`pickup`] |
//! | P9: inserting jobs | [`insert`] |
//! | P10: claiming them | [`claim`] |
//! | P11–P13: what is sent to the model | [`prompt`] |
//! | P14, P15: start, idling, size | [`idle`] |
//! | P16: after a kill | [`recovery`] |
//! | P17, P18: documents and tokens | [`documents`] |

mod claim;
mod commit;
mod crowd;
mod documents;
mod floor;
mod idle;
mod insert;
mod pickup;
mod prompt;
mod recovery;
mod sampler;
mod steps;
mod trips;

use crate::{
    database::Server,
    error::{During, Error},
    machine,
    options::Options,
    process::Model,
    report::{Figure, Report},
    site::Bench,
};
use std::{pin::Pin, time::Duration};

/// A measurement on its way.
type Measuring<'a> = Pin<Box<dyn Future<Output = Result<Vec<Figure>, Error>> + 'a>>;

/// A group of figures that are measured together.
struct Group {
    ids: &'static [&'static str],
    measure: for<'a> fn(&'a Bench) -> Measuring<'a>,
}

const GROUPS: [Group; 11] = [
    Group { ids: &["P1", "P2", "P3"], measure: |bench| Box::pin(steps::measure(bench)) },
    Group { ids: &["P4"], measure: |bench| Box::pin(trips::measure(bench)) },
    Group { ids: &["P5"], measure: |bench| Box::pin(commit::measure(bench)) },
    Group { ids: &["P6", "P7"], measure: |bench| Box::pin(crowd::measure(bench)) },
    Group { ids: &["P8"], measure: |bench| Box::pin(pickup::measure(bench)) },
    Group { ids: &["P9"], measure: |bench| Box::pin(insert::measure(bench)) },
    Group { ids: &["P10"], measure: |bench| Box::pin(claim::measure(bench)) },
    Group { ids: &["P11", "P12", "P13"], measure: |bench| Box::pin(prompt::measure(bench)) },
    Group { ids: &["P14", "P15"], measure: |bench| Box::pin(idle::measure(bench)) },
    Group { ids: &["P16"], measure: |bench| Box::pin(recovery::measure(bench)) },
    Group { ids: &["P17", "P18"], measure: |bench| Box::pin(documents::measure(bench)) },
];

/// Measures what is asked for, prints the table and writes the JSON. `false`: a target was missed, and that counts.
pub(crate) async fn run(options: Options) -> Result<bool, Error> {
    let bench = Bench {
        plumbline: options.plumbline()?,
        server: Server::find(options.database_url()?).await?,
        sizes: options.sizes(),
        pdf: options.pdf(),
    };
    let mut report = describe(&bench, options.sizes_name()).await?;
    for group in &GROUPS {
        if !group.ids.iter().any(|id| options.wants(id)) {
            continue;
        }
        eprintln!("measuring {} …", group.ids.join(", "));
        match (group.measure)(&bench).await {
            Ok(figures) => report.figures.extend(figures.into_iter().filter(|figure| options.wants(figure.id))),
            // One figure that cannot be had must not cost the others.
            Err(error) => report.left_out.extend(group.ids.iter().map(|id| (*id, error.to_string()))),
        }
    }
    println!("{}", report.table());
    let json = serde_json::to_vec_pretty(&report)?;
    std::fs::write(&options.json, json).during(&format!("write {}", options.json.display()))?;
    let failed = report.figures.iter().any(|figure| options.fails(figure));
    let incomplete = options.needs_all() && !report.left_out.is_empty();
    Ok(!failed && !incomplete)
}

/// The report's head: the machine, the server, and how fast the model itself is.
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
    Ok(Report { machine, postgres, sizes: sizes.to_owned(), figures: Vec::new(), left_out: Vec::new() })
}
