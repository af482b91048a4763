-- Jobs that prune would delete, by status.
SELECT j.status, count(*) AS "jobs!", min(j.completed_at) AS "oldest!", sum(j.step)::bigint AS "steps!"
FROM jobs j
WHERE j.completed_at < now() - make_interval(secs => $1)
  AND j.status = ANY ($2)
  AND NOT EXISTS (SELECT FROM jobs next WHERE next.parent_job_id = j.id AND next.completed_at IS NULL)
  AND NOT EXISTS (SELECT FROM jobs next WHERE next.context ? 'previous_job_id' AND next.completed_at IS NULL
                  AND next.context ->> 'previous_job_id' = j.id::text)
  AND NOT EXISTS (SELECT FROM requirement_cache r WHERE r.job_id = j.id AND r.status = ANY ($3)
                  AND (r.status <> 'pending' OR r.validation_result IS NULL))
GROUP BY j.status
ORDER BY j.status
