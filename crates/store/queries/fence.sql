-- The first statement of every step: writes only if the lease, the step and the status are still ours, and locks the
-- job's row for the rest of the transaction. A committed step is progress, so crashes count anew from here.
UPDATE jobs
SET step = step + 1,
    crash_count = 0,
    phase_number = $4,
    phase = $5,
    phase_name = $6,
    todos_done = $7,
    todos_total = $8,
    current_todo = $9,
    total_requests = $10,
    total_tokens_used = $11,
    cached_tokens = $12,
    cost_usd = $13::bigint::numeric / 1000000,
    feedback_untaken = greatest(feedback_untaken - $14::int, 0)
WHERE id = $1 AND lease_epoch = $2 AND step = $3 AND status = 'running'
RETURNING step, feedback_untaken > 0 AS "feedback_pending!"
