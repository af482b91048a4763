-- The job whose requirements a job searches, and how many it has: its own, or for a validator ($2) those of the job
-- that it judges. A validator of all jobs uses the job of the oldest row that it holds.
SELECT scope AS "job_id!",
       (SELECT count(*) FROM requirement_cache r WHERE r.job_id = scope AND r.status <> 'withdrawn') AS "n!"
FROM (
    SELECT CASE WHEN $2 THEN coalesce(judged_job(j), held.job_id, j.id) ELSE j.id END AS scope
    FROM jobs j
    LEFT JOIN LATERAL (
        SELECT h.job_id
        FROM requirement_cache h
        WHERE h.validator_job_id = j.id AND h.status = 'validating'
        ORDER BY h.created_at, h.id
        LIMIT 1
    ) AS held ON true
    WHERE j.id = $1
) AS looked_at
