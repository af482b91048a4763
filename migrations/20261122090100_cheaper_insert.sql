-- What an INSERT of many jobs pays for, and every change of a job's row with it.

-- The lane is worked out where it is written. A generated column is worked out anew in every UPDATE of a table that has
-- triggers before its rows: in each step and each claim, from a text that the server has to read each time.
ALTER TABLE jobs
    ALTER COLUMN concurrency_key DROP EXPRESSION,
    ALTER COLUMN concurrency_key SET DEFAULT '';
COMMENT ON COLUMN jobs.concurrency_key IS 'From context.concurrency_key; whatever else is written here is replaced.';

CREATE FUNCTION jobs_set_lane() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.concurrency_key := left(coalesce(NEW.context ->> 'concurrency_key', ''), 200);
    RETURN NEW;
END $$;

CREATE TRIGGER jobs_set_lane_inserted BEFORE INSERT ON jobs
    FOR EACH ROW WHEN (NEW.context ? 'concurrency_key' OR NEW.concurrency_key <> '') EXECUTE FUNCTION jobs_set_lane();
CREATE TRIGGER jobs_set_lane BEFORE UPDATE OF context, concurrency_key ON jobs
    FOR EACH ROW EXECUTE FUNCTION jobs_set_lane();

-- Looking for equal entries to put together costs more than it saves where entries come and go.
CREATE INDEX jobs_queue_ordered ON jobs (job_type, concurrency_key, priority DESC, run_at)
    WITH (deduplicate_items = off) WHERE status = 'pending';
DROP INDEX jobs_queue;
ALTER INDEX jobs_queue_ordered RENAME TO jobs_queue;

-- Read backwards, newest first. New jobs come to the end of their shelf, where a page that is full leaves its entries
-- behind and stays so; at the beginning, where they came, pages were split in halves for ever.
CREATE INDEX jobs_shelves_ordered ON jobs (status, job_type, created_at, id DESC)
    WITH (deduplicate_items = off) WHERE status <> 'running';
DROP INDEX jobs_shelves;
ALTER INDEX jobs_shelves_ordered RENAME TO jobs_shelves;

-- Put together without functions, which cost more than the notice does.
CREATE OR REPLACE FUNCTION jobs_notify_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('plumbline_jobs', '{"id": "' || id || '", "status": "' || status || '"}') FROM inserted;
    RETURN NULL;
END $$;
