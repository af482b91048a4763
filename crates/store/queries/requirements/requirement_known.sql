-- The requirement that has this text, or had it when it was recorded: a corrected requirement is the same one.
SELECT candidate_id
FROM requirement_cache
WHERE job_id = $1 AND status <> 'withdrawn'
  AND (content_key = $2 OR (candidate_id = 'req_' || left(encode($2, 'hex'), 12) AND step IS NOT NULL))
LIMIT 1
