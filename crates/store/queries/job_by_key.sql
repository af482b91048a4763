SELECT id FROM jobs WHERE job_type = $1 AND idempotency_key = $2
