-- The user's feedback that a step has taken in.
SELECT taken_step AS "taken_step!", id, text, created_at
FROM feedback
WHERE job_id = $1 AND taken_step IS NOT NULL
ORDER BY id
