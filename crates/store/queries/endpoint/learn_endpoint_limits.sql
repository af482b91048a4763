-- The limits per minute that the provider states. They apply if they are lower than the configured ones, or if none are
-- configured.
INSERT INTO endpoint_limits AS l (endpoint, key_name, model, requests_per_minute, tokens_per_minute, source)
VALUES ($1, $2, $3, $4, $5, 'learnt')
ON CONFLICT (endpoint, key_name, model) DO UPDATE
SET (requests_per_minute, tokens_per_minute, source, set_requests, set_tokens, estimated) = (
        SELECT least(s.requests, coalesce($4, l.requests_per_minute)), least(s.tokens, coalesce($5, l.tokens_per_minute)),
               CASE WHEN (s.requests IS NOT NULL OR s.tokens IS NOT NULL)
                         AND least(s.requests, coalesce($4, l.requests_per_minute)) IS NOT DISTINCT FROM s.requests
                         AND least(s.tokens, coalesce($5, l.tokens_per_minute)) IS NOT DISTINCT FROM s.tokens
                    THEN 'set' ELSE 'learnt' END,
               s.requests, s.tokens, l.estimated AND $5 IS NULL
        FROM (SELECT CASE WHEN l.source = 'set' THEN l.requests_per_minute ELSE l.set_requests END AS requests,
                     CASE WHEN l.source = 'set' THEN l.tokens_per_minute ELSE l.set_tokens END AS tokens) AS s),
    updated_at = now()
