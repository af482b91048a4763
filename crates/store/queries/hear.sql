-- Feedback that a step put into the conversation.
UPDATE feedback SET taken_step = $2
WHERE job_id = $1 AND id = ANY ($3) AND taken_step IS NULL
