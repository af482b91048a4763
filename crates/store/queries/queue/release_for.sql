-- Releases a job until a later time; the attempt does not count (see jobs_change_status).
WITH released AS (
    UPDATE jobs
    SET status = 'pending', status_reason = $3, run_at = now() + make_interval(secs => $4::double precision)
    WHERE id = $1 AND lease_epoch = $2 AND status = 'running'
    RETURNING id, lease_epoch
), closed AS (
    UPDATE attempts a
    SET ended_at = now(), outcome = 'released'
    FROM released
    WHERE a.job_id = released.id AND a.lease_epoch = released.lease_epoch
)
SELECT id FROM released
