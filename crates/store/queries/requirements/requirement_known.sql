-- The requirement that has these words, or had them when it was recorded: one that was put right since is the same.
SELECT candidate_id
FROM requirement_cache
WHERE job_id = $1 AND status <> 'withdrawn'
  AND (content_key = $2 OR (candidate_id = 'req_' || left(encode($2, 'hex'), 12) AND step IS NOT NULL))
LIMIT 1
