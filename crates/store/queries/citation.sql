SELECT id, source, page, quote, verified FROM citations WHERE job_id = $1 AND id = $2
