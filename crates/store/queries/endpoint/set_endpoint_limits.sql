-- Sets the limits from llm.limits; those of a job that began earlier ($7 false) apply only if none are set. A lower
-- learned limit stays in force; a learned limit that was only as high as the earlier setting is dropped.
INSERT INTO endpoint_limits AS l
    (endpoint, key_name, model, requests_per_minute, tokens_per_minute, parallel, source)
VALUES ($1, $2, $3, $4, $5, $6, 'set')
ON CONFLICT (endpoint, key_name, model) DO UPDATE
SET requests_per_minute = CASE WHEN l.source = 'learnt' AND l.requests_per_minute IS DISTINCT FROM l.set_requests
                               THEN least(l.requests_per_minute, $4) ELSE $4 END,
    tokens_per_minute = CASE WHEN l.source = 'learnt' AND l.tokens_per_minute IS DISTINCT FROM l.set_tokens
                             THEN least(l.tokens_per_minute, $5) ELSE $5 END,
    parallel = $6,
    source = CASE WHEN l.source = 'learnt'
                       AND (l.requests_per_minute IS DISTINCT FROM l.set_requests AND l.requests_per_minute < coalesce($4, 9223372036854775807)
                            OR l.tokens_per_minute IS DISTINCT FROM l.set_tokens AND l.tokens_per_minute < coalesce($5, 9223372036854775807))
                  THEN 'learnt' ELSE 'set' END,
    set_requests = $4,
    set_tokens = $5,
    updated_at = now()
WHERE (CASE WHEN l.source = 'set' THEN l.requests_per_minute ELSE l.set_requests END,
       CASE WHEN l.source = 'set' THEN l.tokens_per_minute ELSE l.set_tokens END, l.parallel)
      IS DISTINCT FROM ($4, $5, $6)
  AND ($7::boolean OR l.source = 'learnt' AND l.set_requests IS NULL AND l.set_tokens IS NULL AND l.parallel IS NULL)
