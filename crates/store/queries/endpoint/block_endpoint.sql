-- The provider has refused a request because of its rate. $4: the number of seconds it asks to wait, if it says so. $5:
-- how long ago the request was sent: one sent before all workers knew of an earlier refusal tells nothing new.
-- Consecutive refusals of requests within the limit mean that a minute's budget is used up, whatever the provider says:
-- each waits twice as long as the one before, 8 seconds at most. $6: whether the provider's headers name the limit.
--
-- A refusal of a request within the limit halves the burst, and takes three tenths off a limit that no header names,
-- unless the request was sent right after a block: the provider may still count earlier ones.
INSERT INTO endpoint_limits AS l (endpoint, key_name, model, source, blocked_until, refused_at)
VALUES ($1, $2, $3, 'learnt', clock_timestamp() + make_interval(secs => coalesce($4::double precision, 1)), clock_timestamp())
ON CONFLICT (endpoint, key_name, model) DO UPDATE
SET (blocked_until, refused_at, burst_s, tokens_per_minute, requests_per_minute, source, set_tokens, set_requests, estimated,
     updated_at) = (
        WITH sent AS (
            SELECT m.moment, m.moment - make_interval(secs => $5::double precision) AS at,
                   greatest(l.refused_at, l.blocked_until) AS settled,
                   coalesce(l.tokens_per_minute, l.requests_per_minute) IS NOT NULL AS is_limited
            FROM (SELECT clock_timestamp() AS moment) AS m
        ),
        round AS (
            SELECT s.*, coalesce(s.at > s.settled, true) AS is_new,
                   s.is_limited AND coalesce(s.at > s.settled + interval '1 second', true) AS is_within_limit,
                   CASE WHEN s.is_limited AND s.at > s.settled AND s.settled > s.at - interval '15 seconds'
                        THEN least(2 * extract(epoch FROM l.blocked_until - l.refused_at), 8) END AS again_s
            FROM sent s
        ),
        judged AS (
            SELECT r.*, r.moment + make_interval(secs => greatest($4::double precision, r.again_s, 1)) AS until,
                   r.is_within_limit AND NOT $6::boolean AS lowers
            FROM round r
        )
        SELECT greatest(l.blocked_until, j.until),
               CASE WHEN j.is_new THEN j.moment ELSE l.refused_at END,
               CASE WHEN j.is_within_limit THEN greatest(l.burst_s / 2, 0.5) ELSE l.burst_s END,
               CASE WHEN j.lowers THEN ceil(0.7 * l.tokens_per_minute)::bigint ELSE l.tokens_per_minute END,
               CASE WHEN j.lowers AND l.tokens_per_minute IS NULL THEN ceil(0.7 * l.requests_per_minute)::bigint
                    ELSE l.requests_per_minute END,
               CASE WHEN j.lowers THEN 'learnt' ELSE l.source END,
               CASE WHEN l.source = 'set' THEN l.tokens_per_minute ELSE l.set_tokens END,
               CASE WHEN l.source = 'set' THEN l.requests_per_minute ELSE l.set_requests END,
               l.estimated OR j.lowers,
               CASE WHEN j.lowers THEN j.moment ELSE l.updated_at END
        FROM judged j)
