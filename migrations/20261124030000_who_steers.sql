-- Whose a job is, who steered it, and what nobody can say of himself.

-- Whoever was logged in at the INSERT; null for rows from before. Nobody can set it: SET ROLE does not change who is logged
-- in, and a role that may write the column is overruled below.
ALTER TABLE jobs ADD COLUMN created_by text;
ALTER TABLE jobs ALTER COLUMN created_by SET DEFAULT session_user;
COMMENT ON COLUMN jobs.created_by IS 'the login that inserted the row, of a follower that of its parent; set by the server';

CREATE TABLE job_commands (
    job_id    uuid NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    command   text NOT NULL,
    arguments jsonb NOT NULL DEFAULT '{}',
    by        text NOT NULL DEFAULT session_user,
    at        timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE job_commands IS 'a row for each steering command: which, with what, by whom, when';
CREATE INDEX job_commands_of_job ON job_commands (job_id, at);

-- The owner of the tables, workers and outside validators act for everybody. The roles need not exist.
CREATE FUNCTION acts_for_others(login text) RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM pg_roles actor
        JOIN pg_roles trusted ON trusted.rolname IN ('plumbline_work', 'plumbline_validate')
                              OR trusted.oid = (SELECT relowner FROM pg_class WHERE oid = 'public.jobs'::regclass)
        WHERE actor.rolname = login AND pg_has_role(actor.oid, trusted.oid, 'MEMBER'))
$$;

-- With its owner's rights: an enqueuer may know whether a job is his, and not whose it is.
CREATE FUNCTION job_is_anothers(job text) RETURNS boolean LANGUAGE sql STABLE
SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM jobs WHERE id::text = lower(job) AND created_by IS DISTINCT FROM session_user)
$$;

-- What only who acts for others may insert. A function that runs with its owner's rights acts as its owner.
CREATE FUNCTION jobs_are_somebodys() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    wrong text;
BEGIN
    NEW.created_by := session_user;
    IF acts_for_others(session_user) OR acts_for_others(current_user) THEN
        IF NEW.parent_job_id IS NOT NULL THEN
            NEW.created_by := coalesce((SELECT p.created_by FROM jobs p WHERE p.id = NEW.parent_job_id), session_user);
        END IF;
        RETURN NEW;
    END IF;
    wrong := CASE
        WHEN NEW.parent_job_id IS NOT NULL THEN 'parent_job_id is set by workers; leave it out'
        WHEN NEW.idempotency_key LIKE 'on\_complete:%' THEN
            'idempotency keys that begin with on_complete: are the followers''; use another key'
        WHEN NEW.job_type = 'validator' AND NEW.context ->> 'parent_job_id' IS NULL THEN
            'a validator of all jobs is not yours to enqueue; name a job of your own in context.parent_job_id'
        WHEN job_is_anothers(NEW.context ->> 'parent_job_id') THEN
            'context.parent_job_id names a job of another login; name one of your own'
    END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'the job cannot be inserted: %', wrong USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER jobs_are_somebodys BEFORE INSERT ON jobs
    FOR EACH ROW
    WHEN (NEW.created_by IS DISTINCT FROM session_user OR NEW.parent_job_id IS NOT NULL
          OR NEW.idempotency_key LIKE 'on\_complete:%' OR NEW.context ? 'parent_job_id'
          OR NEW.job_type = 'validator')
    EXECUTE FUNCTION jobs_are_somebodys();

CREATE TRIGGER jobs_created_by_is_not_changed BEFORE UPDATE OF created_by ON jobs
    FOR EACH ROW WHEN (NEW.created_by IS DISTINCT FROM OLD.created_by) EXECUTE FUNCTION jobs_refuse();

-- Whose requirements a validator judges: those of one job, of all jobs (null), or of nobody (the nil id) where neither is its
-- creator's to judge. Rows from before there were creators stay what they were.
CREATE FUNCTION judged_job(validator jobs) RETURNS uuid LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT CASE
        WHEN validator.created_by IS NULL OR acts_for_others(validator.created_by)
             OR EXISTS (SELECT FROM jobs o WHERE o.id = validation_scope(validator) AND o.created_by = validator.created_by)
            THEN validation_scope(validator)
        ELSE '00000000-0000-0000-0000-000000000000'
    END
$$;

