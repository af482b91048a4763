-- Records a request that was abandoned before its answer. The job may belong to another worker by now, or have ended:
-- its next claim counts the request. No effect if this claim has committed a step since the request was sent: that step
-- records it.
INSERT INTO llm_requests (job_id, id, step, model, purpose, prompt_tokens, cached_tokens, completion_tokens, estimated, duration_ms,
                          attempt, error, failure_class, created_at, api, endpoint, fallback, cost_usd, counted)
SELECT j.id, $2, j.step + 1, $3, $4, $5, 0, 0, true, $6, $7, $8, $9, now() - make_interval(secs => $6::bigint / 1000.0), $10, $11, $12,
       round($13::bigint::numeric / 1000000, 6), false
FROM jobs j
WHERE j.id = $1
  AND NOT EXISTS (SELECT FROM checkpoints c WHERE c.job_id = j.id AND c.lease_epoch = $14 AND c.step > $15)
