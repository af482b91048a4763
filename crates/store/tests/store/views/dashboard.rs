//! The dashboard's queries, with as many rows as after a busy year.

use crate::support::{execute, store};
use plumbline_store::JobFilter;
use sqlx::{AssertSqlSafe, PgPool, Row};
use uuid::Uuid;

const MANY: &str = "INSERT INTO jobs (prompt, job_type, status, created_at, run_at)
    SELECT 'Job ' || g, CASE WHEN g % 100 = 0 THEN 'validator' ELSE 'creator' END,
           CASE WHEN g % 500 = 0 THEN 'paused' ELSE 'pending' END, now() - g * interval '1 minute', now()
    FROM generate_series(1, 20000) AS g";

/// Rows that a statement reads from `jobs` for its answer, by any access path.
async fn rows_read(pool: &PgPool, status: Option<&str>, job_type: Option<&str>) -> i64 {
    let literal = |text: Option<&str>| text.map_or("NULL".to_owned(), |text| format!("'{text}'"));
    let statement = include_str!("../../../queries/views/dashboard/jobs.sql").replace("\"!\"", "").replace("!\"", "\"");
    let prepared = format!("PREPARE page (bigint, timestamptz, uuid, text, text, timestamptz) AS {statement}");
    let mut connection = pool.acquire().await.unwrap();
    // The generic plan, which a long-lived connection may come to use.
    for sql in ["DEALLOCATE ALL".to_owned(), "SET plan_cache_mode = force_generic_plan".to_owned(), prepared] {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *connection).await.unwrap();
    }
    let explain = format!(
        "EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE page (50, NULL, NULL, {}, {}, NULL)",
        literal(status),
        literal(job_type)
    );
    let plan = sqlx::raw_sql(AssertSqlSafe(explain)).fetch_one(&mut *connection).await.unwrap();
    sum(&plan.get::<serde_json::Value, _>(0)[0]["Plan"])
}

fn sum(plan: &serde_json::Value) -> i64 {
    let number = |key: &str| plan[key].as_f64().unwrap_or(0.0);
    let here = if plan["Relation Name"] == "jobs" {
        (number("Actual Rows") + number("Rows Removed by Filter")) * number("Actual Loops")
    } else {
        0.0
    };
    let below = plan["Plans"].as_array().map(Vec::as_slice).unwrap_or_default();
    here as i64 + below.iter().map(sum).sum::<i64>()
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_page_of_jobs_reads_a_page_of_rows_whatever_the_filter(pool: PgPool) {
    execute(&pool, MANY).await.unwrap();
    execute(&pool, "ANALYZE jobs").await.unwrap();
    for (status, job_type) in [(None, None), (Some("paused"), None), (None, Some("validator"))] {
        let read = rows_read(&pool, status, job_type).await;
        assert!((1..=400).contains(&read), "{status:?} {job_type:?}: {read} rows read for a page of 50");
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_page_of_one_inserts_jobs_reads_a_page_of_rows_in_their_order(pool: PgPool) {
    execute(&pool, "INSERT INTO jobs (prompt) SELECT 'x' || g FROM generate_series(1, 20000) AS g").await.unwrap();
    let read = rows_read(&pool, Some("pending"), None).await;
    assert!((1..=400).contains(&read), "{read} rows read for a page of 50");
    let page = store(&pool).job_page(&JobFilter::default(), 3).await.unwrap();
    assert_eq!(page.iter().map(|job| job.prompt.as_str()).collect::<Vec<_>>(), ["x20000", "x19999", "x19998"]);
}

#[sqlx::test(migrations = "../../migrations")]
async fn counts_and_types_and_the_pulse_follow_the_rows(pool: PgPool) {
    execute(&pool, MANY).await.unwrap();
    let store = store(&pool);
    let counts = store.status_counts().await.unwrap();
    let jobs = |status: &str| counts.iter().find(|count| count.status == status).map(|count| count.jobs);
    assert_eq!((jobs("paused"), jobs("pending"), jobs("failed")), (Some(40), Some(19_960), None));
    assert_eq!(store.job_types_seen(10).await.unwrap(), ["creator", "validator"]);
    let before = store.jobs_pulse().await.unwrap();
    assert_eq!(store.jobs_pulse().await.unwrap(), before);
    execute(&pool, "INSERT INTO jobs (prompt) VALUES ('one more')").await.unwrap();
    assert_ne!(store.jobs_pulse().await.unwrap(), before);
    let filter = JobFilter { status: Some("paused".into()), ..JobFilter::default() };
    assert_eq!(store.job_page(&filter, 100).await.unwrap().len(), 40);
}

#[sqlx::test(migrations = "../../migrations")]
async fn bars_sum_up_neighbours_and_lose_no_request(pool: PgPool) {
    let job = Uuid::now_v7();
    for sql in [
        format!("INSERT INTO jobs (id, prompt) VALUES ('{job}', 'p')"),
        format!(
            "INSERT INTO llm_requests SELECT '{job}', gen_random_uuid(), g, 'm', 'tactical', 1000, 400, 100, false, 5, 1,
             NULL, CASE WHEN g = 7 THEN 'failed' END, CASE WHEN g = 7 THEN 'transient' END, NULL, now(),
             NULL, NULL, 0, 0, NULL, false, 0.0026 FROM generate_series(1, 1000) AS g"
        ),
    ] {
        execute(&pool, sql).await.unwrap();
    }
    let store = store(&pool);
    for most in [1, 7, 120, 1000, 5000] {
        let bars = store.cost_bars(job, most).await.unwrap();
        assert_eq!(bars.len() as i64, most.min(1000));
        assert_eq!((bars[0].first_turn, bars[bars.len() - 1].last_turn), (1, 1000));
        assert!(bars.windows(2).all(|pair| pair[1].first_turn == pair[0].last_turn + 1));
        assert_eq!(bars.iter().map(|bar| bar.fresh_tokens).sum::<i64>(), 600_000);
        assert_eq!(bars.iter().map(|bar| bar.failed).sum::<i64>(), 1);
        let cost: f64 = bars.iter().map(|bar| bar.cost_usd).sum();
        assert!((cost - 2.6).abs() < 1e-9, "{cost}");
    }
}
