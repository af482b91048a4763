-- run_at may be any value of the server's calendar, infinity included; the program's range is shorter.
SELECT id, job_type, prompt, document_path, octet_length(document_content)::bigint AS document_bytes,
       context AS "context!: UserJson", config AS "config!: UserJson", priority,
       least(greatest(run_at, '0001-01-01 00:00Z'), '9999-12-31 23:59:59Z') AS "run_at!", max_attempts,
       idempotency_key, parent_job_id, status, status_reason, attempt, crash_count,
       worker_id, lease_epoch, step, phase_number, phase, phase_name, todos_done, todos_total, current_todo,
       feedback_untaken, result, error_message, error_details, total_requests, total_tokens_used, cached_tokens,
       cost_usd::double precision AS "cost_usd!",
       CASE jsonb_typeof(budget.value) WHEN 'number' THEN (budget.value #>> '{}')::double precision END AS cost_budget_usd, created_at, updated_at, started_at, completed_at,
       nullif(ledger.passages, 0) AS passages, CASE WHEN ledger.passages > 0 THEN ledger.answered END AS passages_answered,
       trunc(ledger.answered::numeric / nullif(ledger.passages, 0), 4)::double precision AS coverage
FROM jobs
CROSS JOIN LATERAL (
    SELECT count(*) AS passages, count(*) FILTER (WHERE p.state = 'answered') AS answered
    FROM passages p
    WHERE p.job_id = jobs.id
) AS ledger
-- As in cost_budget.sql.
CROSS JOIN LATERAL (
    SELECT CASE WHEN raised_limits ? 'cost_budget_usd' THEN raised_limits -> 'cost_budget_usd'
                ELSE (SELECT s.resolved #> '{config,limits,cost_budget_usd}' FROM job_settings s WHERE s.job_id = jobs.id)
           END AS value
) AS budget
WHERE id = $1
