-- Adds the requests that earlier claims abandoned to the job's usage, in its row and its last checkpoint, only for the
-- holder of the lease. They belong to the step of that checkpoint, or to the first step if there is none.
WITH job AS MATERIALIZED (
    SELECT id, step FROM jobs WHERE id = $1 AND lease_epoch = $2 AND status = 'running' FOR UPDATE
), counted AS (
    UPDATE llm_requests r
    SET counted = true, step = greatest(job.step, 1)
    FROM job
    WHERE r.job_id = job.id AND NOT r.counted
    RETURNING r.prompt_tokens, r.cost_usd
), sums AS MATERIALIZED (
    SELECT count(*) AS requests, sum(prompt_tokens)::bigint AS tokens, sum(cost_usd) AS cost FROM counted HAVING count(*) > 0
), checkpoint AS (
    UPDATE checkpoints c
    SET state = jsonb_set(c.state, '{totals}', (c.state -> 'totals') || jsonb_build_object(
        'requests', (c.state #>> '{totals,requests}')::bigint + sums.requests,
        'tokens', (c.state #>> '{totals,tokens}')::bigint + sums.tokens,
        'cost_microusd', (c.state #>> '{totals,cost_microusd}')::bigint + round(sums.cost * 1000000)::bigint))
    FROM job, sums
    WHERE c.job_id = job.id AND c.step = job.step
)
UPDATE jobs
SET total_requests = total_requests + sums.requests, total_tokens_used = total_tokens_used + sums.tokens,
    cost_usd = jobs.cost_usd + sums.cost
FROM job, sums
WHERE jobs.id = job.id
