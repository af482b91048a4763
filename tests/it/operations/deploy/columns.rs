//! Documentation in the database itself: a comment on each column that users read, and a key on each table.

use super::user::world;
use plumbline_system_tests::PgPool;

/// Objects that people and other programs read (docs/sql.md), besides those granted to roles.
const READ: &[&str] = &[
    "jobs",
    "job_documents",
    "job_commands",
    "attempts",
    "workers",
    "unknown_job_types",
    "concurrency_limits",
    "login_limits",
    "checkpoints",
    "endpoint_limits",
    "job_settings",
    "llm_requests",
    "feedback",
    "sources",
    "requirement_changes",
    "requirements_with_evidence",
    "runnable_jobs",
    "usage_daily",
];

#[sqlx::test(migrations = false)]
async fn each_column_that_users_read_has_a_comment(pool: PgPool) {
    let world = world(pool).await;
    let silent = "SELECT c.relname || '.' || a.attname
                  FROM pg_class c
                  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v') AND c.relname <> '_sqlx_migrations'
                    AND (c.relname = ANY ($1) OR EXISTS (
                        SELECT FROM unnest('{plumbline_enqueue,plumbline_steer,plumbline_approve,plumbline_validate}'::name[]) AS role
                        WHERE has_column_privilege(role, c.oid, a.attnum, 'SELECT')))
                    AND col_description(c.oid, a.attnum) IS NULL
                  ORDER BY 1";
    let read: Vec<String> = READ.iter().map(ToString::to_string).collect();
    let silent: Vec<String> =
        sqlx::query_scalar(silent).bind(read).fetch_all(&world.pool).await.expect("comments can be read");
    assert_eq!(silent, <[String; 0]>::default(), "say what they mean in the migration of comments");
    world.finish().await;
}

/// A published table without a key takes no DELETE: neither prune nor a person could remove a job.
#[sqlx::test(migrations = false)]
async fn each_table_has_a_key(pool: PgPool) {
    let world = world(pool).await;
    let without = "SELECT c.relname::text FROM pg_class c
                   WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
                     AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)";
    let without: Vec<String> = sqlx::query_scalar(without).fetch_all(&world.pool).await.expect("keys can be read");
    assert_eq!(without, <[String; 0]>::default());
    world.finish().await;
}
