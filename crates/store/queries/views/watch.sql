-- What a progress display needs; light enough to ask every second.
SELECT status, status_reason, phase_number, phase, phase_name, todos_done, todos_total, current_todo, step,
       total_requests, total_tokens_used, cost_usd::double precision AS "cost_usd!", error_message
FROM jobs
WHERE id = $1
