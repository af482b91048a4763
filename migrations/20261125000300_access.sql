-- The owner of a job, read access to jobs, and the log of steering commands. The roles are those of deploy/roles.sql,
-- which enables row-level security for `jobs`; they need not exist.

-- The owner of the tables, workers and external validators act for all logins.
CREATE FUNCTION acts_for_others(login text) RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM pg_roles actor
        JOIN pg_roles trusted ON trusted.rolname IN ('plumbline_work', 'plumbline_validate')
                              OR trusted.oid = (SELECT relowner FROM pg_class WHERE oid = 'public.jobs'::regclass)
        WHERE actor.rolname = login AND pg_has_role(actor.oid, trusted.oid, 'MEMBER'))
$$;

-- Null if there is no such job. SECURITY DEFINER: enqueuers may learn whether a job is theirs, but not whose it is.
CREATE FUNCTION job_is_mine(job text) RETURNS boolean LANGUAGE sql STABLE
SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT created_by IS NOT DISTINCT FROM session_user FROM jobs WHERE id::text = lower(job)
$$;

-- Users cannot set created_by: SET ROLE does not change session_user, and the trigger overrides the value even if the
-- role may write the column. Some jobs may be inserted only by logins that act for others; other logins get an error. A
-- SECURITY DEFINER function acts as its owner.
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
        WHEN NOT job_is_mine(NEW.context ->> 'parent_job_id') THEN
            'context.parent_job_id names a job of another login; name one of your own'
        WHEN NEW.job_type = 'validator' AND job_is_mine(NEW.context ->> 'parent_job_id') IS NULL THEN
            'context.parent_job_id names no job; name one of your own'
        WHEN NOT job_is_mine(NEW.context ->> 'previous_job_id') THEN
            'context.previous_job_id names a job of another login; name one of your own'
    END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'the job cannot be inserted: %', wrong USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER jobs_are_somebodys BEFORE INSERT ON jobs
    FOR EACH ROW
    WHEN (NEW.created_by IS DISTINCT FROM session_user OR NEW.parent_job_id IS NOT NULL
          OR NEW.idempotency_key LIKE 'on\_complete:%' OR NEW.context ?| '{parent_job_id,previous_job_id}'
          OR NEW.job_type = 'validator')
    EXECUTE FUNCTION jobs_are_somebodys();

-- A job that follows a job which has read text of others, or works on a later version of its documents, begins with
-- what was made of that text. fork_job sets untrusted_step of a fork, by its step.
CREATE FUNCTION jobs_follow_untrusted() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM jobs j
               WHERE j.untrusted_step IS NOT NULL
                 AND (j.id = NEW.parent_job_id
                      OR j.id::text = ANY (ARRAY[lower(NEW.context ->> 'previous_job_id'), lower(NEW.context ->> 'parent_job_id')]))) THEN
        NEW.untrusted_step := 0;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER jobs_follow_untrusted BEFORE INSERT ON jobs
    FOR EACH ROW
    WHEN (NEW.untrusted_step IS NULL AND NEW.forked_step IS NULL
          AND (NEW.parent_job_id IS NOT NULL OR NEW.context ?| '{parent_job_id,previous_job_id}'))
    EXECUTE FUNCTION jobs_follow_untrusted();

CREATE TRIGGER jobs_untrusted_is_not_taken_back BEFORE UPDATE OF untrusted_step ON jobs
    FOR EACH ROW WHEN (NEW.untrusted_step > OLD.untrusted_step OR OLD.untrusted_step IS NOT NULL AND NEW.untrusted_step IS NULL)
    EXECUTE FUNCTION jobs_refuse();

CREATE TRIGGER jobs_created_by_is_not_changed BEFORE UPDATE OF created_by ON jobs
    FOR EACH ROW WHEN (NEW.created_by IS DISTINCT FROM OLD.created_by) EXECUTE FUNCTION jobs_refuse();

-- Checks whose job it is, whether it may still get documents, their number and their total size. SECURITY DEFINER,
-- because enqueuers may not read others' rows. The totals are kept on the job's row: under REPEATABLE READ a session
-- does not see the rows that others add to job_documents, but an update of a row that another session has updated
-- conflicts. The update also keeps the job from being claimed before its documents are there.
CREATE FUNCTION job_documents_belong() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    more record;
    job jobs;
