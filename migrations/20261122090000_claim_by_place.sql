-- A claim that reads a front once, begins where it is told to, and takes the rows where they lie.
--
-- While somebody holds an old snapshot open, the entries of all jobs claimed since then stay in jobs_queue, and whoever
-- looks for the front walks over them. So the walk is made once: what finds a lane also says how far it came.

-- The lanes with waiting jobs, found by jumping through the index from each to the next, with what stands in front there.
CREATE OR REPLACE VIEW waiting_lanes AS
WITH RECURSIVE lanes AS (
    (
        SELECT job_type, concurrency_key, priority, run_at
        FROM jobs
        WHERE status = 'pending'
        ORDER BY job_type, concurrency_key, priority DESC, run_at
        LIMIT 1
    )
    UNION ALL
    SELECT next.job_type, next.concurrency_key, next.priority, next.run_at
    FROM lanes
    CROSS JOIN LATERAL (
        SELECT j.job_type, j.concurrency_key, j.priority, j.run_at
        FROM jobs j
        WHERE j.status = 'pending' AND (j.job_type, j.concurrency_key) > (lanes.job_type, lanes.concurrency_key)
        ORDER BY j.job_type, j.concurrency_key, j.priority DESC, j.run_at
        LIMIT 1
    ) AS next
)
SELECT job_type, concurrency_key, priority, run_at FROM lanes;

-- The most urgent jobs of a lane that may run now, at most so many, locked; what others hold locked is passed over. From
-- a priority and time on, which the caller knows nothing to stand before, to the end of the lane. spot is where the row
-- lies, and holds while it is locked: an UPDATE need not look for it. (The functions of the same name with fewer
-- arguments are what the releases before call.)
CREATE FUNCTION front_of_lane(lane_type text, lane_key text, top int, since timestamptz, most bigint)
RETURNS TABLE (spot tid, id uuid, priority int, run_at timestamptz) LANGUAGE plpgsql VOLATILE ROWS 10 AS $$
#variable_conflict use_column
DECLARE
    level int := top;
    start timestamptz := since;
    missing bigint := most;
    found_here bigint;
BEGIN
    WHILE level IS NOT NULL AND missing > 0 LOOP
        -- As runnable_jobs says, which does not show where a row lies.
        RETURN QUERY
            SELECT j.ctid, j.id, j.priority, j.run_at
            FROM jobs j
            WHERE j.status = 'pending' AND j.run_at <= now()
              AND j.job_type = lane_type AND j.concurrency_key = lane_key AND j.priority = level AND j.run_at >= start
            ORDER BY j.run_at
            LIMIT missing
            FOR UPDATE SKIP LOCKED;
        GET DIAGNOSTICS found_here = ROW_COUNT;
        missing := missing - found_here;
        EXIT WHEN missing <= 0;
        SELECT j.priority, j.run_at INTO level, start
        FROM jobs j
        WHERE j.status = 'pending' AND j.job_type = lane_type AND j.concurrency_key = lane_key AND j.priority < level
        ORDER BY j.priority DESC, j.run_at
        LIMIT 1;
    END LOOP;
END $$;
