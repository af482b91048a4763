-- How many workers live, how many of them claim a job type, and what is wrong with its files where one has it and cannot.
SELECT count(*) AS "live!", count(*) FILTER (WHERE $1::text = ANY (job_types)) AS "knowing!", min(broken_types ->> $1) AS broken
FROM workers
WHERE heartbeat_at > now() - make_interval(secs => $2)