-- created_by is one more column that no step writes.
DROP TRIGGER jobs_touch ON jobs;
CREATE TRIGGER jobs_touch
    BEFORE UPDATE OF
        id, job_type, prompt, document_path, document_content, context, config, priority, run_at, max_attempts,
        idempotency_key, parent_job_id, status, status_reason, attempt, worker_id, lease_epoch, result, error_message,
        error_details, created_at, started_at, completed_at, forked_step, concurrency_key, created_by
    ON jobs
    FOR EACH ROW WHEN (NEW.updated_at IS NOT DISTINCT FROM OLD.updated_at) EXECUTE FUNCTION jobs_touch();

-- The setting that marks a command can be written by anybody, so it counts only where a function of the owner's wrote it.
CREATE OR REPLACE FUNCTION jobs_change_status() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    commanded boolean := coalesce(current_setting('plumbline.command', true), '') = OLD.id::text
        AND pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = 'public.jobs'::regclass), 'MEMBER');
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

-- The commands run with their owner's rights, so that who may steer needs no right to the counters that they reset, and each
-- leaves a row: job_status_for is what all of them begin with.
DROP FUNCTION job_status_for(text, uuid, text[]);
CREATE FUNCTION job_status_for(command text, job uuid, works_on text[], arguments jsonb DEFAULT '{}') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    present text;
BEGIN
    SELECT j.status INTO present FROM jobs j WHERE j.id = job FOR UPDATE;
    IF present IS NULL THEN
        RAISE EXCEPTION 'there is no job %', coalesce(job::text, 'null') USING ERRCODE = 'no_data_found';
    END IF;
    IF present <> ALL (works_on) THEN
        RAISE EXCEPTION 'job % is %: % works on a job that is %', job, present, command,
            array_to_string(works_on, ' or ') USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    INSERT INTO job_commands (job_id, command, arguments) VALUES (job, command, jsonb_strip_nulls(arguments));
    RETURN present;
END $$;

CREATE OR REPLACE FUNCTION resume_job(id uuid, feedback text DEFAULT NULL) RETURNS text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM job_status_for('resume_job', resume_job.id, ARRAY['paused', 'review'],
                           jsonb_build_object('feedback', resume_job.feedback));
    PERFORM add_feedback(resume_job.id, resume_job.feedback);
    UPDATE jobs j SET status = 'pending', run_at = now() WHERE j.id = resume_job.id;
    RETURN 'pending';
END $$;

CREATE OR REPLACE FUNCTION send_feedback(id uuid, text text) RETURNS text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    present text;
BEGIN
    present := job_status_for('send_feedback', send_feedback.id, ARRAY['pending', 'running', 'paused', 'review'],
                              jsonb_build_object('text', send_feedback.text));
    IF btrim(coalesce(send_feedback.text, '')) = '' THEN
        RAISE EXCEPTION 'job % is %: send_feedback needs a text', send_feedback.id, present
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM add_feedback(send_feedback.id, send_feedback.text);
    IF present = 'review' THEN
        UPDATE jobs j SET status = 'pending', run_at = now() WHERE j.id = send_feedback.id;
        present := 'pending';
    END IF;
    RETURN present;
END $$;

ALTER FUNCTION cancel_job(uuid) SECURITY DEFINER;
ALTER FUNCTION pause_job(uuid) SECURITY DEFINER;
ALTER FUNCTION retry_job(uuid) SECURITY DEFINER;
ALTER FUNCTION approve_job(uuid) SECURITY DEFINER;

REVOKE EXECUTE ON FUNCTION cancel_job(uuid), pause_job(uuid), resume_job(uuid, text), retry_job(uuid), approve_job(uuid),
    send_feedback(uuid, text) FROM PUBLIC;

-- What a session made for itself must not stand for a type or table of ours.
DO $$
DECLARE
    of_owner regprocedure;
    path text;
BEGIN
    FOR of_owner, path IN
        SELECT p.oid, (SELECT setting FROM unnest(p.proconfig) AS setting WHERE setting LIKE 'search_path=%')
        FROM pg_proc p
        WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
    LOOP
        IF path IS NULL OR path !~ 'pg_temp$' THEN
            EXECUTE format('ALTER FUNCTION %s SET search_path = %s, pg_temp', of_owner,
                           coalesce(nullif(substr(path, 13), ''), 'public'));
        END IF;
    END LOOP;
END $$;
