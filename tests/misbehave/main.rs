//! Jobs against models that misbehave on purpose, each kind at several rates, through the real worker.
//!
//! All jobs of a run share one worker, so that a kind that harms another kind's jobs, or the worker itself, is noticed.
//! The short run is part of the ordinary tests. `make misbehave` runs the long one, prints the table and saves it to
//! `target/misbehave.md`; `KINDS=prose,stall` restricts it to some kinds, `RATES=30` to one rate, `JOBS=5` to fewer
//! jobs per cell, and `PROFILE=release` builds everything for speed.

mod discovery;
mod long_job;
mod script;
mod services;
mod suite;
mod table;

use plumbline_rehearsal::misbehave::{FATAL, Kind, Rate, kinds};
use plumbline_system_tests::{PgPool, World};
use suite::{Cell, Suite};

/// Every kind, at 30 % of the turns, one job each: at least 95 % of the jobs recover and end as with a healthy model,
/// and each of the others stops with a reason. The long run requires this of each kind separately.
#[sqlx::test(migrations = false)]
async fn every_kind_at_thirty_per_cent(pool: PgPool) {
    let mut suite = Suite::start(World::new(pool).await).await;
    let cells = suite.run(kinds().map(|kind| Cell::new(kind, Rate::percent(30), 1)).collect()).await;
    let all = cells.len();
    let wrong: Vec<Cell> = cells.into_iter().filter(|cell| cell.right(&suite.healthy) == 0).collect();
    let table = table::render(&suite.healthy, &wrong);
    assert!(wrong.len() * 100 <= all * 5, "{table}");
    assert!(wrong.iter().all(|cell| cell.stopped() == 1), "{table}");
    suite.finish().await;
}

/// An empty account: the job pauses at the first answer and says what to do. A refused key: the job waits for another
/// key after the first refusal.
#[sqlx::test(migrations = false)]
async fn a_person_is_asked_at_once_about_keys_and_money(pool: PgPool) {
    let mut suite = Suite::start(World::new(pool).await).await;
    for kind in FATAL {
        let (status, says) = match kind.name {
            "unauthorized" | "forbidden" => ("pending", "OPENAI_API_KEY"),
            _ => ("paused", "add credit"),
        };
        let end = suite.stands(kind, status).await;
        assert_eq!(end.turns, 1, "{}: {end:?}", kind.name);
        assert!(end.reason.contains(says), "{}: {end:?}", kind.name);
    }
    suite.finish().await;
}

/// The whole table: slow, so only on request.
#[sqlx::test(migrations = false)]
async fn the_table(pool: PgPool) {
    if std::env::var("PLUMBLINE_MISBEHAVE").as_deref() != Ok("full") {
        return;
    }
    let mut suite = Suite::start(World::new(pool).await).await;
    let count = asked_numbers("PLUMBLINE_MISBEHAVE_JOBS").first().copied().unwrap_or(20);
    let mut rates: Vec<Rate> = asked_numbers("PLUMBLINE_MISBEHAVE_RATES").into_iter().map(Rate::percent).collect();
    if rates.is_empty() {
        rates = vec![Rate::percent(10), Rate::percent(30), Rate::ALWAYS];
    }
    let mut all = Vec::new();
    for rate in &rates {
        let cells = suite.run(asked_for().map(|kind| Cell::new(kind, *rate, count.into())).collect()).await;
        println!("{}\n{}\n", table::render(&suite.healthy, &cells), table::sums(&suite.healthy, &cells, *rate));
        all.extend(cells);
    }
    println!("the table is in {}", table::keep(&suite.healthy, &all, &rates).display());
    let wrong: Vec<Cell> = all.into_iter().filter(|cell| !cell.holds(&suite.healthy)).collect();
    for cell in &wrong {
        if let Some(end) = cell.ends.iter().find(|end| !end.is_right(&suite.healthy)) {
            println!("\n{} at {} %:\n{}", cell.kind.name, cell.rate.as_percent(), suite.story(end.job).await);
        }
    }
    assert!(wrong.is_empty(), "{}", table::render(&suite.healthy, &wrong));
    suite.finish().await;
}

/// The numbers listed in an environment variable.
fn asked_numbers(variable: &str) -> Vec<u8> {
    let text = std::env::var(variable).unwrap_or_default();
    text.split(',').filter_map(|number| number.trim().parse().ok()).collect()
}

/// The kinds that the environment names; all if it names none.
fn asked_for() -> impl Iterator<Item = &'static Kind> {
    let named = std::env::var("PLUMBLINE_MISBEHAVE_KINDS").unwrap_or_default();
    kinds().filter(move |kind| named.is_empty() || named.split(',').any(|name| name == kind.name))
}
