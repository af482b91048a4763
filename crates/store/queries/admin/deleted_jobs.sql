-- Jobs deleted since $1, in the order of their deletion, after the place ($1, $2).
SELECT id AS job_id, deleted_at
FROM deleted_jobs
WHERE (deleted_at, id) > ($1, $2)
ORDER BY deleted_at, id
LIMIT $3
