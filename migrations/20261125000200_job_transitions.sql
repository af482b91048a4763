-- Rules for the rows of jobs, and the effects of a change of status. The rules are in the database, so that a plain
-- UPDATE by a user is as safe as a command.

-- Bounds ------------------------------------------------------------------------------------------------------------
-- Most rules are CHECKs of the table. These are triggers, because each must not apply to every statement; a violation
-- raises the error of a CHECK with the trigger's name.

CREATE FUNCTION jobs_refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'new row for relation "jobs" violates check constraint "%"', TG_NAME
        USING ERRCODE = 'check_violation', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
END $$;

-- Counters that a claim, the sweep and a step increment. An overflow is an error of the whole statement: no worker
-- could claim any job. So the bounds are far below the columns' maximum. They apply to statements that set a counter; a
-- CHECK would apply to each increment too, and fail the claim of a job at its bound.
CREATE TRIGGER jobs_counts_are_small AFTER INSERT ON jobs
    FOR EACH ROW
    WHEN (least(NEW.attempt, NEW.crash_count, NEW.lease_epoch, NEW.step, NEW.phase_number, NEW.feedback_untaken,
                NEW.total_requests, NEW.total_tokens_used, NEW.cached_tokens, NEW.waited_s) < 0
          OR greatest(NEW.attempt, NEW.crash_count, NEW.phase_number, NEW.feedback_untaken) > 1000000000
          OR greatest(NEW.lease_epoch, NEW.step, NEW.total_requests, NEW.total_tokens_used, NEW.cached_tokens, NEW.waited_s)
             > 1000000000000000000
          OR NOT (NEW.cost_usd >= 0 AND NEW.cost_usd <= 1000000000))
    EXECUTE FUNCTION jobs_refuse();
CREATE TRIGGER jobs_counts_stay_small AFTER UPDATE OF attempt, lease_epoch ON jobs
    FOR EACH ROW
    WHEN ((NEW.attempt > 1000000000 AND NEW.attempt > OLD.attempt + 1)
          OR (NEW.lease_epoch > 1000000000000000000 AND NEW.lease_epoch > OLD.lease_epoch + 1))
    EXECUTE FUNCTION jobs_refuse();

-- Limits on sizes, with an error that says what to do instead. A prompt of 500 MB would take gigabytes of memory in
-- every worker that loads it. A CHECK would serialize the JSON again with each step to measure it, and its error would
-- contain only its name.
CREATE FUNCTION jobs_too_large() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'the job''s % is larger than %; %', TG_ARGV[0], TG_ARGV[1], TG_ARGV[2]
        USING ERRCODE = 'check_violation', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
END $$;

CREATE TRIGGER jobs_prompt_at_most_1_mib BEFORE INSERT OR UPDATE OF prompt ON jobs
    FOR EACH ROW WHEN (octet_length(NEW.prompt) > 1048576)
    EXECUTE FUNCTION jobs_too_large('prompt', '1 MiB', 'give long text as a document (document_path or document_content)');

CREATE TRIGGER jobs_context_at_most_1_mib BEFORE INSERT OR UPDATE OF context ON jobs
    FOR EACH ROW WHEN (octet_length(NEW.context::text) > 1048576)
    EXECUTE FUNCTION jobs_too_large('context', '1 MiB', 'give large data as a document (document_path or document_content)');

CREATE TRIGGER jobs_config_at_most_1_mib BEFORE INSERT OR UPDATE OF config ON jobs
    FOR EACH ROW WHEN (octet_length(NEW.config::text) > 1048576)
    EXECUTE FUNCTION jobs_too_large('config', '1 MiB', 'leave out what the job type sets already');

CREATE TRIGGER jobs_document_content_at_most_256_mib BEFORE INSERT OR UPDATE OF document_content ON jobs
    FOR EACH ROW WHEN (octet_length(NEW.document_content) > 268435456)
    EXECUTE FUNCTION jobs_too_large('document_content', '256 MiB', 'split the document, or put it into the import folder and name it in document_path');

-- Index entries have their own size limit, with an error that does not help users.
CREATE TRIGGER jobs_job_type_at_most_1_kib BEFORE INSERT OR UPDATE OF job_type ON jobs
    FOR EACH ROW WHEN (octet_length(NEW.job_type) > 1024)
    EXECUTE FUNCTION jobs_too_large('job_type', '1 KiB', 'name a job type of the configuration');

CREATE TRIGGER jobs_document_path_at_most_1_kib BEFORE INSERT OR UPDATE OF document_path ON jobs
    FOR EACH ROW WHEN (octet_length(NEW.document_path) > 1024)
    EXECUTE FUNCTION jobs_too_large('document_path', '1 KiB', 'name a file or folder under the import folder');

