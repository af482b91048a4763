SELECT id, text, created_at FROM feedback WHERE job_id = $1 AND taken_step IS NULL ORDER BY id
