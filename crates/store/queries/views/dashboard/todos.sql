-- The todos of a job's phases from phase $2 on, in their order.
SELECT phase_number, position, content, status, notes, created_at, completed_at
FROM todos
WHERE job_id = $1 AND phase_number >= $2
ORDER BY phase_number, position