CREATE TRIGGER jobs_idempotency_key_at_most_1_kib BEFORE INSERT OR UPDATE OF idempotency_key ON jobs
    FOR EACH ROW WHEN (octet_length(NEW.idempotency_key) > 1024)
    EXECUTE FUNCTION jobs_too_large('idempotency_key', '1 KiB', 'use a shorter key, for instance a digest');

CREATE TRIGGER jobs_concurrency_key_at_most_1_kib BEFORE INSERT OR UPDATE OF context ON jobs
    FOR EACH ROW WHEN (octet_length(NEW.context ->> 'concurrency_key') > 1024)
    EXECUTE FUNCTION jobs_too_large('context.concurrency_key', '1 KiB', 'use a shorter key, for instance a digest');

CREATE TRIGGER jobs_document_name_at_most_1_kib BEFORE INSERT OR UPDATE OF context ON jobs
    FOR EACH ROW WHEN (octet_length(NEW.context ->> 'document_name') > 1024)
    EXECUTE FUNCTION jobs_too_large('context.document_name', '1 KiB', 'give the document a shorter name');
CREATE TRIGGER jobs_documents_name_at_most_1_kib BEFORE INSERT OR UPDATE OF name ON job_documents
    FOR EACH ROW WHEN (octet_length(NEW.name) > 1024)
    EXECUTE FUNCTION jobs_too_large('documents name', '1 KiB', 'give the document a shorter name');

-- Derived columns ---------------------------------------------------------------------------------------------------
-- Triggers, not generated columns: if a table has BEFORE ROW triggers, every UPDATE recomputes its generated columns,
-- in each step and each claim.

CREATE FUNCTION jobs_touch() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    NEW.updated_at := now();
    RETURN NEW;
END $$;

-- Statements that set updated_at themselves, as a step and a claim do, only pay for the comparison.
CREATE TRIGGER jobs_touch BEFORE UPDATE ON jobs
    FOR EACH ROW WHEN (NEW.updated_at IS NOT DISTINCT FROM OLD.updated_at) EXECUTE FUNCTION jobs_touch();

CREATE FUNCTION jobs_set_lane() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    NEW.concurrency_key := coalesce(NEW.context ->> 'concurrency_key', '');
    RETURN NEW;
END $$;

CREATE TRIGGER jobs_set_lane_inserted BEFORE INSERT ON jobs
    FOR EACH ROW WHEN (NEW.context ? 'concurrency_key' OR NEW.concurrency_key <> '') EXECUTE FUNCTION jobs_set_lane();
CREATE TRIGGER jobs_set_lane BEFORE UPDATE OF context, concurrency_key ON jobs
    FOR EACH ROW EXECUTE FUNCTION jobs_set_lane();

CREATE FUNCTION jobs_schedule() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    NEW.scheduled := NEW.status = 'pending' AND NEW.run_at > now();
    RETURN NEW;
END $$;

CREATE TRIGGER jobs_schedule_inserted BEFORE INSERT ON jobs
    FOR EACH ROW WHEN (NEW.scheduled <> (NEW.status = 'pending' AND NEW.run_at > now())) EXECUTE FUNCTION jobs_schedule();
CREATE TRIGGER jobs_schedule BEFORE UPDATE OF status, run_at ON jobs
    FOR EACH ROW WHEN (NEW.scheduled <> (NEW.status = 'pending' AND NEW.run_at > now())) EXECUTE FUNCTION jobs_schedule();

-- Status ------------------------------------------------------------------------------------------------------------
--   pending  -> running (only by a claim), paused, cancelled
--   running  -> pending, paused, cancelled by a user, and the worker's next fence fails; any status by its worker
--   paused   -> pending, cancelled
--   review   -> pending, cancelled; completed by approve_job
--   failed, cancelled -> pending by retry_job
--   completed -> none
-- A command writes the id of its job to a setting that is local to the transaction, so no session state remains. Any
-- user can write that setting, so it counts only within a function that runs as the table's owner.
-- Its names, as those of runs_jobs, are looked up here, once, and not in the session, which may have functions of its own.
CREATE FUNCTION is_commanded(job uuid) RETURNS boolean LANGUAGE sql STABLE
RETURN coalesce(current_setting('plumbline.command', true), '') = job::text
    AND pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = 'public.jobs'::regclass), 'MEMBER');

-- A worker is a role that may write leases, regardless of its name.
CREATE FUNCTION runs_jobs() RETURNS boolean LANGUAGE sql STABLE
RETURN has_column_privilege(current_user, 'public.jobs'::regclass, 'lease_epoch', 'UPDATE');

CREATE FUNCTION jobs_change_status() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    commanded boolean := is_commanded(OLD.id);
    claimed boolean := NEW.lease_epoch = OLD.lease_epoch + 1 AND NEW.worker_id IS NOT NULL;
    allowed boolean;
