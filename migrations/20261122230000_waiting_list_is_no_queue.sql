-- Where the queue was empty when its table was last analyzed, the planner takes one waiting job for all there are, and any
-- index that holds the waiting ones for as good as the queue's: a claim read a burst that came then as a whole, and sorted
-- it, until the table was analyzed again. The list of waiting jobs has a condition now that only its readers state.
CREATE INDEX jobs_waiting_for_lists ON jobs (job_type, created_at)
    WITH (deduplicate_items = off) WHERE status = 'pending' AND attempt >= 0;
DROP INDEX jobs_waiting;
ALTER INDEX jobs_waiting_for_lists RENAME TO jobs_waiting;

CREATE OR REPLACE VIEW job_shelves AS
WITH RECURSIVE waiting AS (
    (
        SELECT job_type
        FROM jobs
        WHERE status = 'pending' AND attempt >= 0
        ORDER BY job_type
        LIMIT 1
    )
    UNION ALL
    SELECT next.job_type
    FROM waiting
    CROSS JOIN LATERAL (
        SELECT j.job_type
        FROM jobs j
        WHERE j.status = 'pending' AND j.attempt >= 0 AND j.job_type > waiting.job_type
        ORDER BY j.job_type
        LIMIT 1
    ) AS next
), others AS (
    (
        SELECT status, job_type
        FROM jobs
        WHERE status <> 'running' AND status <> 'pending'
        ORDER BY status, job_type
        LIMIT 1
    )
    UNION ALL
    SELECT next.status, next.job_type
    FROM others
    CROSS JOIN LATERAL (
        SELECT j.status, j.job_type
        FROM jobs j
        WHERE j.status <> 'running' AND j.status <> 'pending' AND (j.status, j.job_type) > (others.status, others.job_type)
        ORDER BY j.status, j.job_type
        LIMIT 1
    ) AS next
)
SELECT 'pending'::text AS status, job_type FROM waiting
UNION ALL
SELECT status, job_type FROM others;
