-- Calls that needed approval: all of one job, or the waiting ones of all jobs; oldest first.
SELECT id, job_id, step, call_id, tool, state, shown AS "shown?", edited_arguments, reason, outcome, requested_at, expires_at,
       decided_at, decided_by, decided_via, executed_step
FROM approvals
WHERE CASE WHEN $1::uuid IS NULL THEN state = 'pending' ELSE job_id = $1 END
ORDER BY requested_at, id
LIMIT 1000
