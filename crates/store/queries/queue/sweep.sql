-- Reclaims jobs from workers whose heartbeat is too old by the database's clock, or whose row is gone.
-- A crash counts against the job only if no step was committed since the last one (the fence sets the count to zero): a
-- long job may outlive any number of workers, but a job that kills its worker at the same step may not. If several jobs
-- were running, the one that killed the worker is unknown: only a job that ran alone (see claim.sql), or whose user
-- allows a single attempt, is failed.
WITH dead AS MATERIALIZED (
    SELECT j.id, j.worker_id AS lost_worker, j.lease_epoch,
           CASE WHEN j.crash_count = 0 THEN 1 ELSE j.attempt END AS attempt,
           -- An overflow of the column would fail the whole sweep.
           least(j.crash_count, 1000000000) + 1 AS crashes,
           j.max_attempts = 1 OR EXISTS (
               SELECT FROM attempts a WHERE a.job_id = j.id AND a.lease_epoch = j.lease_epoch AND a.alone
           ) AS to_blame
    FROM jobs j
    LEFT JOIN workers w ON w.id = j.worker_id
    WHERE j.status = 'running'
      AND (w.id IS NULL OR w.heartbeat_at < now() - make_interval(secs => $1))
    ORDER BY j.id
    LIMIT $2
    FOR UPDATE OF j SKIP LOCKED
), judged AS (
    SELECT dead.*, CASE
        WHEN crashes >= 3 AND to_blame THEN
            'the job killed its worker three times at step ' || j.step || ' and is not run again by itself'
        WHEN dead.attempt >= j.max_attempts AND to_blame THEN
            'the job''s worker died in attempt ' || dead.attempt || ' of ' || j.max_attempts
    END AS verdict
    FROM dead JOIN jobs j ON j.id = dead.id
), rescued AS (
    UPDATE jobs j
    SET status = CASE WHEN verdict IS NULL THEN 'pending' ELSE 'failed' END,
        status_reason = CASE WHEN verdict IS NULL THEN 'its worker was lost' END,
        crash_count = crashes,
        attempt = judged.attempt,
        error_message = coalesce(verdict, error_message),
        error_details = CASE WHEN verdict IS NULL THEN error_details ELSE jsonb_build_object(
            'kind', 'worker_lost', 'stage', 'step ' || j.step, 'attempts', judged.attempt, 'first_error', verdict,
            'last_error', verdict, 'hint', 'look for what the last step did, then run the job again with retry_job') END
    FROM judged
    WHERE j.id = judged.id
    RETURNING j.id, j.lease_epoch, j.crash_count, j.status, judged.lost_worker
), closed AS (
    UPDATE attempts a
    SET ended_at = now(), outcome = 'crashed', error = 'the worker''s heartbeat stopped'
    FROM rescued
    WHERE a.job_id = rescued.id AND a.lease_epoch = rescued.lease_epoch AND a.ended_at IS NULL
)
SELECT id AS "job_id!", lost_worker AS "worker_id!", lease_epoch AS "lease_epoch!", crash_count AS "crash_count!",
       status = 'failed' AS "failed!"
FROM rescued
