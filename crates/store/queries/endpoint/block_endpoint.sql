-- The provider has refused a request as one too many. $4: for how many seconds it wants none, if it says so. $5: how long ago
-- the request was sent: one that was sent before all workers knew of an earlier refusal says nothing new. Refusals that follow
-- each other, where a limit was kept to, are of a minute that is used up, whatever the provider says: each is waited for longer.
-- $6: whether the limit itself is known from the provider's headers. If not, and it was kept to, it is less than was thought:
-- seven tenths of what was used within a minute, and half of what was thought at least. What is refused right after a block may
-- be what had gathered behind it, and lowers nothing but the third time in a row.
INSERT INTO endpoint_limits AS l
    (endpoint, key_name, model, source, blocked_until, refilled_at, refused_at, refusals)
VALUES ($1, $2, $3, 'learnt', clock_timestamp() + make_interval(secs => coalesce($4::double precision, 1)),
        clock_timestamp() + make_interval(secs => coalesce($4::double precision, 1)), clock_timestamp(), 1)
ON CONFLICT (endpoint, key_name, model) DO UPDATE
SET (blocked_until, refilled_at, refused_at, refusals, tokens_per_minute, requests_per_minute, source, set_tokens,
     set_requests, estimated, updated_at) = (
        WITH sent AS (
            SELECT m.moment, m.moment - make_interval(secs => $5::double precision) AS at,
                   greatest(l.refused_at, l.blocked_until) AS settled
            FROM (SELECT clock_timestamp() AS moment) AS m
        ),
        round AS (
            SELECT s.*, coalesce(s.at > s.settled, true) AS is_new,
                   CASE WHEN s.at <= s.settled THEN l.refusals
                        WHEN s.settled > s.at - interval '15 seconds' THEN least(l.refusals, 1000) + 1
                        ELSE 1 END AS times
            FROM sent s
        ),
        judged AS (
            SELECT r.*, r.moment + make_interval(secs => greatest(coalesce($4::double precision, 1), CASE
                       WHEN r.times > 1 AND coalesce(l.tokens_per_minute, l.requests_per_minute) IS NOT NULL
                       THEN 2 ^ least(r.times - 1, 3) ELSE 0 END)) AS until,
                   NOT $6::boolean AND r.is_new AND coalesce(l.tokens_per_minute, l.requests_per_minute) IS NOT NULL
                   AND (r.times % 3 = 0 OR coalesce(r.at > r.settled + interval '1 second', true)) AS lowers
            FROM round r
        )
        SELECT greatest(l.blocked_until, j.until), greatest(l.refilled_at, j.until),
               CASE WHEN j.is_new THEN j.moment ELSE l.refused_at END,
               CASE WHEN j.is_new THEN j.times ELSE l.refusals END,
               CASE WHEN j.lowers THEN greatest(least(floor(0.7 * l.tokens_used), l.tokens_per_minute),
                                                ceil(0.5 * l.tokens_per_minute))::bigint
                    ELSE l.tokens_per_minute END,
               CASE WHEN j.lowers AND l.tokens_per_minute IS NULL
                    THEN greatest(least(floor(0.7 * l.requests_used), l.requests_per_minute),
                                  ceil(0.5 * l.requests_per_minute))::bigint
                    ELSE l.requests_per_minute END,
               CASE WHEN j.lowers THEN 'learnt' ELSE l.source END,
               CASE WHEN l.source = 'set' THEN l.tokens_per_minute ELSE l.set_tokens END,
               CASE WHEN l.source = 'set' THEN l.requests_per_minute ELSE l.set_requests END,
               l.estimated OR j.lowers,
               CASE WHEN j.lowers THEN j.moment ELSE l.updated_at END
        FROM judged j),
    -- Nothing of what was saved up is there any more.
    tokens_released = least(l.tokens_released, l.tokens_drawn),
    requests_released = least(l.requests_released, l.requests_drawn)
