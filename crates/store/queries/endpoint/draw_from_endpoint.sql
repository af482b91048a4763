-- Draws $4 requests with $5 tokens, and corrects earlier draws by $6 and $7 (negative: too much was drawn). Returns the
-- TATs before the draw, in seconds from now: the draw queues behind earlier draws, behind a block, and behind what the
-- burst leaves of a pause; a block counts ten days at most, because an infinite one has no end to queue behind. No row:
-- no limit is known. A guessed limit rises by a twentieth per minute while requests
-- wait and none is refused.
UPDATE endpoint_limits AS l
SET (requests_per_minute, tokens_per_minute, source, estimated, updated_at, requests_tat, tokens_tat) = (
    SELECT g.requests, g.tokens, CASE WHEN g.is_as_set THEN 'set' ELSE l.source END, l.estimated AND NOT g.is_as_set,
           CASE WHEN g.rises THEN g.moment ELSE l.updated_at END,
           greatest(l.requests_tat + $6::double precision * coalesce(g.request_s, '0'), g.earliest) + $4::double precision * coalesce(g.request_s, '0'),
           greatest(l.tokens_tat + $7::double precision * coalesce(g.token_s, '0'), g.earliest) + $5::double precision * coalesce(g.token_s, '0')
    FROM (SELECT clock_timestamp() AS moment) AS m,
    LATERAL (
        SELECT l.estimated AND greatest(l.updated_at, l.refused_at) < m.moment - interval '1 minute'
               AND greatest(l.requests_tat, l.tokens_tat) > m.moment AS rises
    ) AS r,
    LATERAL (
        SELECT CASE WHEN r.rises THEN least(ceil(1.05 * l.requests_per_minute), l.set_requests)
                    ELSE l.requests_per_minute END::bigint AS requests,
               CASE WHEN r.rises THEN least(ceil(1.05 * l.tokens_per_minute), l.set_tokens)
                    ELSE l.tokens_per_minute END::bigint AS tokens
    ) AS v,
    LATERAL (
        SELECT v.*, r.rises, m.moment,
               greatest(m.moment, CASE WHEN l.blocked_until IS NOT NULL
                                       THEN least(l.blocked_until, m.moment + interval '10 days')
                                            + make_interval(secs => l.burst_s) END) AS earliest,
               r.rises AND (v.requests, v.tokens) IS NOT DISTINCT FROM (l.set_requests, l.set_tokens) AS is_as_set,
               make_interval(secs => endpoint_period(v.requests, l.burst_s)) AS request_s,
               make_interval(secs => endpoint_period(v.tokens, l.burst_s)) AS token_s
    ) AS g
)
-- A crash of the server loses only a moment's use.
FROM (SELECT set_config('synchronous_commit', 'off', true)) AS unflushed
WHERE (l.endpoint, l.key_name, l.model) = ($1, $2, $3)
RETURNING l.requests_per_minute, l.tokens_per_minute, l.parallel, l.burst_s,
    endpoint_period(l.requests_per_minute, l.burst_s) AS request_period_s,
    endpoint_period(l.tokens_per_minute, l.burst_s) AS token_period_s,
    extract(epoch FROM l.requests_tat - clock_timestamp())::double precision
        - $4 * coalesce(endpoint_period(l.requests_per_minute, l.burst_s), 0) AS "requests_tat_s!",
    extract(epoch FROM l.tokens_tat - clock_timestamp())::double precision
        - $5 * coalesce(endpoint_period(l.tokens_per_minute, l.burst_s), 0) AS "tokens_tat_s!"
