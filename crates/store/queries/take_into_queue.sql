-- Jobs whose time has come join the queue, those due longest first, at most so many at once.
UPDATE jobs
SET scheduled = false
WHERE ctid = ANY (ARRAY(
    SELECT ctid
    FROM jobs
    WHERE status = 'pending' AND scheduled AND run_at <= now()
    ORDER BY run_at
    LIMIT 1000
    FOR UPDATE SKIP LOCKED
))
