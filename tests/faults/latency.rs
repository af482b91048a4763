//! Latencies and their statistics.

use plumbline_system_tests::PgPool;
use std::fmt;

/// Times in seconds.
#[derive(Debug, Default)]
pub(crate) struct Times(Vec<f64>);

impl Times {
    /// From each of these moments to the first step that another claim committed of each job that the worker then held.
    /// Moments are the database's, workers are named by their host.
    pub(crate) async fn to_the_next_step(pool: &PgPool, moments: &[(String, f64)]) -> Self {
        let (names, at): (Vec<String>, Vec<f64>) = moments.iter().cloned().unzip();
        let times: Vec<f64> = sqlx::query_scalar(
            "SELECT (extract(epoch FROM min(c.created_at)) - m.at)::float8
             FROM unnest($1::text[], $2::float8[]) AS m (name, at)
             JOIN worker_names n ON n.hostname = m.name
             JOIN attempts a ON a.worker_id = n.id AND a.outcome <> 'ended'
             JOIN checkpoints c ON c.job_id = a.job_id AND c.lease_epoch > a.lease_epoch
             WHERE extract(epoch FROM a.ended_at) >= m.at
             GROUP BY a.job_id, a.lease_epoch, m.at",
        )
        .bind(names)
        .bind(at)
        .fetch_all(pool)
        .await
        .expect("checkpoints can be read");
        Self(times)
    }

    /// The time below which so many per cent lie.
    fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(place).copied().unwrap_or(f64::NAN)
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p95, p99] = [50, 95, 99].map(|percent| self.percentile(percent));
        write!(f, "p50 {p50:.2} s, p95 {p95:.2} s, p99 {p99:.2} s of {}", self.0.len())
    }
}

/// The database's clock, in seconds.
pub(crate) async fn now(pool: &PgPool) -> f64 {
    sqlx::query_scalar("SELECT extract(epoch FROM clock_timestamp())::float8")
        .fetch_one(pool)
        .await
        .expect("the database knows the time")
}

/// Keeps the names of workers, whose rows go when they stop in order.
pub(crate) async fn keep_worker_names(pool: &PgPool) {
    for statement in [
        "CREATE TABLE worker_names (id uuid PRIMARY KEY, hostname text)",
        "CREATE FUNCTION keep_worker_name() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN INSERT INTO worker_names VALUES (NEW.id, NEW.hostname) ON CONFLICT DO NOTHING; RETURN NULL; END $$",
        "CREATE TRIGGER keep_worker_name AFTER INSERT ON workers FOR EACH ROW EXECUTE FUNCTION keep_worker_name()",
    ] {
        sqlx::query(statement).execute(pool).await.expect("a test's own table can be made");
    }
}