BEGIN
    FOR more IN
        SELECT a.job_id, count(*)::int AS count, sum(octet_length(a.content))::bigint AS bytes
        FROM added a
        GROUP BY a.job_id
        ORDER BY a.job_id
    LOOP
        UPDATE jobs j
        SET documents_count = j.documents_count + more.count, documents_bytes = j.documents_bytes + more.bytes
        WHERE j.id = more.job_id
        RETURNING j.* INTO job;
        IF job.created_by IS DISTINCT FROM session_user AND NOT acts_for_others(session_user) THEN
            RAISE EXCEPTION 'job % is another login''s; give documents to jobs of your own', job.id
                USING ERRCODE = 'insufficient_privilege';
        END IF;
        IF job.lease_epoch > 0 OR job.step > 0 THEN
            RAISE EXCEPTION 'job % has begun; give its documents in the transaction that inserts it', job.id
                USING ERRCODE = 'object_not_in_prerequisite_state';
        END IF;
        IF job.documents_count > 1000 THEN
            RAISE EXCEPTION 'the job has % documents, and takes 1000 at most; split the job', job.documents_count
                USING ERRCODE = 'check_violation', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME,
                      CONSTRAINT = 'jobs_documents_at_most_1000';
        END IF;
        IF job.documents_bytes + coalesce(octet_length(job.document_content), 0) > 268435456 THEN
            RAISE EXCEPTION 'the job''s documents are larger than 256 MiB together; split the job, or put them into the import folder and name it in document_path'
                USING ERRCODE = 'check_violation', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME,
                      CONSTRAINT = 'jobs_documents_at_most_256_mib';
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

CREATE TRIGGER job_documents_belong AFTER INSERT ON job_documents
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION job_documents_belong();

-- False if the login is an enqueuer (own jobs) or an approver (jobs in review) and has no role that reads all jobs.
CREATE FUNCTION sees_every_job() RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT count(*) FILTER (WHERE r.rolname IN ('plumbline_enqueue', 'plumbline_approve')) = 0
        OR count(*) FILTER (WHERE r.rolname NOT IN ('plumbline_enqueue', 'plumbline_approve')) > 0
    FROM pg_roles AS r
    WHERE (r.rolname IN ('plumbline_enqueue', 'plumbline_approve', 'plumbline_steer', 'plumbline_watch', 'plumbline_work')
           OR r.oid = (SELECT c.relowner FROM pg_class AS c WHERE c.oid = 'public.jobs'::regclass))
      AND pg_has_role(session_user, r.oid, 'MEMBER')
$$;

-- SECURITY DEFINER, to see every row. Callers learn nothing of jobs that they may not read.
CREATE FUNCTION may_read_job(job uuid) RETURNS boolean LANGUAGE sql STABLE
SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT sees_every_job() OR EXISTS (
        SELECT FROM jobs j
        WHERE j.id = job
          AND (j.created_by = session_user
               OR j.status = 'review'
                  AND pg_has_role(session_user, (SELECT r.oid FROM pg_roles r WHERE r.rolname = 'plumbline_approve'), 'MEMBER')))
$$;

-- The job that already has an idempotency key; null if there is none. Keys belong to a login: a job of another login
-- with the same key is ignored. If the existing job differs from the one to be inserted, an error says so; otherwise
-- the caller would take its result for that of their own job. Child jobs, which only logins that act for others
-- enqueue, are not compared: their key is unambiguous.
CREATE FUNCTION job_of_key(
    job_type text, key text, prompt text, document_path text, document_name text, document_content bytea, names text[],
    contents bytea[], parent uuid DEFAULT NULL
) RETURNS uuid LANGUAGE plpgsql STABLE
SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    is_follower boolean := job_of_key.parent IS NOT NULL AND acts_for_others(session_user);
    found_job jobs;
    differs text;
BEGIN
    SELECT * INTO found_job
    FROM jobs j
    WHERE j.job_type = job_of_key.job_type AND j.idempotency_key = job_of_key.key
      AND j.created_by = CASE WHEN is_follower THEN (SELECT p.created_by FROM jobs p WHERE p.id = job_of_key.parent)
                              ELSE session_user END;
    IF found_job.id IS NULL OR is_follower THEN
        RETURN found_job.id;
    END IF;
    differs := CASE
        WHEN found_job.prompt IS DISTINCT FROM job_of_key.prompt THEN 'another prompt'
        WHEN found_job.document_path IS DISTINCT FROM job_of_key.document_path THEN 'another document_path'
        WHEN found_job.document_content IS DISTINCT FROM job_of_key.document_content THEN 'another document'
        -- Without a name the document is called `document`; white space around a name does not count.
        WHEN found_job.document_content IS NOT NULL
             AND btrim(coalesce(found_job.context ->> 'document_name', 'document'))
                 <> btrim(coalesce(job_of_key.document_name, 'document')) THEN 'another document_name'
        WHEN ARRAY(SELECT d.name || ' ' || encode(sha256(d.content), 'hex') FROM job_documents d
                   WHERE d.job_id = found_job.id ORDER BY 1)
             <> ARRAY(SELECT g.name || ' ' || encode(sha256(g.content), 'hex')
                      FROM unnest(job_of_key.names, job_of_key.contents) AS g (name, content) ORDER BY 1) THEN 'other documents'
    END;
    IF differs IS NOT NULL THEN
        RAISE EXCEPTION 'job % of type `%` has the idempotency key `%` already, with %; use another key',
            found_job.id, left(found_job.job_type, 200), left(job_of_key.key, 200), differs
            USING ERRCODE = 'unique_violation', SCHEMA = 'public', TABLE = 'jobs', CONSTRAINT = 'jobs_idempotency';
    END IF;
    RETURN found_job.id;
