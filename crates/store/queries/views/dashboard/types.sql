-- All job types of the jobs.
SELECT job_type AS "job_type!"
FROM (
    SELECT job_type FROM job_shelves
    UNION
    SELECT job_type FROM jobs WHERE status = 'running'
) AS types
ORDER BY job_type
LIMIT $1
