-- Deletes a few ended jobs, oldest first, with all their rows (jobs_delete_rows). A job is kept while its follow-up
-- jobs run, or while a validator holds its requirements (or has not judged them yet, $4). Locked rows are skipped:
-- another session is retrying, forking or pruning them, or has claimed a requirement and not committed yet.
WITH old AS MATERIALIZED (
    SELECT j.id
    FROM jobs j
    WHERE j.completed_at < now() - make_interval(secs => $1)
      AND j.status = ANY ($2)
      AND NOT EXISTS (SELECT FROM jobs next WHERE next.parent_job_id = j.id AND next.completed_at IS NULL)
      AND NOT EXISTS (SELECT FROM jobs next WHERE next.context ? 'previous_job_id' AND next.completed_at IS NULL
                      AND next.context ->> 'previous_job_id' = j.id::text)
      -- A judged row that is pending waits for a graph, which may never exist.
      AND NOT EXISTS (SELECT FROM requirement_cache r WHERE r.job_id = j.id AND r.status = ANY ($4)
                      AND (r.status <> 'pending' OR r.validation_result IS NULL))
    ORDER BY j.completed_at
    LIMIT $3
    FOR UPDATE SKIP LOCKED
), unclaimed AS MATERIALIZED (
    SELECT r.id
    FROM old
    JOIN requirement_cache r ON r.job_id = old.id AND r.status = 'pending'
    FOR UPDATE OF r SKIP LOCKED
)
DELETE FROM jobs USING old
WHERE jobs.id = old.id
  AND NOT EXISTS (SELECT FROM requirement_cache r WHERE r.job_id = old.id AND r.status = 'pending'
                  AND r.id NOT IN (SELECT id FROM unclaimed))
RETURNING jobs.id, jobs.step > 0 AS "ran!"
