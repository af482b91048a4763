-- Gives a job back for a worker that knows its type, if one lives; between five and ten seconds later, so that this
-- one does not take it again at once, and many such jobs do not come back together. Nothing of it was in flight, and the
-- attempt does not count (see jobs_change_status). Says whether the job was still ours, and whether it was given back.
WITH held AS MATERIALIZED (
    SELECT j.id, j.lease_epoch, EXISTS (
               SELECT FROM workers w
               WHERE w.id <> j.worker_id AND j.job_type = ANY (w.job_types)
                 AND w.heartbeat_at > now() - make_interval(secs => $3)) AS known
    FROM jobs j
    WHERE j.id = $1 AND j.lease_epoch = $2 AND j.status = 'running'
    FOR UPDATE
), deferred AS (
    UPDATE jobs j
    SET status = 'pending', run_at = now() + interval '5 seconds' * (1 + random()),
        status_reason = format('its worker does not know the job type `%s`; it waits for one that does', j.job_type)
    FROM held
    WHERE j.id = held.id AND held.known
), closed AS (
    UPDATE attempts a
    SET ended_at = now(), outcome = 'released'
    FROM held
    WHERE a.job_id = held.id AND a.lease_epoch = held.lease_epoch AND held.known
)
SELECT known AS "known!" FROM held
