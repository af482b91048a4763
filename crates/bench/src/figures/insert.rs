//! P9: plain INSERTs of jobs in batches, against a table of the same shape with only a primary key. Alternating and
//! repeated, because each takes a fraction of a second, in which the load of a shared machine may change.

use crate::{
    database::Database,
    error::{During, Error},
    fixture::Bench,
    report::{Figure, Target},
};
use sqlx::AssertSqlSafe;
use std::time::{Duration, Instant};

const BATCH: usize = 1000;

/// Turns of a run.
const TURNS: usize = 3;

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let (mut jobs, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..bench.sizes.runs {
        let fixture = bench.fixture("insert", Duration::ZERO).await?;
        let create = "CREATE TABLE plain_jobs (LIKE jobs INCLUDING DEFAULTS INCLUDING GENERATED, PRIMARY KEY (id))";
        sqlx::query(create).execute(&fixture.database.pool).await?;
        for _ in 0..TURNS {
            plain.push(per_second(&fixture.database, "plain_jobs", bench.sizes.jobs).await?);
            jobs.push(per_second(&fixture.database, "jobs", bench.sizes.jobs).await?);
        }
        bench.close(fixture).await?;
    }
    let name = format!("inserting {} jobs, {BATCH} a statement", bench.sizes.jobs);
    Ok(vec![Figure::new("P9", name, "/s", jobs).floor("key only", &plain).target(Target::RatioAtLeast(0.4))])
}

async fn per_second(database: &Database, table: &str, rows: usize) -> Result<f64, Error> {
    let mut connection = database.pool.acquire().await?;
    let statement = format!("INSERT INTO {table} (prompt) SELECT prompt FROM unnest($1::text[]) AS prompt");
    let prompts: Vec<String> =
        (0..BATCH).map(|place| format!("Extract the requirements of document {place}")).collect();
    let started = Instant::now();
    for _ in 0..rows / BATCH {
        // The table's name is one of the two above.
        sqlx::query(AssertSqlSafe(statement.clone()))
            .bind(&prompts)
            .execute(&mut *connection)
            .await
            .during("insert jobs")?;
    }
    Ok((rows / BATCH * BATCH) as f64 / started.elapsed().as_secs_f64())
}
