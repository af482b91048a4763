-- How many jobs have which status, and since when the oldest of them exists; from the index alone.
SELECT status, count(*) AS "jobs!", extract(epoch FROM now() - min(created_at))::double precision AS "oldest_secs!"
FROM jobs
GROUP BY status
