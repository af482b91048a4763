-- The documents of a job that have the same bytes as the same path in another job, in their current versions.
SELECT n.path AS "path!"
FROM file_versions n
JOIN file_versions e ON e.job_id = $2 AND e.path = n.path AND e.sha256 = n.sha256
WHERE n.job_id = $1 AND n.path LIKE 'input/%'
  AND NOT EXISTS (SELECT FROM file_versions v WHERE v.job_id = n.job_id AND v.path = n.path AND v.step > n.step)
  AND NOT EXISTS (SELECT FROM file_versions v WHERE v.job_id = e.job_id AND v.path = e.path AND v.step > e.step)
