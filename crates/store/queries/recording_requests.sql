-- Every request to the model, in the order of their sending.
SELECT step, model, purpose, prompt_tokens, cached_tokens, completion_tokens, estimated, duration_ms, attempt, error,
       raw_usage, created_at
FROM llm_requests
WHERE job_id = $1
ORDER BY step, created_at, id
