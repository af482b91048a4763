//! Limits of models' endpoints: rates (GCRA) and slots, shared by all workers on one database.

use crate::{Error, Lease, Store, error::During};
use std::time::Duration;
use uuid::Uuid;

/// The `status_reason` of a waiting job.
const WAITS: &str = "waits for its model's limit";

/// The scope of limits: a provider counts per key, and per model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EndpointKey {
    /// Scheme and host, and the port unless it is the scheme's default.
    pub endpoint: String,
    /// The name of the environment variable with the key.
    pub key_name: String,
    /// The model's name.
    pub model: String,
}

/// Limits as set (`llm.limits`) or learnt; none if there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EndpointLimits {
    /// Requests per minute.
    pub requests_per_minute: Option<i64>,
    /// Tokens per minute, prompts and answers.
    pub tokens_per_minute: Option<i64>,
    /// Concurrent requests.
    pub parallel: Option<i32>,
}

/// A number of requests, and of their tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Amount {
    /// Requests.
    pub requests: f64,
    /// Tokens.
    pub tokens: f64,
}

/// One worker's draw from the limits of an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Draw {
    /// For waiting requests, and for some future ones.
    pub cost: Amount,
    /// Amount by which earlier draws were too small; negative: too large.
    pub corrected: Amount,
}

/// The answer to a draw, by GCRA: a unit may be used if the theoretical arrival time (TAT) of the units before it is at
/// most the burst in the future.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drawn {
    /// The limits in force.
    pub limits: EndpointLimits,
    /// TATs before this draw, in seconds from now; they include a block by the provider.
    pub tat_s: Amount,
    /// Seconds between two units; 0 if there is no limit.
    pub period_s: Amount,
    /// The burst: how many seconds of the limit may be used at once.
    pub burst_s: f64,
}

/// One worker's slots of a limit on parallel requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// How many of its requests may be in flight.
    pub granted: i32,
    /// Whether requests of other workers wait.
    pub contested: bool,
}

/// A request that the provider refused because of a rate limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refusal {
    /// How long the provider wants no requests, if it says so.
    pub wait: Option<Duration>,
    /// The time since the request was sent.
    pub sent_ago: Duration,
    /// Whether the provider states its limits.
    pub names_limits: bool,
}

impl Store {
    /// Draws from the limits of an endpoint. `None`: none of its limits is known.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn draw_from_endpoint(&self, key: &EndpointKey, draw: &Draw) -> Result<Option<Drawn>, Error> {
        let row = sqlx::query_file!(
            "queries/endpoint/draw_from_endpoint.sql",
            key.endpoint,
            key.key_name,
            key.model,
            draw.cost.requests,
            draw.cost.tokens,
            draw.corrected.requests,
            draw.corrected.tokens
        )
        .fetch_optional(&self.pool)
        .await
        .during("draw from the rate limit of a model endpoint")?;
        let or_none = |seconds: Option<f64>| seconds.unwrap_or(0.0);
        Ok(row.map(|row| Drawn {
            limits: EndpointLimits {
                requests_per_minute: row.requests_per_minute,
                tokens_per_minute: row.tokens_per_minute,
                parallel: row.parallel,
            },
            tat_s: Amount { requests: row.requests_tat_s.max(0.0), tokens: row.tokens_tat_s.max(0.0) },
            period_s: Amount { requests: or_none(row.request_period_s), tokens: or_none(row.token_period_s) },
            burst_s: row.burst_s,
        }))
    }

    /// Requests slots of an endpoint with a limit on parallel requests: `wanted` for requests in flight or waiting,
    /// after `ended` ones have finished. They must be renewed before the lease ends. `None`: the endpoint has no such
    /// limit.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn hold_endpoint_slots(
        &self,
        key: &EndpointKey,
        worker_id: Uuid,
        lease: Duration,
        wanted: i32,
        ended: i32,
    ) -> Result<Option<Slots>, Error> {
        let row = sqlx::query_file!(
            "queries/endpoint/hold_endpoint_slots.sql",
            key.endpoint,
            key.key_name,
            key.model,
            worker_id,
            lease.as_secs_f64(),
            wanted,
            ended
        )
        .fetch_optional(&self.pool)
        .await
        .during("reserve slots of a model endpoint")?;
        Ok(row.map(|row| Slots { granted: row.granted, contested: row.contested }))
    }

    /// Stores the limits of a configuration: always if it `is_current`, or, for a job that began earlier, only if none
    /// are set.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn set_endpoint_limits(
        &self,
        key: &EndpointKey,
        limits: EndpointLimits,
        is_current: bool,
    ) -> Result<(), Error> {
        sqlx::query_file!(
            "queries/endpoint/set_endpoint_limits.sql",
            key.endpoint,
            key.key_name,
            key.model,
            limits.requests_per_minute,
            limits.tokens_per_minute,
            limits.parallel,
            is_current
        )
        .execute(&self.pool)
        .await
        .during("set the rate limits of a model endpoint")?;
        Ok(())
    }

    /// Stores the limits that the provider states.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn learn_endpoint_limits(
        &self,
        key: &EndpointKey,
        requests_per_minute: Option<i64>,
        tokens_per_minute: Option<i64>,
    ) -> Result<(), Error> {
        sqlx::query_file!(
            "queries/endpoint/learn_endpoint_limits.sql",
            key.endpoint,
            key.key_name,
            key.model,
            requests_per_minute,
            tokens_per_minute
        )
        .execute(&self.pool)
        .await
        .during("store the learned rate limits of a model endpoint")?;
        Ok(())
    }

    /// Blocks an endpoint for all workers after it refused a request because of a rate limit.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn block_endpoint(&self, key: &EndpointKey, refusal: &Refusal) -> Result<(), Error> {
        sqlx::query_file!(
            "queries/endpoint/block_endpoint.sql",
            key.endpoint,
            key.key_name,
            key.model,
            refusal.wait.map(|wait| wait.as_secs_f64()),
            refusal.sent_ago.as_secs_f64(),
            refusal.names_limits
        )
        .execute(&self.pool)
        .await
        .during("block a model endpoint")?;
        Ok(())
    }

    /// The endpoints with a known limit.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn known_endpoints(&self) -> Result<Vec<EndpointKey>, Error> {
        let rows = sqlx::query_file!("queries/endpoint/known_endpoints.sql").fetch_all(&self.pool).await;
        let rows = rows.during("list the rate limits of model endpoints")?;
        Ok(rows
            .into_iter()
            .map(|row| EndpointKey { endpoint: row.endpoint, key_name: row.key_name, model: row.model })
            .collect())
    }

    /// Sets or clears `status_reason` of running jobs that wait, or no longer wait, for their model's limit; returns
    /// the updated jobs.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn say_waits_for_limit(&self, jobs: &[(Lease, bool)]) -> Result<Vec<Uuid>, Error> {
        let ids: Vec<Uuid> = jobs.iter().map(|(lease, _)| lease.job_id).collect();
        let epochs: Vec<i64> = jobs.iter().map(|(lease, _)| lease.epoch).collect();
        let waits: Vec<bool> = jobs.iter().map(|(_, waits)| *waits).collect();
        sqlx::query_file_scalar!("queries/endpoint/say_waits_for_limit.sql", &ids, &epochs, &waits, WAITS)
            .fetch_all(&self.pool)
            .await
            .during("mark the jobs that wait for a rate limit")
    }
}
