-- Written before the job begins: should the worker die now, the job is to blame.
UPDATE attempts SET alone = true WHERE job_id = $1 AND lease_epoch = $2 AND ended_at IS NULL RETURNING job_id
