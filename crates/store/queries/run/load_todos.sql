-- The current phase's todos, and those already written for the next.
SELECT phase_number, position, content, passages, status, notes
FROM todos
WHERE job_id = $1 AND phase_number BETWEEN $2 AND $2 + 1
ORDER BY phase_number, position
