-- Concurrency limits, and a claim that walks over nothing it cannot take.
-- A waiting job stands in the lane of its job type and concurrency key. The claim jumps from lane to lane and, within
-- one, from priority to priority, and reads each from its front: jobs whose time has not come, or whose lane is full,
-- cost it nothing, however many they are.

ALTER TABLE jobs
    ADD COLUMN concurrency_key text NOT NULL
        GENERATED ALWAYS AS (left(coalesce(context ->> 'concurrency_key', ''), 200)) STORED,
    -- An index entry has a size limit of its own, whose message would help nobody.
    ADD CONSTRAINT jobs_job_type_is_short CHECK (char_length(job_type) <= 200);

CREATE INDEX jobs_lanes ON jobs (job_type, concurrency_key, priority DESC, run_at, id) WHERE status = 'pending';
-- Takes the place of the index that was read without lanes.
DROP INDEX jobs_claim;

CREATE OR REPLACE VIEW runnable_jobs AS
SELECT id, job_type, priority, run_at, created_at, concurrency_key
FROM jobs
WHERE status = 'pending' AND run_at <= now();

-- The lanes with waiting jobs, found by jumping through the index from each to the next.
CREATE VIEW waiting_lanes AS
WITH RECURSIVE lanes AS (
    (
        SELECT job_type, concurrency_key
        FROM jobs
        WHERE status = 'pending'
        ORDER BY job_type, concurrency_key
        LIMIT 1
    )
    UNION ALL
    SELECT next.job_type, next.concurrency_key
    FROM lanes
    CROSS JOIN LATERAL (
        SELECT j.job_type, j.concurrency_key
        FROM jobs j
        WHERE j.status = 'pending' AND (j.job_type, j.concurrency_key) > (lanes.job_type, lanes.concurrency_key)
        ORDER BY j.job_type, j.concurrency_key
        LIMIT 1
    ) AS next
)
SELECT job_type, concurrency_key FROM lanes;

-- Written by operators. key: '' bounds the whole job type, '*' each key of it, anything else that one key (and goes
-- before '*').
CREATE TABLE concurrency_limits (
    job_type    text NOT NULL,
    key         text NOT NULL DEFAULT '',
    max_running int NOT NULL CHECK (max_running >= 0),
    PRIMARY KEY (job_type, key)
);
COMMENT ON TABLE concurrency_limits IS
    'At most max_running running jobs of the job type; with a key, of those whose context.concurrency_key is the key.';

-- The running jobs of a lane; with the empty key, of the whole job type. Slots are counted, never kept: a job that
-- leaves in whatever way gives its slot back. Volatile on purpose: called within a statement it sees what others have
-- committed since that statement began, so that a claim that waited for another one counts the other's jobs.
CREATE FUNCTION running_in_lane(lane_type text, lane_key text) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT count(*)
    FROM jobs
    WHERE status = 'running' AND job_type = lane_type AND (lane_key = '' OR concurrency_key = lane_key)
$$;

-- The most urgent jobs of a lane that may run now, at most so many, locked; what others hold locked is passed over. From
-- one priority to the next lower one, each read from its front. A loop, because the planner takes the same as one
-- statement for so costly that it compiles it, which takes a thousand times longer than to run it.
CREATE FUNCTION front_of_lane(lane_type text, lane_key text, most bigint)
RETURNS TABLE (id uuid, priority int, run_at timestamptz) LANGUAGE plpgsql VOLATILE ROWS 10 AS $$
#variable_conflict use_column
DECLARE
    level int;
    missing bigint := most;
    found_here bigint;
BEGIN
    SELECT max(priority) INTO level
    FROM jobs
    WHERE status = 'pending' AND job_type = lane_type AND concurrency_key = lane_key;
    WHILE level IS NOT NULL AND missing > 0 LOOP
        RETURN QUERY
            SELECT r.id, r.priority, r.run_at
            FROM runnable_jobs r
            WHERE r.job_type = lane_type AND r.concurrency_key = lane_key AND r.priority = level
            ORDER BY r.run_at, r.id
            LIMIT missing
            FOR UPDATE SKIP LOCKED;
        GET DIAGNOSTICS found_here = ROW_COUNT;
        missing := missing - found_here;
        SELECT max(priority) INTO level
        FROM jobs
        WHERE status = 'pending' AND job_type = lane_type AND concurrency_key = lane_key AND priority < level;
    END LOOP;
END $$;
