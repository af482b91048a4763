//! Tests the checker that every other test relies on: each rule is violated once on purpose.

use plumbline_system_tests::{PgPool, World, documents, invariants, jobs::NewJob};

/// A rule's beginning, and a statement that breaks it for a completed job.
const SABOTAGE: [(&str, &str); 32] = [
    ("I1: completed, and result", "UPDATE jobs SET result = NULL"),
    ("I2: steps without a gap", "DELETE FROM checkpoints WHERE step = 5"),
    ("I2: jobs.step is the last step", "UPDATE jobs SET step = step + 1"),
    ("I2: epochs never decrease", "UPDATE checkpoints SET lease_epoch = 7 WHERE step = 3"),
    ("I2: a step has its attempt", "UPDATE checkpoints SET lease_epoch = 7"),
    ("I2: one attempt a claim", "UPDATE jobs SET lease_epoch = lease_epoch + 1"),
    ("I2: an attempt is open", "UPDATE attempts SET ended_at = NULL, outcome = NULL"),
    ("I3: a call's result", "DELETE FROM messages WHERE seq = (SELECT min(seq) FROM messages WHERE role = 'tool')"),
    (
        "I3: no result without",
        "UPDATE messages SET tool_calls = NULL WHERE seq = (SELECT min(seq) FROM messages WHERE role = 'assistant')",
    ),
    (
        "I4: a requirement once",
        "INSERT INTO requirement_cache (job_id, text, step, content_key)
         SELECT job_id, text || ' ', step, 'another' FROM requirement_cache LIMIT 1",
    ),
    ("I4: a number is of one requirement", "UPDATE requirement_cache SET number = 1"),
    ("I4: a requirement is of a step", "UPDATE requirement_cache SET step = 100000"),
    ("a passage without text", "UPDATE passages SET chunk_path = NULL"),
    (
        "a carried passage says",
        "UPDATE passages SET answered_by = 'carried', carried_from = NULL WHERE state = 'answered'",
    ),
    ("a passage is decided as", "UPDATE passages SET decided_step = decided_step - 1"),
    (
        "a decision is of a candidate",
        "UPDATE passages SET decisions = '[{\"s\": 999, \"why\": \"a heading\", \"step\": 1}]'",
    ),
    (
        "a recorded passage has nothing open",
        "UPDATE passages SET answered_by = 'recorded', decisions = '[]', candidates_cited = 0,
                sentences = (SELECT jsonb_agg(s.value - 'cited_step') FROM jsonb_array_elements(sentences) s)
         WHERE candidates > 0",
    ),
    ("an empty passage", "UPDATE passages SET answered_by = 'empty' WHERE candidates > 0"),
    ("sentences that are not judged", "UPDATE passages SET n_not_judged = n_sentences + 1"),
    ("a passage counts the requirements", "UPDATE passages SET n_requirements = n_requirements + 1"),
    ("a page that is not in the text", "UPDATE sources SET unread_pages = '{1}'"),
    ("I8: requests, tokens", "UPDATE jobs SET total_tokens_used = total_tokens_used + 1"),
    ("phases without a gap", "UPDATE phases SET outcome = NULL, ended_at = NULL WHERE phase_number = 2"),
    ("jobs.phase_number", "UPDATE jobs SET phase_number = phase_number + 1"),
    (
        "no open todo in a completed phase",
        "UPDATE todos SET status = 'pending', completed_at = NULL WHERE phase_number = 2",
    ),
    ("jobs counts its todos", "UPDATE jobs SET todos_done = todos_done - 1"),
    (
        "a call is pending while its job is in review",
        "INSERT INTO approvals (job_id, step, call_id, tool, tool_sha256, arguments, arguments_sha256, shown, expires_at)
         SELECT id, 1, 'call_1_1', 'fetch_page', sha256(''), '{}', sha256(''), '{}', now() FROM jobs LIMIT 1",
    ),
    (
        "untrusted_step is that of the checkpoints",
        "ALTER TABLE jobs DISABLE TRIGGER USER; UPDATE jobs SET untrusted_step = NULL",
    ),
    (
        "a request with text from outside sets untrusted_step",
        "ALTER TABLE jobs DISABLE TRIGGER USER; UPDATE jobs SET untrusted_step = NULL;
         UPDATE messages SET content = 'A page', tool_calls = replace(tool_calls::text, 'write_file', 'fetch_page')::json",
    ),
    (
        "a fork and a follow-up of an untrusted job are untrusted",
        "ALTER TABLE jobs DISABLE TRIGGER USER;
         INSERT INTO jobs (prompt, parent_job_id, idempotency_key) SELECT 'x', id, 'on_complete:' || id FROM jobs",
    ),
    (
        "replaced settings are of steps in order",
        "UPDATE job_settings SET replaced = '[{\"until_step\": 2}, {\"until_step\": 1}]'",
    ),
    ("a file is of a step", "UPDATE file_versions SET step = step + 100000 WHERE path = 'main_plan.md'"),
];

#[sqlx::test(migrations = false)]
async fn every_rule_can_fail(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(1);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.work_until_idle().await;
    world.becomes(job, "completed").await;
    assert_eq!(invariants::violations(&world.pool).await, Vec::<String>::new());
    for (rule, statement) in SABOTAGE {
        let mut tx = world.pool.begin().await.expect("a transaction");
        sqlx::raw_sql(statement).execute(&mut *tx).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
        let found = invariants::violations(&mut *tx).await;
        assert!(found.iter().any(|line| line.starts_with(rule)), "`{statement}` broke no rule `{rule}`: {found:?}");
        tx.rollback().await.expect("a rollback");
    }
    world.finish().await;
}
