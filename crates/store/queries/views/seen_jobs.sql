-- Jobs for logins that may read only some of them: the job $1, or the newest $5 of status $2 and job type $3, none
-- inserted before $4, with the beginnings of their prompts. plumbline_enqueue and plumbline_approve have rights on all
-- these columns.
SELECT id, job_type, CASE WHEN $1::uuid IS NULL THEN left(prompt, 200) ELSE prompt END AS "prompt!", status, status_reason,
       phase_number, phase, phase_name, todos_done, todos_total, current_todo, step, attempt, 0::bigint AS "requirements!",
       total_requests, total_tokens_used, cached_tokens, cost_usd::double precision AS "cost_usd!", result, error_message, error_details,
       created_at, updated_at, started_at, completed_at
FROM jobs
WHERE ($1::uuid IS NULL OR id = $1) AND ($2::text IS NULL OR status = $2) AND ($3::text IS NULL OR job_type = $3)
  AND created_at >= coalesce($4::timestamptz, '-infinity')
ORDER BY created_at DESC, id
LIMIT $5
