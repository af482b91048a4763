-- A page of a job's steps, oldest first, each with its requests.
SELECT c.step, c.phase_number, c.phase, p.name AS "phase_name?", c.created_at, c.lease_epoch,
       coalesce((
           SELECT jsonb_agg(jsonb_build_object(
                      'model', r.model, 'purpose', r.purpose, 'prompt_tokens', r.prompt_tokens,
                      'cached_tokens', r.cached_tokens, 'completion_tokens', r.completion_tokens,
                      'duration_ms', r.duration_ms, 'attempt', r.attempt, 'finish_reason', r.finish_reason,
                      'error', r.error, 'failure_class', r.failure_class, 'api', r.api, 'endpoint', r.endpoint,
                      'cache_write_tokens', r.cache_write_tokens, 'reasoning_tokens', r.reasoning_tokens,
                      'service_tier', r.service_tier, 'fallback', r.fallback) ORDER BY r.created_at, r.id)
           FROM llm_requests r
           WHERE r.job_id = c.job_id AND r.step = c.step
       ), '[]') AS "requests!"
FROM checkpoints c
LEFT JOIN phases p ON p.job_id = c.job_id AND p.phase_number = c.phase_number
WHERE c.job_id = $1 AND c.step > $2 AND c.step <= $3
ORDER BY c.step
LIMIT $4
