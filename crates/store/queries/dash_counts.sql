-- How many jobs have which status, and since when the oldest of them exists; from the index alone. Counting ends at $1
-- a status, so that years of ended jobs make neither a page nor a scrape slow.
SELECT known.status AS "status!", counted.jobs AS "jobs!",
       coalesce(extract(epoch FROM now() - oldest.created_at), 0)::double precision AS "oldest_secs!"
FROM unnest(ARRAY['pending', 'running', 'paused', 'review', 'completed', 'failed', 'cancelled']) AS known(status)
CROSS JOIN LATERAL (
    SELECT count(*) AS jobs FROM (SELECT FROM jobs WHERE jobs.status = known.status LIMIT $1) AS seen
) AS counted
LEFT JOIN LATERAL (
    SELECT created_at FROM jobs WHERE jobs.status = known.status ORDER BY created_at LIMIT 1
) AS oldest ON true
WHERE counted.jobs > 0
