-- A job's cost budget in USD: the raised one, otherwise the configured one; null if there is none, or not yet.
SELECT CASE jsonb_typeof(budget.value) WHEN 'number' THEN (budget.value #>> '{}')::double precision END AS cost_budget_usd
FROM jobs j
LEFT JOIN job_settings s ON s.job_id = j.id
CROSS JOIN LATERAL (
    SELECT CASE WHEN j.raised_limits ? 'cost_budget_usd' THEN j.raised_limits -> 'cost_budget_usd'
                ELSE s.resolved #> '{config,limits,cost_budget_usd}'
           END AS value
) AS budget
WHERE j.id = $1
