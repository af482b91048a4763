-- Claims up to $4 jobs whose type no live worker has known for $2 seconds, so that the worker can fail them.
WITH late AS MATERIALIZED (
    SELECT j.id
    FROM unknown_job_types t
    JOIN jobs j ON j.job_type = t.job_type AND j.status = 'pending' AND j.attempt >= 0
    WHERE greatest(t.since, j.run_at, j.created_at) < now() - make_interval(secs => $2)
      AND NOT EXISTS (SELECT FROM workers w
                      WHERE (j.job_type = ANY (w.job_types) OR w.broken_types ? j.job_type) AND w.heartbeat_at > now() - make_interval(secs => $3))
      AND EXISTS (SELECT FROM workers w WHERE w.id = $1)
    ORDER BY j.id
    LIMIT $4
    FOR UPDATE OF j SKIP LOCKED
), taken AS (
    UPDATE jobs j
    SET status = 'running', status_reason = NULL, worker_id = $1, lease_epoch = lease_epoch + 1, attempt = attempt + 1
    FROM late
    WHERE j.id = late.id
    RETURNING j.id, j.job_type, j.lease_epoch, j.attempt
), opened AS (
    INSERT INTO attempts (job_id, attempt, lease_epoch, worker_id)
    SELECT id, attempt, lease_epoch, $1 FROM taken
)
SELECT id AS "id!", job_type AS "job_type!", lease_epoch AS "lease_epoch!" FROM taken
