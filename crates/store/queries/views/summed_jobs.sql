-- Like job_summary, for logins such as plumbline_steer that may read each job's line but not its texts.
WITH page AS (
    SELECT id, created_at, error_details
    FROM jobs
    WHERE ($1::uuid IS NULL OR id = $1) AND ($2::text IS NULL OR status = $2) AND ($3::text IS NULL OR job_type = $3)
      AND created_at >= coalesce($4::timestamptz, '-infinity')
    ORDER BY created_at DESC, id
    LIMIT $5
)
SELECT s.id AS "id!", s.job_type AS "job_type!", s.prompt AS "prompt!", s.status AS "status!", s.status_reason,
       s.phase_number AS "phase_number!", s.phase, s.phase_name, s.todos_done AS "todos_done!",
       s.todos_total AS "todos_total!", s.current_todo, s.step AS "step!", s.attempt AS "attempt!",
       s.requirements AS "requirements!", s.total_requests AS "total_requests!",
       s.total_tokens_used AS "total_tokens_used!", s.cached_tokens AS "cached_tokens!",
       s.cost_usd::double precision AS "cost_usd!", s.result, s.error_message, page.error_details,
       s.created_at AS "created_at!", s.updated_at AS "updated_at!", s.started_at, s.completed_at
FROM page
-- Looked up one by one, so that job_summary counts only for this page.
CROSS JOIN LATERAL (SELECT * FROM job_summary WHERE job_summary.id = page.id LIMIT 1) AS s
ORDER BY page.created_at DESC, page.id
