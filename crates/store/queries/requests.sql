-- The model requests of a step besides its first: tries that failed before another did not, and summaries.
INSERT INTO llm_requests (job_id, id, step, model, purpose, prompt_tokens, cached_tokens, completion_tokens, estimated,
                          duration_ms, attempt, error, raw_usage, created_at)
SELECT $1, r.id, $2, r.model, r.purpose, r.prompt_tokens, r.cached_tokens, r.completion_tokens, r.estimated,
       r.duration_ms, r.attempt, r.error, r.raw_usage, r.created_at
FROM json_to_recordset($3::text::json) AS r (
    id uuid, model text, purpose text, prompt_tokens bigint, cached_tokens bigint, completion_tokens bigint,
    estimated boolean, duration_ms bigint, attempt int, error text, raw_usage jsonb, created_at timestamptz)
