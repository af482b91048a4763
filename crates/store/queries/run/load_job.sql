-- The job's row and last checkpoint, only for the holder of the lease.
SELECT j.id, j.job_type, j.prompt, j.step, j.waited_s, j.untrusted_step, j.total_requests, j.total_tokens_used,
       round(j.cost_usd * 1000000)::bigint AS "cost_microusd!",
       EXISTS (SELECT FROM approvals a WHERE a.job_id = j.id AND a.outcome IS NULL) AS "has_approvals!",
       coalesce(j.started_at, now()) AS "started_at!",
       c.state::text AS "state?",
       (SELECT coalesce(max(r.number), 0) FROM requirement_cache r WHERE r.job_id = j.id) AS "last_number!",
       EXISTS (
           SELECT FROM requirement_cache r WHERE r.job_id = j.id AND r.number IS NULL AND r.step IS NOT NULL) AS "unnumbered!"
FROM jobs j
LEFT JOIN checkpoints c ON c.job_id = j.id AND c.step = j.step
WHERE j.id = $1 AND j.lease_epoch = $2 AND j.status = 'running'
