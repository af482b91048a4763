-- Results whose text the model no longer gets from a step on.
UPDATE messages SET cleared_step = $2
WHERE job_id = $1 AND seq = ANY ($3) AND cleared_step IS NULL
