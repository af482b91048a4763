-- A completed job needs no next phase: what was written ahead for one is given up, not left open.
UPDATE todos
SET status = 'abandoned', closed_step = $3
WHERE job_id = $1 AND phase_number > $2 AND status IN ('pending', 'in_progress')
