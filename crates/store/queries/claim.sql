-- Takes the most urgent runnable jobs, locked ones skipped, and opens an attempt for each, in one statement.
-- A worker whose row is gone gets nothing: its jobs would be swept at once.
WITH picked AS MATERIALIZED (
    SELECT id
    FROM runnable_jobs
    WHERE ($3::text[] IS NULL OR job_type = ANY ($3))
      AND EXISTS (SELECT FROM workers WHERE workers.id = $1)
    ORDER BY priority DESC, run_at, id
    LIMIT $2
    FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE jobs j
    SET status = 'running', worker_id = $1, lease_epoch = lease_epoch + 1, attempt = attempt + 1,
        started_at = coalesce(started_at, now())
    FROM picked
    WHERE j.id = picked.id
    RETURNING j.*
), opened AS (
    INSERT INTO attempts (job_id, attempt, lease_epoch, worker_id)
    SELECT id, attempt, lease_epoch, worker_id FROM claimed
)
SELECT id AS "id!", job_type AS "job_type!", prompt AS "prompt!", document_path,
       document_content IS NOT NULL AS "has_document_content!", context AS "context!", config AS "config!",
       attempt AS "attempt!", max_attempts AS "max_attempts!", lease_epoch AS "lease_epoch!", step AS "step!",
       started_at AS "started_at!", feedback_untaken > 0 AS "feedback_pending!",
       coalesce((
           -- The statement's snapshot does not hold the attempt just opened: this is the one before.
           SELECT a.outcome IN ('crashed', 'lost') OR a.outcome IS NULL
           FROM attempts a
           WHERE a.job_id = claimed.id
           ORDER BY a.lease_epoch DESC
           LIMIT 1
       ), false) AS "interrupted!",
       EXISTS (SELECT FROM job_settings s WHERE s.job_id = claimed.id) AS "has_settings!"
FROM claimed
ORDER BY priority DESC, run_at, id
