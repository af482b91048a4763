-- Jobs of one INSERT in the order in which they came, and a waiting job's entries in the two indexes made smaller.

-- Of an INSERT of many, each has a time of its own. With now() all had the same, and what else told them apart in an
-- index was their random id.
ALTER TABLE jobs
    ALTER COLUMN created_at SET DEFAULT clock_timestamp(),
    ALTER COLUMN updated_at SET DEFAULT clock_timestamp();

-- A lane as a number, for the index: comparing numbers is cheaper than comparing two texts, which may be long. Two lanes of
-- one number, which is as likely as two equal hashes of 64 bits are, would wait for each other in waiting_lanes.
CREATE FUNCTION lane_number(job_type text, concurrency_key text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(concurrency_key, hashtextextended(job_type, 0));

-- Of jobs that may run from the same time on, the one that came first is first. So a claim can begin right behind the last
-- job of the claim before, also among jobs of one INSERT: while somebody holds an old snapshot open, the entries of all
-- that were claimed since then stay, and whoever begins before them walks over them.
CREATE INDEX jobs_queue_by_arrival
    ON jobs (lane_number(job_type, concurrency_key), priority DESC, run_at, created_at)
    WITH (deduplicate_items = off) WHERE status = 'pending';
DROP INDEX jobs_queue;
ALTER INDEX jobs_queue_by_arrival RENAME TO jobs_queue;

-- Waiting jobs have shelves of their own: what an INSERT writes has two columns in place of four. Jobs of one time, if
-- there are any, are put in order when they are read.
CREATE INDEX jobs_waiting ON jobs (job_type, created_at) WITH (deduplicate_items = off) WHERE status = 'pending';
CREATE INDEX jobs_shelves_by_time ON jobs (status, job_type, created_at)
    WITH (deduplicate_items = off) WHERE status <> 'running' AND status <> 'pending';
DROP INDEX jobs_shelves;
ALTER INDEX jobs_shelves_by_time RENAME TO jobs_shelves;

-- The shelves that hold jobs, found by jumping through the indexes from each to the next.
CREATE OR REPLACE VIEW job_shelves AS
WITH RECURSIVE waiting AS (
    (
        SELECT job_type
        FROM jobs
        WHERE status = 'pending'
        ORDER BY job_type
        LIMIT 1
    )
    UNION ALL
    SELECT next.job_type
    FROM waiting
    CROSS JOIN LATERAL (
        SELECT j.job_type
        FROM jobs j
        WHERE j.status = 'pending' AND j.job_type > waiting.job_type
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

-- The lanes with waiting jobs, found by jumping through the index from each to the next, with what stands in front there.
CREATE OR REPLACE VIEW waiting_lanes AS
WITH RECURSIVE lanes AS (
    (
        SELECT lane_number(job_type, concurrency_key) AS lane, job_type, concurrency_key, priority, run_at, created_at
        FROM jobs
        WHERE status = 'pending'
        ORDER BY lane_number(job_type, concurrency_key), priority DESC, run_at, created_at
        LIMIT 1
    )
    UNION ALL
    SELECT next.lane, next.job_type, next.concurrency_key, next.priority, next.run_at, next.created_at
    FROM lanes
    CROSS JOIN LATERAL (
        SELECT lane_number(j.job_type, j.concurrency_key) AS lane, j.job_type, j.concurrency_key, j.priority, j.run_at,
               j.created_at
        FROM jobs j
        WHERE j.status = 'pending' AND lane_number(j.job_type, j.concurrency_key) > lanes.lane
        ORDER BY lane_number(j.job_type, j.concurrency_key), j.priority DESC, j.run_at, j.created_at
        LIMIT 1
    ) AS next
)
SELECT job_type, concurrency_key, priority, run_at, created_at FROM lanes;

-- The most urgent jobs of a lane that may run now, at most so many, locked; what others hold locked is passed over. From a
-- place on (a priority, and the times from which a job may run and at which it came), which the caller knows nothing to
-- stand before, to the end of the lane. spot is where the row lies, and holds while it is locked: an UPDATE need not look
-- for it.
CREATE FUNCTION front_of_lane(lane_type text, lane_key text, top int, since timestamptz, born timestamptz, most bigint)
RETURNS TABLE (spot tid, id uuid, priority int, run_at timestamptz, created_at timestamptz)
LANGUAGE plpgsql VOLATILE ROWS 10 AS $$
#variable_conflict use_column
DECLARE
    lane bigint := lane_number(lane_type, lane_key);
    level int := top;
    start timestamptz := since;
    arrival timestamptz := born;
    missing bigint := most;
    found_here bigint;
BEGIN
    WHILE level IS NOT NULL AND missing > 0 LOOP
        -- As runnable_jobs says, which does not show where a row lies.
        RETURN QUERY
            SELECT j.ctid, j.id, j.priority, j.run_at, j.created_at
            FROM jobs j
            WHERE j.status = 'pending' AND j.run_at <= now()
              AND lane_number(j.job_type, j.concurrency_key) = lane AND j.priority = level
              AND (j.run_at, j.created_at) >= (start, arrival)
              AND j.job_type = lane_type AND j.concurrency_key = lane_key
            ORDER BY j.run_at, j.created_at
            LIMIT missing
            FOR UPDATE SKIP LOCKED;
        GET DIAGNOSTICS found_here = ROW_COUNT;
        missing := missing - found_here;
        EXIT WHEN missing <= 0;
        SELECT j.priority, j.run_at, j.created_at INTO level, start, arrival
        FROM jobs j
        WHERE j.status = 'pending' AND lane_number(j.job_type, j.concurrency_key) = lane AND j.priority < level
        ORDER BY j.priority DESC, j.run_at, j.created_at
        LIMIT 1;
    END LOOP;
END $$;

-- What the releases before call, by the new index.
CREATE OR REPLACE FUNCTION front_of_lane(lane_type text, lane_key text, top int, since timestamptz, most bigint)
RETURNS TABLE (spot tid, id uuid, priority int, run_at timestamptz) LANGUAGE plpgsql VOLATILE ROWS 10 AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
        SELECT spot, id, priority, run_at
        FROM front_of_lane(lane_type, lane_key, top, since, '-infinity'::timestamptz, most);
END $$;

CREATE OR REPLACE FUNCTION front_of_lane(lane_type text, lane_key text, top int, most bigint)
RETURNS TABLE (id uuid, priority int, run_at timestamptz) LANGUAGE plpgsql VOLATILE ROWS 10 AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
        SELECT id, priority, run_at
        FROM front_of_lane(lane_type, lane_key, top, '-infinity'::timestamptz, '-infinity'::timestamptz, most);
END $$;