BEGIN
    allowed := CASE OLD.status
        WHEN 'running' THEN NEW.status IN ('pending', 'paused', 'cancelled') OR runs_jobs()
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
                WHEN 'running' THEN 'only its worker ends it; users may pause or cancel it'
                ELSE 'only a worker''s claim starts a job, users may pause or cancel it'
            END
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;

    IF NEW.status IN ('completed', 'failed', 'cancelled') THEN
        NEW.completed_at := now();
    ELSE
        NEW.completed_at := NULL;
    END IF;
    -- Before the first claim no waiting time is counted: the job's time begins with that claim.
    NEW.waited_s := OLD.waited_s + CASE WHEN isfinite(OLD.started_at)
        THEN coalesce(ceil(extract(epoch FROM clock_timestamp() - OLD.waits_since)), 0) ELSE 0 END;
    NEW.waits_since := CASE WHEN NEW.status IN ('review', 'paused') THEN clock_timestamp() END;
    -- A reason belongs to one status and must not outlive it.
    IF NEW.status_reason IS NOT DISTINCT FROM OLD.status_reason THEN
        NEW.status_reason := NULL;
    END IF;
    IF OLD.status = 'running' THEN
        NEW.worker_id := NULL;
        -- An attempt counts if it ended the job or crashed; any other change of status gives it back.
        IF NEW.status IN ('pending', 'paused', 'review') AND NEW.crash_count = OLD.crash_count THEN
            NEW.attempt := greatest(OLD.attempt - 1, 0);
        END IF;
    END IF;
    RETURN NEW;
END $$;

-- A claim is the one change of status that needs neither these rules nor a notice from here. The conditions of this
-- trigger and of jobs_notify_status check its form; the claim statement itself clears the status_reason and announces
-- its jobs. A trigger per row cost as much as updating the rows.
CREATE TRIGGER jobs_change_status BEFORE UPDATE OF status ON jobs
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status
                       AND NOT (OLD.status = 'pending' AND NEW.status = 'running' AND NEW.worker_id IS NOT NULL
                                AND NEW.lease_epoch = OLD.lease_epoch + 1 AND NEW.status_reason IS NULL))
    EXECUTE FUNCTION jobs_change_status();

-- A worker closes its own attempt in the statement that gives the job back. An attempt that is still open here was
-- taken away by a user: the outcome of its calls in flight is unknown, which "lost" tells the next attempt. SECURITY
-- DEFINER, so that a role that may only cancel jobs needs no access to attempts.
CREATE FUNCTION jobs_close_attempt() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE attempts SET ended_at = now(), outcome = 'lost', error = 'the job became ' || NEW.status
    WHERE job_id = OLD.id AND lease_epoch = OLD.lease_epoch AND ended_at IS NULL;
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_close_attempt AFTER UPDATE OF status ON jobs
    FOR EACH ROW WHEN (OLD.status = 'running' AND NEW.status <> 'running') EXECUTE FUNCTION jobs_close_attempt();

-- Notices -----------------------------------------------------------------------------------------------------------
-- Notices are hints for listeners; the rows are the source of truth. Steps that do not change the status send none,
-- because NOTIFY takes a lock that serializes all commits of the server.
--
-- Any login may listen. If jobs have row-level security (deploy/roles.sql), a notice contains only the id: a login that
-- may read the row finds its status there.
CREATE FUNCTION notices_tell_all() RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT NOT c.relrowsecurity FROM pg_class c WHERE c.oid = 'public.jobs'::regclass
$$;

-- Concatenated, because JSON functions cost more than the notice itself; only the job type may be any text.
CREATE FUNCTION job_notice(id uuid, status text, job_type text, tells_all boolean) RETURNS text LANGUAGE sql STABLE
RETURN '{"id": "' || id || CASE WHEN tells_all THEN '", "status": "' || status || '", "job_type": ' || to_json(job_type) || '}'
                                ELSE '"}' END;

CREATE FUNCTION jobs_notify() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM pg_notify('plumbline_jobs', job_notice(NEW.id, NEW.status, NEW.job_type, notices_tell_all()));
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_notify_status AFTER UPDATE OF status ON jobs
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status
                       AND NOT (OLD.status = 'pending' AND NEW.status = 'running' AND NEW.worker_id IS NOT NULL
                                AND NEW.lease_epoch = OLD.lease_epoch + 1 AND NEW.status_reason IS NULL))
    EXECUTE FUNCTION jobs_notify();

-- Jobs inserted together are announced by one trigger call, each with its own notice: a trigger per row took a quarter
-- of the time of a large INSERT.
CREATE FUNCTION jobs_notify_inserted() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    tells_all boolean := notices_tell_all();
BEGIN
    PERFORM pg_notify('plumbline_jobs', job_notice(id, status, job_type, tells_all)) FROM inserted;
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_notify_inserted AFTER INSERT ON jobs REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION jobs_notify_inserted();
