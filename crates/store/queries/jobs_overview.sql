-- The newest jobs, a line each.
SELECT id AS "id!", job_type AS "job_type!", prompt AS "prompt!", status AS "status!", status_reason,
       phase_number AS "phase_number!", phase, phase_name, todos_done AS "todos_done!",
       todos_total AS "todos_total!", current_todo, requirements AS "requirements!",
       total_tokens_used AS "total_tokens_used!", cost_usd::double precision AS "cost_usd!", error_message,
       created_at AS "created_at!", started_at, completed_at
FROM job_summary
ORDER BY created_at DESC, id
LIMIT $1
