-- Jobs leave their worker, in the transaction of their last step. Feedback that arrived before a review began, or before
-- a completion that had not seen it, puts the job straight back to work: the user's word was first.
WITH leaving AS (
    SELECT *
    FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::text[], $8::text[],
                $9::text[])
        AS l (job_id, epoch, status, reason, run_at, result, error, details, outcome)
),
gone AS (
    UPDATE jobs
    SET status = CASE WHEN l.status IN ('review', 'completed') AND feedback_untaken > 0 THEN 'pending' ELSE l.status END,
        status_reason = CASE WHEN l.status IN ('review', 'completed') AND feedback_untaken > 0 THEN NULL
                             ELSE l.reason END,
        run_at = coalesce(l.run_at, jobs.run_at),
        result = coalesce(l.result::jsonb, jobs.result),
        error_message = l.error,
        error_details = l.details::jsonb
    FROM leaving l
    WHERE jobs.id = l.job_id AND jobs.lease_epoch = l.epoch
    RETURNING jobs.id, jobs.lease_epoch, jobs.status, l.outcome, l.error
)
UPDATE attempts a
SET ended_at = now(), outcome = gone.outcome, error = gone.error
FROM gone
WHERE a.job_id = gone.id AND a.lease_epoch = gone.lease_epoch
RETURNING gone.id AS "id!", gone.status AS "status!"
