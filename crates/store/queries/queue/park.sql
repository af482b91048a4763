-- Parks a job until a person acts; the attempt does not count (see jobs_change_status).
WITH parked AS (
    UPDATE jobs
    SET status = 'paused', status_reason = $3
    WHERE id = $1 AND lease_epoch = $2 AND status = 'running'
    RETURNING id, lease_epoch
), closed AS (
    UPDATE attempts a
    SET ended_at = now(), outcome = 'released'
    FROM parked
    WHERE a.job_id = parked.id AND a.lease_epoch = parked.lease_epoch
)
SELECT id FROM parked
