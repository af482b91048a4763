-- The job types that there are, found by jumping through the index from each to the next.
WITH RECURSIVE types AS (
    (SELECT job_type FROM jobs ORDER BY job_type LIMIT 1)
    UNION ALL
    SELECT (SELECT j.job_type FROM jobs j WHERE j.job_type > types.job_type ORDER BY j.job_type LIMIT 1)
    FROM types
    WHERE types.job_type IS NOT NULL
)
SELECT job_type AS "job_type!" FROM types WHERE job_type IS NOT NULL LIMIT $1
