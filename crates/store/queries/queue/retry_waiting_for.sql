-- Makes jobs that wait for a worker with another key or model due at once: a worker that starts, or has new files, may
-- have it.
UPDATE jobs SET run_at = now(), updated_at = now()
WHERE id IN (
    SELECT id FROM jobs
    WHERE status = 'pending' AND run_at > now() AND starts_with(status_reason, $1)
    ORDER BY id
    FOR NO KEY UPDATE SKIP LOCKED
)
