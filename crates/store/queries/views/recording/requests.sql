-- Every request to the model, in the order of sending; of the abandoned ones, those that a claim has counted.
SELECT step, model, purpose, prompt_tokens, cached_tokens, completion_tokens, estimated, duration_ms, attempt,
       finish_reason, error, failure_class, raw_usage, created_at, api, endpoint, cache_write_tokens,
       reasoning_tokens, service_tier, fallback, (cost_usd * 1000000)::bigint AS "cost_microusd!"
FROM llm_requests
WHERE job_id = $1 AND counted
ORDER BY step, created_at, id
