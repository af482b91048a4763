-- A page of jobs, newest first, after the position ($2, $3), of status $4 and job type $5, none inserted before $6.
-- Each shelf (see job_shelves) that matches the filters is read from that position in its index, which has no ids: to
-- the end of the last job's time, and ordered by id from there. Running jobs are on no shelf, and there are few.
-- attempt >= 0 holds for every row: it is the condition of the list's index, jobs_waiting.
WITH page AS (
    SELECT front.id, front.created_at
    FROM (
        SELECT shelf.id, shelf.created_at
        FROM job_shelves s
        CROSS JOIN LATERAL (
            (
                SELECT j.id, j.created_at FROM jobs j
                WHERE s.status = 'pending' AND j.status = 'pending' AND j.attempt >= 0 AND j.job_type = s.job_type
                  AND j.created_at <= coalesce($2::timestamptz, 'infinity')
                  AND (j.created_at < coalesce($2, 'infinity') OR j.id > $3::uuid)
                  AND j.created_at >= coalesce($6::timestamptz, '-infinity')
                ORDER BY j.created_at DESC FETCH FIRST $1 ROWS WITH TIES
            ) UNION ALL (
                SELECT j.id, j.created_at FROM jobs j
                WHERE j.status <> 'running' AND j.status <> 'pending'
                  AND j.status = s.status AND j.job_type = s.job_type
                  AND j.created_at <= coalesce($2, 'infinity') AND (j.created_at < coalesce($2, 'infinity') OR j.id > $3)
                  AND j.created_at >= coalesce($6, '-infinity')
                ORDER BY j.created_at DESC FETCH FIRST $1 ROWS WITH TIES
            )
        ) AS shelf
        WHERE ($4::text IS NULL OR s.status = $4) AND ($5::text IS NULL OR s.job_type = $5)
        UNION ALL
        SELECT j.id, j.created_at FROM jobs j
        WHERE j.status = 'running' AND ($4 IS NULL OR $4 = 'running') AND ($5 IS NULL OR j.job_type = $5)
          AND j.created_at <= coalesce($2, 'infinity') AND (j.created_at < coalesce($2, 'infinity') OR j.id > $3)
          AND j.created_at >= coalesce($6, '-infinity')
    ) AS front
    ORDER BY front.created_at DESC, front.id LIMIT $1
)
SELECT j.id, j.job_type, left(j.prompt, 200) AS "prompt!", j.status, left(j.status_reason, 300) AS status_reason,
       j.phase_number, j.phase, j.phase_name, j.todos_done, j.todos_total, j.current_todo, j.step, j.attempt,
       (SELECT count(*) FROM requirement_cache q WHERE q.job_id = j.id) AS "requirements!",
       j.total_requests, j.total_tokens_used, j.cost_usd::double precision AS "cost_usd!",
       left(j.error_message, 300) AS error_message, j.created_at, j.updated_at, j.started_at, j.completed_at
FROM page
-- Looked up one by one: without LIMIT this would be a join, for which the planner may read the whole table.
CROSS JOIN LATERAL (SELECT * FROM jobs WHERE jobs.id = page.id LIMIT 1) AS j
ORDER BY page.created_at DESC, page.id
