-- The data of a progress display; cheap enough to query every second.
SELECT status, status_reason, phase_number, phase, phase_name, todos_done, todos_total, current_todo, step,
       total_requests, total_tokens_used, cached_tokens, cost_usd::double precision AS "cost_usd!", error_message,
       coalesce(result ->> 'headline', error_details ->> 'headline') AS headline,
       coalesce(result ->> 'decided', error_details ->> 'decided') AS decided,
       (SELECT count(*) FROM approvals a WHERE a.job_id = jobs.id AND a.state = 'pending') AS "waiting_calls!",
       -- Bounded, because the driver does not support infinite times.
       greatest(least(created_at, '9999-12-31 00:00:00Z'), '0001-01-01 00:00:00Z') AS "created_at!"
FROM jobs
WHERE id = $1
