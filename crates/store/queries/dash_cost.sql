-- A job's requests in at most $2 bars of neighbours: tokens in disjoint parts, cost by the job's own prices.
WITH asked AS (
    SELECT row_number() OVER (ORDER BY step, created_at, id) AS turn, count(*) OVER () AS turns, step,
           least(cached_tokens, prompt_tokens) AS cached, prompt_tokens, completion_tokens, duration_ms, error
    FROM llm_requests
    WHERE job_id = $1
), prices AS (
    SELECT coalesce(max((resolved #>> '{config,llm,prices,input}')::double precision), 0) AS fresh,
           coalesce(max((resolved #>> '{config,llm,prices,cached_input}')::double precision), 0) AS cached,
           coalesce(max((resolved #>> '{config,llm,prices,output}')::double precision), 0) AS output
    FROM job_settings
    WHERE job_id = $1
)
SELECT min(turn) AS "first_turn!", max(turn) AS "last_turn!", min(step) AS "first_step!", max(step) AS "last_step!",
       sum(prompt_tokens - asked.cached)::bigint AS "fresh_tokens!", sum(asked.cached)::bigint AS "cached_tokens!",
       sum(completion_tokens)::bigint AS "output_tokens!", sum(duration_ms)::bigint AS "duration_ms!",
       count(error) AS "failed!",
       sum((prompt_tokens - asked.cached) * prices.fresh + asked.cached * prices.cached
           + completion_tokens * prices.output) / 1000000 AS "cost_usd!"
FROM asked
CROSS JOIN prices
GROUP BY (turn - 1) * $2::bigint / greatest(turns, $2::bigint)
ORDER BY min(turn)
