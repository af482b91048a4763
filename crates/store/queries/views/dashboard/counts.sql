-- The number of jobs of each status, and the creation time of the oldest; from the index alone. Counting stops at $1
-- per status, so that years of ended jobs slow down neither a page nor a scrape.
-- attempt >= 0 holds for every row: it is the condition of the list's index, jobs_waiting.
SELECT known.status AS "status!", counted.jobs AS "jobs!",
       coalesce(extract(epoch FROM now() - oldest.created_at), 0)::double precision AS "oldest_secs!"
FROM (SELECT DISTINCT status FROM job_shelves) AS known
CROSS JOIN LATERAL (
    SELECT count(*) AS jobs
    FROM (
        (SELECT FROM jobs j WHERE known.status = 'pending' AND j.status = 'pending' AND j.attempt >= 0 LIMIT $1)
        UNION ALL
        (SELECT FROM jobs j WHERE j.status <> 'running' AND j.status <> 'pending' AND j.status = known.status LIMIT $1)
    ) AS seen
) AS counted
CROSS JOIN LATERAL (
    SELECT min(first.created_at) AS created_at
    FROM job_shelves s
    CROSS JOIN LATERAL (
        (
            SELECT j.created_at FROM jobs j
            WHERE s.status = 'pending' AND j.status = 'pending' AND j.attempt >= 0 AND j.job_type = s.job_type
            ORDER BY j.created_at LIMIT 1
        ) UNION ALL (
            SELECT j.created_at FROM jobs j
            WHERE j.status <> 'running' AND j.status <> 'pending' AND j.status = s.status AND j.job_type = s.job_type
            ORDER BY j.created_at LIMIT 1
        )
    ) AS first
    WHERE s.status = known.status
) AS oldest
UNION ALL
SELECT 'running', count(*), coalesce(extract(epoch FROM now() - min(created_at)), 0)::double precision
FROM jobs
WHERE status = 'running'
HAVING count(*) > 0
