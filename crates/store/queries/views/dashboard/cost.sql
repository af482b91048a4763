-- A job's requests grouped into at most $2 bars of adjacent requests: tokens in disjoint parts, cost as recorded.
WITH requests AS (
    SELECT row_number() OVER (ORDER BY step, created_at, id) AS turn, count(*) OVER () AS turns, step,
           least(cached_tokens, prompt_tokens) AS cached, prompt_tokens, completion_tokens, duration_ms, error, cost_usd
    FROM llm_requests
    WHERE job_id = $1
)
SELECT min(turn) AS "first_turn!", max(turn) AS "last_turn!", min(step) AS "first_step!", max(step) AS "last_step!",
       sum(prompt_tokens - cached)::bigint AS "fresh_tokens!", sum(cached)::bigint AS "cached_tokens!",
       sum(completion_tokens)::bigint AS "output_tokens!", sum(duration_ms)::bigint AS "duration_ms!",
       count(error) AS "failed!",
       sum(cost_usd)::double precision AS "cost_usd!"
FROM requests
GROUP BY (turn - 1) * $2::bigint / greatest(turns, $2::bigint)
ORDER BY min(turn)
