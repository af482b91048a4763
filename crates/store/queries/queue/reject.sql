-- Fails a job that cannot be run at all; fenced like every write of a run.
WITH rejected AS (
    UPDATE jobs
    SET status = 'failed', error_message = $3, error_details = $4::text::jsonb
    WHERE id = $1 AND lease_epoch = $2 AND status = 'running'
    RETURNING id, lease_epoch
), closed AS (
    UPDATE attempts a
    SET ended_at = now(), outcome = 'ended', error = $3
    FROM rejected
    WHERE a.job_id = rejected.id AND a.lease_epoch = rejected.lease_epoch
)
SELECT id FROM rejected
