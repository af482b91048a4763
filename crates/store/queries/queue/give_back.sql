-- Releases a job after an error that it did not cause: pending, with the reason, and a backoff that doubles while the
-- same error hits the same step. After $5 seconds of that the job fails, with the first and the last error; 0: never.
-- Fenced like every write of a run; the attempt does not count (see jobs_change_status).
WITH met AS (
    SELECT id, lease_epoch, step,
           CASE WHEN error_details ->> 'kind' = 'internal' AND error_details ->> 'code' = $4::text
                     AND (error_details ->> 'step')::bigint = step
                THEN error_details END AS before
    FROM jobs
    WHERE id = $1 AND lease_epoch = $2 AND status = 'running'
    FOR UPDATE
), streak AS (
    SELECT id, lease_epoch,
           coalesce((before ->> 'attempts')::int, 0) + 1 AS attempts,
           coalesce((before ->> 'first_error_at')::timestamptz, now()) AS since,
           jsonb_build_object(
               'kind', 'internal', 'code', $4::text, 'step', step,
               'attempts', coalesce((before ->> 'attempts')::int, 0) + 1,
               'first_error', coalesce(before ->> 'first_error', $3::text),
               'first_error_at', coalesce((before ->> 'first_error_at')::timestamptz, now()),
               'last_error', $3::text, 'last_error_at', now()) AS details
    FROM met
), verdict AS (
    SELECT id, lease_epoch, attempts, since, details,
           $5::double precision > 0 AND now() - since >= make_interval(secs => $5::double precision) AS given_up
    FROM streak
), updated AS (
    UPDATE jobs
    SET status = CASE WHEN given_up THEN 'failed' ELSE 'pending' END,
        status_reason = CASE WHEN given_up THEN jobs.status_reason ELSE $3 END,
        run_at = CASE WHEN given_up THEN jobs.run_at
                      ELSE now() + make_interval(secs => least(600, power(2, least(v.attempts - 1, 10)))) END,
        error_message = CASE WHEN given_up THEN format(
            'the same trouble for %s, at %s tries: first "%s", last "%s"', date_trunc('second', now() - v.since),
            v.attempts, v.details ->> 'first_error', v.details ->> 'last_error') END,
        error_details = v.details
    FROM verdict v
    WHERE jobs.id = v.id
    RETURNING jobs.id, jobs.lease_epoch, v.given_up
), closed AS (
    UPDATE attempts a
    SET ended_at = now(), outcome = CASE WHEN updated.given_up THEN 'ended' ELSE 'lost' END, error = $3
    FROM updated
    WHERE a.job_id = updated.id AND a.lease_epoch = updated.lease_epoch
)
SELECT given_up AS "given_up!" FROM updated
