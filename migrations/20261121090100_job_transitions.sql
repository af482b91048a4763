-- The rules of jobs.status live with the row, so that a plain UPDATE by a user is as safe as a command.
--   pending  -> running (a claim only), paused, cancelled
--   running  -> anything: the worker ends it, or a user takes it away and the worker's next fence fails
--   paused   -> pending, cancelled
--   review   -> pending, cancelled; completed by approve_job
--   failed, cancelled -> pending by retry_job
--   completed -> nothing
-- The commands mark the row they work on in a setting that is local to the transaction; no session state remains.

CREATE FUNCTION jobs_touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.updated_at := now();
    RETURN NEW;
END $$;

CREATE TRIGGER jobs_touch BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION jobs_touch();

CREATE FUNCTION jobs_change_status() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    commanded boolean := coalesce(current_setting('plumbline.command', true), '') = OLD.id::text;
    claimed boolean := NEW.lease_epoch = OLD.lease_epoch + 1 AND NEW.worker_id IS NOT NULL;
    allowed boolean;
BEGIN
    allowed := CASE OLD.status
        WHEN 'running' THEN true
        WHEN 'pending' THEN NEW.status IN ('paused', 'cancelled') OR (NEW.status = 'running' AND claimed)
        WHEN 'paused' THEN NEW.status IN ('pending', 'cancelled')
        WHEN 'review' THEN NEW.status IN ('pending', 'cancelled') OR (NEW.status = 'completed' AND commanded)
        WHEN 'completed' THEN false
        ELSE NEW.status = 'pending' AND commanded
    END;
    IF NOT allowed THEN
        RAISE EXCEPTION 'job % is % and cannot become %: %', OLD.id, OLD.status, NEW.status,
            CASE OLD.status
                WHEN 'completed' THEN 'a completed job is final, enqueue a new one'
                WHEN 'failed' THEN 'use retry_job to run it again'
                WHEN 'cancelled' THEN 'use retry_job to run it again'
                WHEN 'review' THEN 'use approve_job, resume_job or cancel_job'
                WHEN 'paused' THEN 'use resume_job or cancel_job'
                ELSE 'only a worker''s claim starts a job, users may pause or cancel it'
            END
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;

    IF NEW.status IN ('completed', 'failed', 'cancelled') THEN
        NEW.completed_at := now();
    ELSE
        NEW.completed_at := NULL;
    END IF;
    -- A reason belongs to one status and must not outlive it.
    IF NEW.status_reason IS NOT DISTINCT FROM OLD.status_reason THEN
        NEW.status_reason := NULL;
    END IF;
    IF OLD.status = 'running' THEN
        NEW.worker_id := NULL;
        -- An attempt counts when it ended the job or crashed. Every other way back gives it back.
        IF NEW.status IN ('pending', 'paused', 'review') AND NEW.crash_count = OLD.crash_count THEN
            NEW.attempt := greatest(OLD.attempt - 1, 0);
        END IF;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER jobs_change_status BEFORE UPDATE OF status ON jobs
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION jobs_change_status();

-- A worker closes its own attempt in the statement that gives the job back. An attempt still open here was taken
-- away by a user: its calls in flight have an unknown outcome, which is what "lost" tells the next attempt.
-- Runs with its owner's rights, so that a role that may only cancel jobs needs no access to attempts.
CREATE FUNCTION jobs_close_attempt() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE attempts SET ended_at = now(), outcome = 'lost', error = 'the job became ' || NEW.status
    WHERE job_id = OLD.id AND lease_epoch = OLD.lease_epoch AND ended_at IS NULL;
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_close_attempt AFTER UPDATE OF status ON jobs
    FOR EACH ROW WHEN (OLD.status = 'running' AND NEW.status <> 'running') EXECUTE FUNCTION jobs_close_attempt();

-- A hint for those who listen, never the truth: rows are. Steps that leave the status alone notify nobody, because
-- NOTIFY takes a lock over the whole server's commits.
CREATE FUNCTION jobs_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('plumbline_jobs', json_build_object('id', NEW.id, 'status', NEW.status)::text);
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_notify_insert AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION jobs_notify();
CREATE TRIGGER jobs_notify_status AFTER UPDATE OF status ON jobs
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION jobs_notify();
