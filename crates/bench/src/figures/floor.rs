//! Floors that several figures share.

use crate::{database::Database, error::Error};
use plumbline_bench::prose::prose;
use sqlx::PgPool;
use std::time::Instant;

/// Bytes of a plain row: what a 200-byte call and its result hold.
const ROW: usize = 400;

/// A table of rows with nothing but a key.
pub(super) async fn create(database: &Database) -> Result<(), Error> {
    let statement = "CREATE TABLE plain_rows (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content text)";
    sqlx::query(statement).execute(&database.pool).await?;
    Ok(())
}

/// INSERT and COMMIT, one after the other on one connection: the milliseconds of each.
pub(super) async fn insert_and_commit(database: &Database, times: usize) -> Result<Vec<f64>, Error> {
    let mut connection = database.pool.acquire().await?;
    let mut taken = Vec::with_capacity(times);
    for seed in 0..times {
        let content = prose(seed as u64, ROW);
        let started = Instant::now();
        sqlx::query("INSERT INTO plain_rows (content) VALUES ($1)").bind(content).execute(&mut *connection).await?;
        taken.push(started.elapsed().as_secs_f64() * 1e3);
    }
    Ok(taken)
}

/// The same on many connections at once: rows per second.
pub(super) async fn inserts_per_second(database: &Database, connections: usize, each: usize) -> Result<f64, Error> {
    let started = Instant::now();
    let tasks: Vec<_> =
        (0..connections).map(|place| tokio::spawn(insert_many(database.pool.clone(), place, each))).collect();
    for task in tasks {
        task.await??;
    }
    Ok((connections * each) as f64 / started.elapsed().as_secs_f64())
}

async fn insert_many(pool: PgPool, place: usize, times: usize) -> Result<(), sqlx::Error> {
    let mut connection = pool.acquire().await?;
    for seed in 0..times {
        let content = prose((place * times + seed) as u64, ROW);
        sqlx::query("INSERT INTO plain_rows (content) VALUES ($1)").bind(content).execute(&mut *connection).await?;
    }
    Ok(())
}
