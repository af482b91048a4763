//! Floors that several figures share.

use crate::{database::Database, error::Error};
use plumbline_bench::prose::prose;
use sqlx::{PgPool, postgres::PgListener};
use std::time::Instant;
use tokio::sync::mpsc::{Receiver, channel};

/// Bytes of a plain row: the size of a 200-byte call and its result.
const ROW: usize = 400;

/// A table with only a key.
pub(super) async fn create(database: &Database) -> Result<(), Error> {
    let statement = "CREATE TABLE plain_rows (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content text)";
    sqlx::query(statement).execute(&database.pool).await?;
    Ok(())
}

/// INSERT and COMMIT, sequentially on one connection: the milliseconds of each.
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

/// A queue of plain rows and one client, which is notified of each row and takes it with a prepared statement.
pub(super) struct PlainQueue {
    pool: PgPool,
    taken: Receiver<Result<Instant, sqlx::Error>>,
}

impl PlainQueue {
    /// Makes the table, and a client that listens.
    pub(super) async fn open(database: &Database) -> Result<Self, Error> {
        let pool = database.pool.clone();
        for statement in [
            "CREATE TABLE plain_queue (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content text, taken boolean)",
            "CREATE INDEX ON plain_queue (id) WHERE taken IS NULL",
            "CREATE FUNCTION tell_of_plain_queue() RETURNS trigger LANGUAGE plpgsql AS \
             $$BEGIN PERFORM pg_notify('plain_queue', ''); RETURN NULL; END$$",
            "CREATE TRIGGER tell AFTER INSERT ON plain_queue EXECUTE FUNCTION tell_of_plain_queue()",
        ] {
            sqlx::query(statement).execute(&pool).await?;
        }
        let mut listener = PgListener::connect(&database.url).await?;
        listener.listen("plain_queue").await?;
        let (tell, taken) = channel(1);
        let client = pool.clone();
        tokio::spawn(async move { while tell.send(take_next(&mut listener, &client).await).await.is_ok() {} });
        Ok(Self { pool, taken })
    }

    /// Milliseconds from before the INSERT of a row until the client has it.
    pub(super) async fn pickup(&mut self) -> Result<f64, Error> {
        let inserted = Instant::now();
        sqlx::query("INSERT INTO plain_queue (content) VALUES ('a row')").execute(&self.pool).await?;
        let taken = self.taken.recv().await.ok_or_else(|| Error::new("the plain queue's client has ended"))??;
        Ok((taken - inserted).as_secs_f64() * 1e3)
    }
}

/// The time at which the client had the row.
async fn take_next(listener: &mut PgListener, pool: &PgPool) -> Result<Instant, sqlx::Error> {
    const TAKE: &str = "UPDATE plain_queue SET taken = true WHERE id = \
                        (SELECT id FROM plain_queue WHERE taken IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) \
                        RETURNING id";
    listener.recv().await?;
    sqlx::query(TAKE).fetch_one(pool).await?;
    Ok(Instant::now())
}
