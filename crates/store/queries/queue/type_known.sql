-- How many workers live, and how many of them know a job type.
SELECT count(*) AS "live!", count(*) FILTER (WHERE $1::text = ANY (job_types)) AS "knowing!"
FROM workers
WHERE heartbeat_at > now() - make_interval(secs => $2)
