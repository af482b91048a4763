SELECT id FROM jobs
WHERE completed_at >= $1 AND status = 'failed' AND ($2::text IS NULL OR job_type = $2)
ORDER BY completed_at, id
