-- The number of a job's requirements by status, and of their verified citations.
SELECT q.status, count(*) AS "requirements!", coalesce(sum(c.citations), 0)::bigint AS "citations!",
       coalesce(sum(c.verified), 0)::bigint AS "verified!"
FROM requirement_cache q
CROSS JOIN LATERAL (
    SELECT count(*) AS citations, count(*) FILTER (WHERE cited -> 'verified' = 'true') AS verified
    FROM jsonb_array_elements(CASE jsonb_typeof(q.citations) WHEN 'array' THEN q.citations ELSE '[]' END) AS cited
) AS c
WHERE q.job_id = $1
GROUP BY q.status
ORDER BY q.status
