-- A job's latest phases, newest first, each with its todos and the cost of its requests. The commit that closes a phase
-- opens the next, so that commit's request does not belong to the new phase.
SELECT p.phase_number, p.kind, p.name, p.outcome, p.opened_step, p.closed_step, p.started_at, p.ended_at,
       t.done AS "todos_done!", t.total AS "todos_total!", r.requests AS "requests!", r.tokens AS "tokens!",
       r.cost_usd AS "cost_usd!"
FROM phases p
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE status = 'completed') AS done, count(*) AS total
    FROM todos
    WHERE job_id = p.job_id AND phase_number = p.phase_number
) AS t
CROSS JOIN LATERAL (
    SELECT count(*) AS requests, coalesce(sum(q.prompt_tokens + q.completion_tokens), 0)::bigint AS tokens,
           coalesce(sum(q.cost_usd), 0)::double precision AS cost_usd
    FROM llm_requests q
    WHERE q.job_id = p.job_id AND q.step > p.opened_step AND q.step <= coalesce(p.closed_step, 9223372036854775807)
) AS r
WHERE p.job_id = $1
ORDER BY p.phase_number DESC
LIMIT $2
