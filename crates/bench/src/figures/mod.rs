//! The figures, one file per subject.
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
//! | P22: jobs with a document beside jobs without | [`document_jobs`] |
//! | P23: jobs that wait for decisions | [`waiting`] |
//! | I1–I3: instructions of a turn, a request, a token count | [`instructions`] |
//!
//! [`run`] measures them one after the other.

mod claim;
mod commit;
mod concurrency;
mod document_jobs;
mod documents;
mod floor;
mod idle;
mod insert;
mod instructions;
mod pickup;
mod prompt;
mod recovery;
mod round_trips;
mod run;
mod sampler;
mod steps;
mod waiting;

use crate::{error::Error, fixture::Bench, report::Figure};
use std::pin::Pin;

pub(crate) use run::run;

/// A pending measurement.
type Measuring<'a> = Pin<Box<dyn Future<Output = Result<Vec<Figure>, Error>> + 'a>>;

/// Figures that are measured together.
struct Group {
    ids: &'static [&'static str],
    measure: for<'a> fn(&'a Bench) -> Measuring<'a>,
}

const GROUPS: [Group; 17] = [
    Group { ids: &["P1", "P2", "P3"], measure: |bench| Box::pin(steps::measure(bench)) },
    Group { ids: &["P4"], measure: |bench| Box::pin(round_trips::measure(bench)) },
    Group { ids: &["P5"], measure: |bench| Box::pin(commit::measure(bench)) },
    Group { ids: &["P6"], measure: |bench| Box::pin(concurrency::hundreds(bench)) },
    Group { ids: &["P7"], measure: |bench| Box::pin(concurrency::thousands(bench)) },
    Group { ids: &["P8"], measure: |bench| Box::pin(pickup::measure(bench)) },
    Group { ids: &["P9"], measure: |bench| Box::pin(insert::measure(bench)) },
    Group { ids: &["P10"], measure: |bench| Box::pin(claim::measure(bench)) },
    Group { ids: &["P11", "P12", "P13"], measure: |bench| Box::pin(prompt::measure(bench)) },
    Group { ids: &["P14"], measure: |bench| Box::pin(idle::measure(bench)) },
    Group { ids: &["P15"], measure: |bench| Box::pin(idle::size(bench)) },
    Group { ids: &["P16"], measure: |bench| Box::pin(recovery::measure(bench)) },
    Group { ids: &["P17"], measure: |bench| Box::pin(documents::reading(bench)) },
    Group { ids: &["P18"], measure: |bench| Box::pin(documents::counting(bench)) },
    Group { ids: &["P22"], measure: |bench| Box::pin(document_jobs::measure(bench)) },
    Group { ids: &["P23"], measure: |bench| Box::pin(waiting::measure(bench)) },
    Group { ids: &["I1", "I2", "I3"], measure: |bench| Box::pin(instructions::measure(bench)) },
];
