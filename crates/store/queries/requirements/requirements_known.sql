-- For each key the requirement that has this text, or had it when it was recorded: a corrected requirement is the same one.
SELECT k.key AS "content_key!", known.candidate_id AS "candidate_id!"
FROM unnest($2::bytea[]) AS k (key)
CROSS JOIN LATERAL (
    SELECT r.candidate_id
    FROM requirement_cache r
    WHERE r.job_id = $1 AND r.status <> 'withdrawn' AND r.candidate_id IS NOT NULL
      AND (r.content_key = k.key OR (r.candidate_id = 'req_' || left(encode(k.key, 'hex'), 12) AND r.step IS NOT NULL))
    LIMIT 1
) AS known
