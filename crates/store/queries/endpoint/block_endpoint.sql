-- The provider has refused a request as one too many. $4: for how many seconds it wants none, if it says so; else twice as
-- long each time. $5: how long ago the request was sent: one that was under way when an earlier one was refused says
-- nothing new. $6: whether the limit itself is known from the provider's headers. If not, and it was kept to, it is less than
-- was thought: seven tenths of what was used within a minute, and half of what was thought at least.
INSERT INTO endpoint_limits AS l
    (endpoint, key_name, model, source, blocked_until, refilled_at, refused_at, refusals)
VALUES ($1, $2, $3, 'learnt', clock_timestamp() + make_interval(secs => coalesce($4::double precision, 2)),
        clock_timestamp() + make_interval(secs => coalesce($4::double precision, 2)), clock_timestamp(), 1)
ON CONFLICT (endpoint, key_name, model) DO UPDATE
SET (blocked_until, refilled_at, refused_at, refusals, tokens_per_minute, requests_per_minute, source, set_tokens,
     set_requests, estimated, updated_at) = (
        SELECT greatest(l.blocked_until, b.until), greatest(l.refilled_at, b.until),
               CASE WHEN b.is_new THEN b.moment ELSE l.refused_at END,
               CASE WHEN b.is_new THEN b.times ELSE l.refusals END,
               coalesce(g.tokens, l.tokens_per_minute), coalesce(g.requests, l.requests_per_minute),
               CASE WHEN g.lowered THEN 'learnt' ELSE l.source END,
               CASE WHEN l.source = 'set' THEN l.tokens_per_minute ELSE l.set_tokens END,
               CASE WHEN l.source = 'set' THEN l.requests_per_minute ELSE l.set_requests END,
               l.estimated OR g.lowered,
               CASE WHEN g.lowered THEN b.moment ELSE l.updated_at END
        FROM (SELECT n.*, n.moment + make_interval(secs => coalesce($4::double precision, least(2 ^ n.times, 32))) AS until
              FROM (SELECT m.moment,
                           coalesce(l.refused_at < m.moment - make_interval(secs => $5::double precision), true) AS is_new,
                           CASE WHEN l.refused_at > m.moment - interval '1 minute' THEN least(l.refusals, 10) + 1 ELSE 1 END AS times
                    FROM (SELECT clock_timestamp() AS moment) AS m) AS n) AS b,
             LATERAL (SELECT b.is_new AND NOT $6::boolean AND l.tokens_per_minute IS NOT NULL AS of_tokens,
                             b.is_new AND NOT $6::boolean AND l.tokens_per_minute IS NULL AND l.requests_per_minute IS NOT NULL AS of_requests) AS w,
             LATERAL (SELECT CASE WHEN w.of_tokens THEN greatest(
                                 least(floor(0.7 * l.tokens_used), l.tokens_per_minute), ceil(0.5 * l.tokens_per_minute), 1)::bigint END AS tokens,
                             CASE WHEN w.of_requests THEN greatest(
                                 least(floor(0.7 * l.requests_used), l.requests_per_minute), ceil(0.5 * l.requests_per_minute), 1)::bigint END AS requests,
                             w.of_tokens OR w.of_requests AS lowered) AS g),
    -- Nothing of what was saved up is there any more.
    tokens_released = least(l.tokens_released, l.tokens_drawn),
    requests_released = least(l.requests_released, l.requests_drawn)
