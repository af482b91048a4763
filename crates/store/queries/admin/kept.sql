-- Why prune keeps old jobs, and how many: each job counts under its first reason.
SELECT why.reason AS "reason!", count(*) AS "jobs!"
FROM jobs j
CROSS JOIN LATERAL (
    SELECT CASE
        WHEN EXISTS (SELECT FROM jobs next WHERE next.parent_job_id = j.id AND next.completed_at IS NULL)
          OR EXISTS (SELECT FROM jobs next WHERE next.context ? 'previous_job_id' AND next.completed_at IS NULL
                     AND next.context ->> 'previous_job_id' = j.id::text) THEN 'followed'
        WHEN EXISTS (SELECT FROM requirement_cache r WHERE r.job_id = j.id AND r.status = 'validating') THEN 'validating'
        WHEN 'pending' = ANY ($3)
         AND EXISTS (SELECT FROM requirement_cache r
                     WHERE r.job_id = j.id AND r.status = 'pending' AND r.validation_result IS NULL) THEN 'pending'
    END AS reason
) AS why
WHERE j.completed_at < now() - make_interval(secs => $1) AND j.status = ANY ($2) AND why.reason IS NOT NULL
GROUP BY why.reason
ORDER BY why.reason
