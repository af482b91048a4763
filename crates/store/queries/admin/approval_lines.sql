-- Like approvals.sql, for logins that may not read the arguments of the calls.
SELECT id, job_id, step, call_id, tool, state, NULL::text AS shown, NULL::jsonb AS edited_arguments, reason, outcome,
       requested_at, expires_at, decided_at, decided_by, decided_via, executed_step
FROM approvals
WHERE CASE WHEN $1::uuid IS NULL THEN state = 'pending' ELSE job_id = $1 END
ORDER BY requested_at, id
LIMIT 1000
