//! Calls that wait for people: counted in the metrics by how long, and shown with their arguments and the statements that decide.

use crate::client::{get, value, worker};
use plumbline_system_tests::{PgPool, Uuid, World, eventually, jobs::NewJob};

/// A job in review with a call that waits since so many hours; no model is needed for that.
async fn waits(world: &World, hours: i32, arguments: &str) -> (Uuid, Uuid) {
    let later = NewJob { prompt: "Pay what is owed.", in_seconds: 1e6, ..NewJob::default() };
    let job = world.insert(&later).await;
    let mut connection = world.pool.acquire().await.expect("a connection");
    let run = async |connection: &mut sqlx::PgConnection, statement: &'static str| {
        sqlx::query(statement)
            .bind(job)
            .execute(connection)
            .await
            .unwrap_or_else(|error| panic!("{statement}: {error}"))
    };
    sqlx::query("SET session_replication_role = replica").execute(&mut *connection).await.expect("a test may");
    run(
        &mut connection,
        "UPDATE jobs SET status = 'review', scheduled = false, status_reason = 'waits for approval of http_pay' WHERE id = $1",
    )
    .await;
    sqlx::query("SET session_replication_role = origin").execute(&mut *connection).await.expect("a test may");
    let call = sqlx::query_scalar(
        "INSERT INTO approvals (job_id, step, call_id, tool, tool_sha256, arguments, arguments_sha256, shown, requested_at, expires_at)
         VALUES ($1, 1, 'call_3_1', 'http_pay', sha256('tool'), $2::jsonb, sha256('arguments'), $2,
                 now() - make_interval(hours => $3), now() + interval '9 days')
         RETURNING id",
    )
    .bind(job)
    .bind(arguments)
    .bind(hours)
    .fetch_one(&mut *connection)
    .await
    .expect("a call that waits");
    (job, call)
}

#[sqlx::test(migrations = "../migrations")]
async fn calls_that_wait_are_counted_by_age_and_shown_with_what_decides_them(pool: PgPool) {
    let world = World::new(pool).await;
    let (job, call) = waits(&world, 0, r#"{"amount": 3, "note": "<b>now</b>"}"#).await;
    for hours in [2, 3, 30] {
        waits(&world, hours, "{}").await;
    }
    let (program, address) = worker(&world).await;
    let series = |age: &str| format!("plumbline_approvals_waiting{{age=\"{age}\"}}");
    let metrics = eventually("the calls that wait in the metrics", async || {
        let text = get(address, "/metrics").await.body;
        text.contains(&format!("{} 2", series("under_1d"))).then_some(text)
    })
    .await;
    assert_eq!((value(&metrics, &series("under_1h")), value(&metrics, &series("older"))), (1.0, 1.0));

    let page = get(address, &format!("/jobs/{job}")).await.body;
    for part in [
        "http_pay".to_owned(),
        "&quot;amount&quot;: 3".to_owned(),
        "&lt;b&gt;now&lt;&#x2f;b&gt;".to_owned(),
        format!("SELECT approve_call('{call}');"),
        format!("SELECT reject_call('{call}', 'why');"),
    ] {
        assert!(page.contains(&part), "{part} is not in:\n{page}");
    }
    sqlx::query("SELECT reject_call($1, 'no')").bind(call).execute(&world.pool).await.expect("it is decided");
    assert!(!get(address, &format!("/jobs/{job}")).await.body.contains("approve_call"), "it waits for nothing");
    eventually("one call fewer in the metrics", async || {
        get(address, "/metrics").await.body.contains(&format!("{} 0", series("under_1h"))).then_some(())
    })
    .await;
    program.stop().await;
    // Rows that no step has written break the invariants.
    sqlx::query("DELETE FROM jobs").execute(&world.pool).await.expect("jobs can be deleted");
    world.finish().await;
}
