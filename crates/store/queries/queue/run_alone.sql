-- Written before the job starts: if the worker dies now, the job is to blame.
UPDATE attempts SET alone = true WHERE job_id = $1 AND lease_epoch = $2 AND ended_at IS NULL RETURNING job_id
