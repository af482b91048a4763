-- The job leaves its worker, in the transaction of its last step. Feedback that arrived before a review began puts
-- the job straight back to work, as send_feedback would a moment later.
WITH gone AS (
    UPDATE jobs
    SET status = CASE WHEN $3 = 'review' AND feedback_untaken > 0 THEN 'pending' ELSE $3 END,
        status_reason = CASE WHEN $3 = 'review' AND feedback_untaken > 0 THEN NULL ELSE $4 END,
        run_at = coalesce($5::timestamptz, run_at),
        result = coalesce($6::text::jsonb, result),
        error_message = $7,
        error_details = $8::text::jsonb
    WHERE id = $1 AND lease_epoch = $2
    RETURNING id, lease_epoch
)
UPDATE attempts a
SET ended_at = now(), outcome = $9, error = $7
FROM gone
WHERE a.job_id = gone.id AND a.lease_epoch = gone.lease_epoch
