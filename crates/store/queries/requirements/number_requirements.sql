-- Numbers the requirements that a job recorded before requirements had numbers, in the order of recording; returns the
-- highest number.
WITH numbered AS (
    UPDATE requirement_cache r
    SET number = n.number
    FROM (
        SELECT q.id, (SELECT coalesce(max(k.number), 0) FROM requirement_cache k WHERE k.job_id = $1)
                     + row_number() OVER (ORDER BY q.created_at, q.id) AS number
        FROM requirement_cache q
        WHERE q.job_id = $1 AND q.number IS NULL AND q.step IS NOT NULL
    ) AS n
    WHERE r.id = n.id
    RETURNING r.number
)
SELECT coalesce(max(number), 0) AS "last_number!" FROM numbered
