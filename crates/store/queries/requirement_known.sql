SELECT candidate_id FROM requirement_cache WHERE job_id = $1 AND content_key = $2
