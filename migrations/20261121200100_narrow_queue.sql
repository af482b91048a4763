-- What an INSERT and a claim of many jobs pay for: the indexes of jobs, and the announcements.
--
-- A change of status writes an entry into each index that holds the row afterwards. Running jobs are now in two only, the
-- key and jobs_running, which is small; waiting ones in the key and the two below.

-- Without the id, so that jobs that were inserted together stand next to each other, in the order in which they came, and
-- not where their random ids put them: less to look for, less to write.
CREATE INDEX jobs_queue ON jobs (job_type, concurrency_key, priority DESC, run_at) WHERE status = 'pending';
DROP INDEX jobs_lanes;

-- The lanes with waiting jobs, found by jumping through the index from each to the next, and the largest priority in each,
-- which the jump finds with it.
CREATE OR REPLACE VIEW waiting_lanes AS
WITH RECURSIVE lanes AS (
    (
        SELECT job_type, concurrency_key, priority
        FROM jobs
        WHERE status = 'pending'
        ORDER BY job_type, concurrency_key, priority DESC
        LIMIT 1
    )
    UNION ALL
    SELECT next.job_type, next.concurrency_key, next.priority
    FROM lanes
    CROSS JOIN LATERAL (
        SELECT j.job_type, j.concurrency_key, j.priority
        FROM jobs j
        WHERE j.status = 'pending' AND (j.job_type, j.concurrency_key) > (lanes.job_type, lanes.concurrency_key)
        ORDER BY j.job_type, j.concurrency_key, j.priority DESC
        LIMIT 1
    ) AS next
)
SELECT job_type, concurrency_key, priority FROM lanes;

-- The most urgent jobs of a lane that may run now, at most so many, locked; what others hold locked is passed over. From
-- the lane's largest priority to the next lower one, each read from its front. A claim looks at a front as seldom as it
-- can: while somebody holds an old snapshot open, the entries of all jobs claimed since then are still there. (The
-- function of the same name without the priority is what the release before calls.)
CREATE FUNCTION front_of_lane(lane_type text, lane_key text, top int, most bigint)
RETURNS TABLE (id uuid, priority int, run_at timestamptz) LANGUAGE plpgsql VOLATILE ROWS 10 AS $$
#variable_conflict use_column
DECLARE
    level int := top;
    missing bigint := most;
    found_here bigint;
BEGIN
    WHILE level IS NOT NULL AND missing > 0 LOOP
        RETURN QUERY
            SELECT r.id, r.priority, r.run_at
            FROM runnable_jobs r
            WHERE r.job_type = lane_type AND r.concurrency_key = lane_key AND r.priority = level
            ORDER BY r.run_at
            LIMIT missing
            FOR UPDATE SKIP LOCKED;
        GET DIAGNOSTICS found_here = ROW_COUNT;
        missing := missing - found_here;
        EXIT WHEN missing <= 0;
        SELECT max(priority) INTO level
        FROM jobs
        WHERE status = 'pending' AND job_type = lane_type AND concurrency_key = lane_key AND priority < level;
    END LOOP;
END $$;

-- In place of three indexes that held every job for the sake of the dashboard's lists.

-- A shelf is a status and a job type, newest first. Lists take the front of each shelf they show.
CREATE INDEX jobs_shelves ON jobs (status, job_type, created_at DESC, id) WHERE status <> 'running';
DROP INDEX jobs_newest;
DROP INDEX jobs_by_status;
DROP INDEX jobs_by_type;

-- The shelves that hold jobs, found by jumping through the index from each to the next.
CREATE VIEW job_shelves AS
WITH RECURSIVE shelves AS (
    (
        SELECT status, job_type
        FROM jobs
        WHERE status <> 'running'
        ORDER BY status, job_type
        LIMIT 1
    )
    UNION ALL
    SELECT next.status, next.job_type
    FROM shelves
    CROSS JOIN LATERAL (
        SELECT j.status, j.job_type
        FROM jobs j
        WHERE j.status <> 'running' AND (j.status, j.job_type) > (shelves.status, shelves.job_type)
        ORDER BY j.status, j.job_type
        LIMIT 1
    ) AS next
)
SELECT status, job_type FROM shelves;

-- A claim announces its jobs itself, in its one statement: a trigger a row cost it as much as the rows do. Whatever else
-- changes a status is announced by the trigger as before.
DROP TRIGGER jobs_notify_status ON jobs;
CREATE TRIGGER jobs_notify_status AFTER UPDATE OF status ON jobs
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status
                       AND NOT (OLD.status = 'pending' AND NEW.status = 'running' AND NEW.worker_id IS NOT NULL
                                AND NEW.lease_epoch = OLD.lease_epoch + 1 AND NEW.status_reason IS NULL))
    EXECUTE FUNCTION jobs_notify();

-- A statement's notices are put together without JSON functions, which cost more than the notice does. A status is one of
-- a few words.
CREATE OR REPLACE FUNCTION jobs_notify_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('plumbline_jobs', format('{"id": "%s", "status": "%s"}', id, status)) FROM inserted;
    RETURN NULL;
END $$;
