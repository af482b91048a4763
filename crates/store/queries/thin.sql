-- Gives up the states of the steps between $2 and $3, both not included, but for those with which a phase began.
UPDATE checkpoints SET state = NULL
WHERE job_id = $1 AND step > $2 AND step < $3
  AND NOT EXISTS (SELECT FROM phases WHERE phases.job_id = $1 AND phases.opened_step = checkpoints.step)
