-- Jobs whose time has not come stand outside the queue, so that a claim visits the lanes of runnable jobs only: 200,000
-- jobs for next year, each with a concurrency key of its own, made every pickup take seconds.

ALTER TABLE jobs ADD COLUMN scheduled boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN jobs.scheduled IS
    'Internal: pending, with a run_at that was still to come. The first claim after that time takes it into the queue.';

CREATE FUNCTION jobs_schedule() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    NEW.scheduled := NEW.status = 'pending' AND NEW.run_at > now();
    RETURN NEW;
END $$;
CREATE TRIGGER jobs_schedule_inserted BEFORE INSERT ON jobs
    FOR EACH ROW WHEN (NEW.scheduled <> (NEW.status = 'pending' AND NEW.run_at > now())) EXECUTE FUNCTION jobs_schedule();
CREATE TRIGGER jobs_schedule BEFORE UPDATE OF status, run_at ON jobs
    FOR EACH ROW WHEN (NEW.scheduled <> (NEW.status = 'pending' AND NEW.run_at > now())) EXECUTE FUNCTION jobs_schedule();

UPDATE jobs SET scheduled = true WHERE status = 'pending' AND run_at > now();

CREATE INDEX jobs_scheduled ON jobs (run_at) WHERE status = 'pending' AND scheduled;
CREATE INDEX jobs_queue_of_runnable
    ON jobs (lane_number(job_type, concurrency_key), priority DESC, run_at, created_at)
    WITH (deduplicate_items = off) WHERE status = 'pending' AND NOT scheduled;
DROP INDEX jobs_queue;
ALTER INDEX jobs_queue_of_runnable RENAME TO jobs_queue;

-- Two conditions, one for each index.
CREATE OR REPLACE VIEW runnable_jobs AS
SELECT id, job_type, priority, run_at, created_at, concurrency_key
FROM jobs
WHERE (status = 'pending' AND NOT scheduled AND run_at <= now())
   OR (status = 'pending' AND scheduled AND run_at <= now());

-- The lanes with jobs in the queue, found by jumping through the index from each to the next, with what stands in front
-- there.
CREATE OR REPLACE VIEW waiting_lanes AS
WITH RECURSIVE lanes AS (
    (
        SELECT lane_number(job_type, concurrency_key) AS lane, job_type, concurrency_key, priority, run_at, created_at
        FROM jobs
        WHERE status = 'pending' AND NOT scheduled
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
        WHERE j.status = 'pending' AND NOT j.scheduled AND lane_number(j.job_type, j.concurrency_key) > lanes.lane
        ORDER BY lane_number(j.job_type, j.concurrency_key), j.priority DESC, j.run_at, j.created_at
        LIMIT 1
    ) AS next
)
SELECT job_type, concurrency_key, priority, run_at, created_at FROM lanes;

-- As before, of the queue's jobs.
CREATE OR REPLACE FUNCTION front_of_lane(lane_type text, lane_key text, top int, since timestamptz, born timestamptz,
                                         most bigint)
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
        RETURN QUERY
            SELECT j.ctid, j.id, j.priority, j.run_at, j.created_at
            FROM jobs j
            WHERE j.status = 'pending' AND NOT j.scheduled AND j.run_at <= now()
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
        WHERE j.status = 'pending' AND NOT j.scheduled AND lane_number(j.job_type, j.concurrency_key) = lane
          AND j.priority < level
        ORDER BY j.priority DESC, j.run_at, j.created_at
        LIMIT 1;
    END LOOP;
END $$;
