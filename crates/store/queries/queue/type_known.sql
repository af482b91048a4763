-- The number of live workers, how many of them claim a job type, and what is wrong with its files if a worker has them
-- but cannot use them.
SELECT count(*) AS "live!", count(*) FILTER (WHERE $1::text = ANY (job_types)) AS "knowing!", min(broken_types ->> $1) AS broken
FROM workers
WHERE heartbeat_at > now() - make_interval(secs => $2)
