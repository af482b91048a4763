-- The job's latest attempts, newest first; the host is known while its worker is registered.
SELECT a.attempt, a.worker_id, w.hostname AS "hostname?", a.lease_epoch, a.started_at, a.ended_at, a.outcome, a.error
FROM attempts a
LEFT JOIN workers w ON w.id = a.worker_id
WHERE a.job_id = $1
ORDER BY a.lease_epoch DESC
LIMIT $2