END $$;

-- Whether the job belongs to the login, for the policies of rows that belong to jobs (deploy/roles.sql).
CREATE FUNCTION owns_job(job uuid) RETURNS boolean LANGUAGE sql STABLE
SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM jobs j WHERE j.id = job AND j.created_by = session_user)
$$;

-- Enforces the operator's limit on the waiting jobs of logins. SECURITY DEFINER, and after the change: a session that
-- waits for another one's count sees its rows, and one that cannot see them (REPEATABLE READ) conflicts with it.
CREATE FUNCTION bound_waiting_jobs(logins text[]) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    bound login_limits;
    found_waiting bigint;
BEGIN
    FOR bound IN UPDATE login_limits l SET counted_at = clock_timestamp() WHERE l.login = ANY (logins) RETURNING l.*
    LOOP
        SELECT count(*) INTO found_waiting
        FROM (SELECT FROM jobs j WHERE j.created_by = bound.login AND j.status = 'pending' AND j.step >= 0
              LIMIT bound.waiting + 1) AS those;
        IF found_waiting > bound.waiting THEN
            RAISE EXCEPTION 'login % may have at most % jobs waiting; add more when some have begun, or ask the operator',
                bound.login, bound.waiting
                USING ERRCODE = 'check_violation', SCHEMA = 'public', TABLE = 'jobs',
                      CONSTRAINT = 'jobs_of_login_are_bounded';
        END IF;
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION bound_waiting_jobs(text[]) FROM PUBLIC;

-- Child jobs of the login's jobs are exempt: if one were refused, its parent could not end. Forks have a parent too.
CREATE FUNCTION jobs_of_login_are_bounded() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM bound_waiting_jobs(ARRAY(SELECT i.created_by FROM inserted i
                                     WHERE i.parent_job_id IS NULL OR i.forked_step IS NOT NULL));
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_of_login_are_bounded AFTER INSERT ON jobs REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION jobs_of_login_are_bounded();

CREATE FUNCTION retries_of_login_are_bounded() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM bound_waiting_jobs(ARRAY[NEW.created_by]);
    RETURN NULL;
END $$;

CREATE TRIGGER retries_of_login_are_bounded AFTER UPDATE OF status ON jobs
    FOR EACH ROW
    WHEN (OLD.status IN ('failed', 'cancelled') AND NEW.status = 'pending')
    EXECUTE FUNCTION retries_of_login_are_bounded();

-- The id completes the primary key, which logical replication needs to delete rows.
CREATE TABLE job_commands (
    job_id    uuid NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    command   text NOT NULL,
    arguments jsonb NOT NULL DEFAULT '{}',
    by        text NOT NULL DEFAULT session_user,
    at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    id        uuid NOT NULL DEFAULT uuid_v7(),
    PRIMARY KEY (job_id, id)
);
COMMENT ON TABLE job_commands IS 'One row per steering command: its name, arguments, login and time.';
COMMENT ON COLUMN job_commands.id IS 'Rises with the time.';

-- A plain UPDATE of the status is recorded as a command too, for any login and in any role (SET ROLE). Commands write
-- their own rows. Changes of running jobs by workers are not commands, and neither are claims; workers never cancel a
-- job, and take pending jobs only by a claim.
CREATE FUNCTION jobs_record_update() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO job_commands (job_id, command, arguments) VALUES (NEW.id, 'update', jsonb_build_object('status', NEW.status));
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_record_update AFTER UPDATE OF status ON jobs
    FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status AND NEW.lease_epoch = OLD.lease_epoch
          AND (NOT runs_jobs() OR OLD.status <> 'running' OR NEW.status = 'cancelled')
          AND NOT is_commanded(OLD.id))
    EXECUTE FUNCTION jobs_record_update();
