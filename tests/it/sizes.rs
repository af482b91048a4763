//! What a row, a document or a model may make a worker take into memory.

use plumbline_system_tests::{PgPool, Program, World, documents, jobs::NewJob};

/// Most memory of a worker at default settings, in MiB, whatever it meets.
const MOST_MIB: u64 = 1024;

fn assert_small(worker: &Program) {
    let peak = worker.peak_memory_mib();
    println!("the worker had {peak} MiB at most");
    assert!(peak < MOST_MIB, "the worker had {peak} MiB at most");
}

/// Rows from before there were bounds: each fails alone.
#[sqlx::test(migrations = false)]
async fn a_row_of_half_a_gigabyte_fails_alone(pool: PgPool) {
    let world = World::new(pool).await;
    let before = [
        "ALTER TABLE jobs DISABLE TRIGGER USER",
        "INSERT INTO jobs (prompt) VALUES (repeat('x ', 250000000))",
        "INSERT INTO jobs (prompt, context) VALUES ('x', jsonb_build_object('a', repeat('x', 200000000)))",
        "INSERT INTO jobs (prompt, config) VALUES ('x', jsonb_build_object('a', repeat('x', 200000000)))",
        "ALTER TABLE jobs ENABLE TRIGGER USER",
    ];
    for statement in before {
        sqlx::query(statement).execute(&world.pool).await.expect("a row can be inserted");
    }
    let policy = documents::policy(2);
    let bystander = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    let worker = world.worker();
    world.becomes(bystander, "completed").await;
    let ended: Vec<(String, String)> =
        sqlx::query_as("SELECT status, coalesce(error_message, '') FROM jobs WHERE id <> $1")
            .bind(bystander)
            .fetch_all(&world.pool)
            .await
            .expect("jobs can be read");
    assert_eq!(ended.len(), 3);
    for (status, error) in ended {
        assert!(status == "failed" && error.contains("a worker reads 1048576 at most"), "{status}: {error}");
    }
    assert_small(&worker);
    worker.stop().await;
    world.finish().await;
}

/// Three at once, each nearly of the size that is allowed, and none a document.
#[sqlx::test(migrations = false)]
async fn large_documents_wait_for_each_other(pool: PgPool) {
    let world = World::new(pool).await;
    let insert = "INSERT INTO jobs (prompt, document_content, context)
                  SELECT 'Extract the requirements',
                         decode(repeat(encode(gen_random_uuid()::text::bytea, 'hex'), 7000000), 'hex'),
                         '{\"document_name\": \"large.pdf\"}'
                  FROM generate_series(1, 3)";
    sqlx::query(insert).execute(&world.pool).await.expect("rows can be inserted");
    let policy = documents::policy(2);
    let bystander = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    let worker = world.worker();
    world.becomes(bystander, "completed").await;
    let large = "SELECT id FROM jobs WHERE id <> $1";
    let large: Vec<uuid::Uuid> =
        sqlx::query_scalar(large).bind(bystander).fetch_all(&world.pool).await.expect("jobs can be read");
    for job in large {
        world.becomes(job, "failed").await;
    }
    assert_small(&worker);
    worker.stop().await;
    world.finish().await;
}
