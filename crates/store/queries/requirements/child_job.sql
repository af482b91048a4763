-- The job that was enqueued because this one completed.
SELECT id FROM jobs WHERE parent_job_id = $1 AND idempotency_key = 'on_complete:' || $1
