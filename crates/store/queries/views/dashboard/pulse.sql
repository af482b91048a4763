-- A few numbers that change when the list of jobs does; cheap index lookups.
-- attempt >= 0 holds for every row: it is the condition of the list's index, jobs_waiting.
SELECT (SELECT count(*) FROM jobs WHERE status = 'running') AS "running!",
       (SELECT coalesce(sum(step), 0)::bigint FROM jobs WHERE status = 'running') AS "steps!",
       greatest((SELECT max(created_at) FROM jobs WHERE status = 'running'), (
           SELECT max(newest.created_at)
           FROM job_shelves s
           CROSS JOIN LATERAL (
               (
                   SELECT j.created_at FROM jobs j
                   WHERE s.status = 'pending' AND j.status = 'pending' AND j.attempt >= 0 AND j.job_type = s.job_type
                   ORDER BY j.created_at DESC LIMIT 1
               ) UNION ALL (
                   SELECT j.created_at FROM jobs j
                   WHERE j.status <> 'running' AND j.status <> 'pending'
                     AND j.status = s.status AND j.job_type = s.job_type
                   ORDER BY j.created_at DESC LIMIT 1
               )
           ) AS newest
       )) AS newest,
       (SELECT max(completed_at) FROM jobs WHERE completed_at IS NOT NULL) AS last_ended
