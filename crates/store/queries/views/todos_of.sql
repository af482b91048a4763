SELECT phase_number, position, content, status, notes, created_at, completed_at
FROM todos
WHERE job_id = $1
ORDER BY phase_number, position
