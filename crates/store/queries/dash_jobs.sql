-- A page of jobs, newest first, after the place ($2, $3). Each branch reads one index from that place on; the branches
-- that the filters ($4 status, $5 job type) leave out are not run at all.
WITH page AS (
    (SELECT id, created_at FROM jobs
     WHERE $4::text IS NULL AND $5::text IS NULL
       AND created_at <= coalesce($2::timestamptz, 'infinity')
       AND (created_at < coalesce($2, 'infinity') OR id > $3::uuid)
     ORDER BY created_at DESC, id LIMIT $1)
    UNION ALL
    (SELECT id, created_at FROM jobs
     WHERE status = $4 AND ($5 IS NULL OR job_type = $5)
       AND created_at <= coalesce($2, 'infinity') AND (created_at < coalesce($2, 'infinity') OR id > $3)
     ORDER BY created_at DESC, id LIMIT $1)
    UNION ALL
    (SELECT id, created_at FROM jobs
     WHERE $4 IS NULL AND job_type = $5
       AND created_at <= coalesce($2, 'infinity') AND (created_at < coalesce($2, 'infinity') OR id > $3)
     ORDER BY created_at DESC, id LIMIT $1)
)
SELECT j.id, j.job_type, left(j.prompt, 200) AS "prompt!", j.status, left(j.status_reason, 300) AS status_reason,
       j.phase_number, j.phase, j.phase_name, j.todos_done, j.todos_total, j.current_todo, j.step, j.attempt,
       (SELECT count(*) FROM requirement_cache q WHERE q.job_id = j.id) AS "requirements!",
       j.total_requests, j.total_tokens_used, j.cost_usd::double precision AS "cost_usd!",
       left(j.error_message, 300) AS error_message, j.created_at, j.updated_at, j.started_at, j.completed_at
FROM page
-- Looked up one by one: without its LIMIT this would be a join, for which the planner may read the whole table.
CROSS JOIN LATERAL (SELECT * FROM jobs WHERE jobs.id = page.id LIMIT 1) AS j
ORDER BY page.created_at DESC, page.id
