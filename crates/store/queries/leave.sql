-- The job leaves its worker, in the transaction of its last step. Feedback that arrived before a review began, or before
-- a completion that had not seen it, puts the job straight back to work: the user's word was first.
WITH gone AS (
    UPDATE jobs
    SET status = CASE WHEN $3 IN ('review', 'completed') AND feedback_untaken > 0 THEN 'pending' ELSE $3 END,
        status_reason = CASE WHEN $3 IN ('review', 'completed') AND feedback_untaken > 0 THEN NULL ELSE $4 END,
        run_at = coalesce($5::timestamptz, run_at),
        result = coalesce($6::text::jsonb, result),
        error_message = $7,
        error_details = $8::text::jsonb
    WHERE id = $1 AND lease_epoch = $2
    RETURNING id, lease_epoch, status
)
UPDATE attempts a
SET ended_at = now(), outcome = $9, error = $7
FROM gone
WHERE a.job_id = gone.id AND a.lease_epoch = gone.lease_epoch
RETURNING gone.status AS "status!"
