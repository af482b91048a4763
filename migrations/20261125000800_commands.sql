-- The commands of users. Each one locks the job's row, then either raises an error with the job and its status, or adds
-- a row to job_commands and returns the new status. Parameters have the names of the public interface, hence the
-- qualified references.

-- Enqueuing ---------------------------------------------------------------------------------------------------------

-- The job type of jobs enqueued without one: the column's default, which an operator may change.
CREATE FUNCTION default_job_type() RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    expression text;
    found text;
BEGIN
    SELECT pg_get_expr(d.adbin, d.adrelid) INTO expression
    FROM pg_attrdef d
    JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
    WHERE d.adrelid = 'public.jobs'::regclass AND a.attname = 'job_type';
    IF expression IS NULL THEN
        RETURN 'creator';
    END IF;
    -- Safe to execute: only the table's owner can set a default.
    EXECUTE 'SELECT ' || expression INTO found;
    RETURN found;
END $$;

-- For the table's owner. Takes no lock if the job type is the default already.
CREATE FUNCTION set_default_job_type(job_type text) RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF default_job_type() IS DISTINCT FROM set_default_job_type.job_type THEN
        EXECUTE format('ALTER TABLE jobs ALTER COLUMN job_type SET DEFAULT %L', set_default_job_type.job_type);
    END IF;
END $$;

-- The rows of enqueue_job's documents. Invalid documents raise an error, and no job is enqueued.
CREATE FUNCTION given_documents(documents jsonb) RETURNS TABLE (pos int, name text, content bytea)
LANGUAGE plpgsql IMMUTABLE SET search_path = public, pg_temp AS $$
DECLARE
    document jsonb;
    wrong text;
    seen text[] := '{}';
BEGIN
    IF documents IS NULL OR jsonb_typeof(documents) = 'null' THEN
        RETURN;
    END IF;
    IF jsonb_typeof(documents) <> 'array' THEN
        RAISE EXCEPTION 'documents is no array; give [{"name": "a.pdf", "content": "<base64>"}, …]'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF jsonb_array_length(documents) > 1000 THEN
        RAISE EXCEPTION 'documents has % items, and a job takes 1000 at most; split the job', jsonb_array_length(documents)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    FOR pos, document IN SELECT i.ordinality, i.value FROM jsonb_array_elements(documents) WITH ORDINALITY AS i LOOP
        wrong := CASE
            WHEN jsonb_typeof(document) <> 'object' THEN 'is no object'
            WHEN jsonb_typeof(document -> 'name') IS DISTINCT FROM 'string' THEN 'has no name'
            WHEN btrim(document ->> 'name') = '' THEN 'has an empty name'
            WHEN jsonb_typeof(document -> 'content') IS DISTINCT FROM 'string' THEN 'has no content'
        END;
        IF wrong IS NOT NULL THEN
            RAISE EXCEPTION 'item % of documents %; give {"name": "a.pdf", "content": "<base64>"}', pos, wrong
                USING ERRCODE = 'invalid_parameter_value';
        END IF;
        name := btrim(document ->> 'name');
        -- Some file systems do not distinguish upper and lower case.
        IF lower(name) = ANY (seen) THEN
            RAISE EXCEPTION 'two documents are called `%`; give one of them another name', left(name, 100)
                USING ERRCODE = 'invalid_parameter_value';
        END IF;
        seen := seen || lower(name);
        BEGIN
            content := decode(document ->> 'content', 'base64');
        EXCEPTION WHEN invalid_parameter_value THEN
            RAISE EXCEPTION 'the content of item % of documents (%) is not base64', pos, left(name, 100)
                USING ERRCODE = 'invalid_parameter_value';
        END;
        RETURN NEXT;
    END LOOP;
END $$;

CREATE FUNCTION enqueue_job(
    prompt text,
    job_type text DEFAULT NULL,
    context jsonb DEFAULT '{}',
    document_name text DEFAULT NULL,
    document_content bytea DEFAULT NULL,
    priority int DEFAULT 0,
    run_at timestamptz DEFAULT now(),
    idempotency_key text DEFAULT NULL,
    config jsonb DEFAULT '{}',
    document_path text DEFAULT NULL,
    documents jsonb DEFAULT NULL
) RETURNS uuid LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    full_context jsonb := coalesce(nullif(enqueue_job.context, 'null'), '{}');
    full_type text := coalesce(enqueue_job.job_type, default_job_type());
    found_id uuid;
BEGIN
    IF btrim(full_type) = '' THEN
        RAISE EXCEPTION 'job_type is empty; leave it out for %', default_job_type() USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF enqueue_job.document_name IS NOT NULL THEN
        IF jsonb_typeof(full_context) <> 'object' THEN
            RAISE EXCEPTION 'context is no object, so document_name cannot be stored in it; give an object, e.g. {}'
                USING ERRCODE = 'invalid_parameter_value';
        END IF;
        full_context := full_context || jsonb_build_object('document_name', enqueue_job.document_name);
    END IF;
    LOOP
        INSERT INTO jobs (prompt, job_type, context, document_content, priority, run_at, idempotency_key, config,
                          document_path)
        VALUES (enqueue_job.prompt, full_type, full_context, enqueue_job.document_content,
                coalesce(enqueue_job.priority, 0), coalesce(enqueue_job.run_at, now()), enqueue_job.idempotency_key,
                coalesce(enqueue_job.config, '{}'), enqueue_job.document_path)
        -- No conflict target: the inserting role need not be able to read created_by.
        ON CONFLICT DO NOTHING
        RETURNING id INTO found_id;
        IF found_id IS NOT NULL THEN
            INSERT INTO job_documents (job_id, position, name, content)
            SELECT found_id, d.pos, d.name, d.content FROM given_documents(enqueue_job.documents) d;
            EXIT;
        END IF;
        found_id := job_of_key(full_type, enqueue_job.idempotency_key, enqueue_job.prompt, enqueue_job.document_path,
                               full_context ->> 'document_name', enqueue_job.document_content,
                               ARRAY(SELECT d.name FROM given_documents(enqueue_job.documents) d ORDER BY d.pos),
                               ARRAY(SELECT d.content FROM given_documents(enqueue_job.documents) d ORDER BY d.pos));
        -- Not found: the other job was deleted between the two statements, so insert again.
        EXIT WHEN found_id IS NOT NULL;
    END LOOP;
    RETURN found_id;
END $$;
COMMENT ON FUNCTION enqueue_job(text, text, jsonb, text, bytea, int, timestamptz, text, jsonb, text, jsonb) IS
    'Inserts a job and returns its id; if the login has used the idempotency_key, returns the id of the job that has it.';

-- Steering ----------------------------------------------------------------------------------------------------------
-- The commands are SECURITY DEFINER, so that roles that steer need no privileges on the counters that are reset.

-- The first part of each command: locks the row and returns its status, or raises an error if the command does not work
-- on that status. A null argument is not recorded, but a null within an argument is: it removes a limit.
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
    INSERT INTO job_commands (job_id, command, arguments)
    SELECT job, command, coalesce(jsonb_object_agg(given.key, given.value), '{}')
    FROM jsonb_each(arguments) AS given
    WHERE given.value <> 'null';
    -- The command's changes of the row are recorded (see is_commanded).
    PERFORM set_config('plumbline.command', job::text, true);
    RETURN present;
END $$;

-- The last part of each command.
CREATE FUNCTION command_is_done() RETURNS void LANGUAGE sql AS $$
    SELECT set_config('plumbline.command', '', true)
$$;

CREATE FUNCTION cancel_job(id uuid) RETURNS text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM job_status_for('cancel_job', cancel_job.id, ARRAY['pending', 'running', 'paused', 'review']);
    UPDATE jobs j SET status = 'cancelled' WHERE j.id = cancel_job.id;
    PERFORM command_is_done();
    RETURN 'cancelled';
END $$;

CREATE FUNCTION pause_job(id uuid) RETURNS text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM job_status_for('pause_job', pause_job.id, ARRAY['pending', 'running']);
    UPDATE jobs j SET status = 'paused', status_reason = 'paused by a user' WHERE j.id = pause_job.id;
    PERFORM command_is_done();
    RETURN 'paused';
END $$;

-- The words, or null if they are only white space.
CREATE FUNCTION unless_blank(words text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN words ~ '\S' THEN words END;

-- Ignores blank feedback. The feedback that waits for a job's next step is bounded to 32 texts of 64 KiB, counted on
-- the job's row, which each session must update.
CREATE FUNCTION add_feedback(job uuid, words text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    untaken int;
BEGIN
    IF unless_blank(words) IS NULL THEN
        RETURN;
    END IF;
    UPDATE jobs j SET feedback_untaken = j.feedback_untaken + 1 WHERE j.id = job RETURNING feedback_untaken INTO untaken;
    IF untaken > 32 THEN
        RAISE EXCEPTION 'job % has 32 messages that it has not read yet; send more when it has, or all of it as a document', job
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    -- The lock on the job's row, taken above, lets only one session at a time assign an id.
    INSERT INTO feedback (job_id, id, text)
    SELECT job, coalesce(max(f.id), 0) + 1, words FROM feedback f WHERE f.job_id = job;
END $$;

-- Continues from the last checkpoint, with attempts and crashes reset to 0.
CREATE FUNCTION retry_job(id uuid) RETURNS text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM job_status_for('retry_job', retry_job.id, ARRAY['failed', 'cancelled']);
    UPDATE jobs j
    SET status = 'pending', run_at = now(), attempt = 0, crash_count = 0, error_message = NULL, error_details = NULL
    WHERE j.id = retry_job.id;
    UPDATE job_settings s SET takes_present_tools = true WHERE s.job_id = retry_job.id;
    -- Passages answered by older rules, which counted quotes, are worked on again.
    UPDATE passages p
    SET state = CASE WHEN p.read_step IS NULL THEN 'unread' ELSE 'read' END,
        carried_from = coalesce(p.carried_from, p.answered_by), answered_by = NULL, answered_step = NULL, reason = NULL
    WHERE p.job_id = retry_job.id AND p.state = 'answered' AND p.decided_step IS NULL;
    PERFORM command_is_done();
    RETURN 'pending';
END $$;

-- Enqueues the child job of a completed job, if its configuration names one. A worker that completes a job itself does
-- the same with the same idempotency key, so it happens once. If the job's type records requirements and the job has
-- none to hand over, no validator is enqueued. The connections that the job was given are passed on. SECURITY DEFINER:
-- a role that may approve a job need not be able to read its settings.
CREATE FUNCTION enqueue_follower(job uuid) RETURNS void LANGUAGE sql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
    INSERT INTO jobs (prompt, job_type, context, config, parent_job_id, idempotency_key)
    SELECT format('Check and integrate the requirements of job %s.', j.id),
           s.resolved #>> '{config,on_complete,enqueue}', jsonb_build_object('parent_job_id', j.id),
           CASE WHEN j.config ? 'connections' THEN jsonb_build_object('connections', j.config -> 'connections') ELSE '{}' END,
           j.id,
           'on_complete:' || j.id
    FROM jobs j
    JOIN job_settings s ON s.job_id = j.id
    WHERE j.id = job AND j.status = 'completed' AND s.resolved #>> '{config,on_complete,enqueue}' IS NOT NULL
      AND (NOT s.resolved @@ '$.config.tools.*[*] == "add_requirement"'
           OR EXISTS (SELECT FROM requirement_cache r WHERE r.job_id = j.id AND r.status = 'pending'))
    ON CONFLICT (created_by, job_type, idempotency_key) DO NOTHING
$$;

CREATE FUNCTION approve_job(id uuid) RETURNS text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM job_status_for('approve_job', approve_job.id, ARRAY['review']);
    UPDATE jobs j SET status = 'completed' WHERE j.id = approve_job.id;
    PERFORM command_is_done();
    PERFORM enqueue_follower(approve_job.id);
    RETURN 'completed';
END $$;

-- A running job takes the text in at its next step; a job in review becomes pending.
CREATE FUNCTION send_feedback(id uuid, text text) RETURNS text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    present text;
BEGIN
    present := job_status_for('send_feedback', send_feedback.id, ARRAY['pending', 'running', 'paused', 'review'],
                              jsonb_build_object('text', send_feedback.text));
    IF unless_blank(send_feedback.text) IS NULL THEN
        RAISE EXCEPTION 'job % is %: send_feedback needs a text', send_feedback.id, present
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM add_feedback(send_feedback.id, send_feedback.text);
    IF present = 'review' THEN
        UPDATE jobs j SET status = 'pending', run_at = greatest(j.run_at, now()) WHERE j.id = send_feedback.id;
        present := 'pending';
    END IF;
    PERFORM command_is_done();
    RETURN present;
END $$;

-- Limits ------------------------------------------------------------------------------------------------------------
-- resume_job raises the limits of one job: they replace those of its configuration, beyond the operator's bound and up
-- to the ceiling of its job type. The function rejects invalid limits at once; the worker's check when the job
-- continues is the authoritative one.

-- The limits of a configuration, as in configs/schema.json.
CREATE FUNCTION limit_rules() RETURNS TABLE (key text, at_least numeric, at_most numeric, whole boolean, optional boolean)
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    VALUES ('max_iterations', 1, 1000000000, true, false),
           ('context_threshold_tokens', 512, 4294967295, true, false),
           ('keep_recent_tool_results', 0, 4294967295, true, false),
           ('max_tool_result_tokens', 64, 4294967295, true, false),
           ('tool_retries', 0, 100, true, false),
           ('tool_timeout_s', 1, 86400, true, false),
           ('token_budget', 1, 1000000000000, true, true),
           ('cost_budget_usd', 0, 1000000000, false, true),
           ('deadline_s', 1, 315360000, true, true),
           ('turns_without_tool_call', 1, 1000000, true, false),
           ('repeated_calls.nudge', 2, 1000000, true, false),
           ('repeated_calls.refuse', 2, 1000000, true, false),
           ('repeated_calls.replan', 2, 1000000, true, false),
           ('turns_without_progress', 1, 1000000, true, false),
           ('approval_expires_s', 1, 31536000, true, false)
$$;

-- Limits, with the keys of nested ones joined by dots.
CREATE FUNCTION flat_limits(limits jsonb) RETURNS TABLE (key text, value jsonb)
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT one.key, one.value
    FROM jsonb_each(limits) AS one
    WHERE one.key <> 'repeated_calls' OR jsonb_typeof(one.value) <> 'object'
    UNION ALL
    SELECT 'repeated_calls.' || one.key, one.value
    FROM jsonb_each(CASE jsonb_typeof(limits -> 'repeated_calls')
                        WHEN 'object' THEN limits -> 'repeated_calls'
                        ELSE '{}'
                    END) AS one
$$;

-- The limit whose key is most similar to a wrong one, by shared pairs of letters; null if none is similar.
CREATE FUNCTION nearest_limit(word text) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = public, pg_temp AS $$
    SELECT r.key
    FROM limit_rules() AS r
    CROSS JOIN LATERAL (
        SELECT 2.0 * count(*) / greatest(length(r.key) + length(word) - 2, 1) AS alike
        FROM (
            SELECT substr(r.key, n, 2) FROM generate_series(1, length(r.key) - 1) AS n
            INTERSECT
            SELECT substr(lower(word), n, 2) FROM generate_series(1, length(word) - 1) AS n
        ) AS shared
    ) AS s
    WHERE s.alike >= 0.4
    ORDER BY s.alike DESC, r.key
    LIMIT 1
$$;

-- What is wrong with the limits, as the end of a sentence; null if they are valid. A few keys take one of several
-- words, not a number.
CREATE FUNCTION wrong_limit(limits jsonb, ceiling jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE
SET search_path = public, pg_temp AS $$
DECLARE
    given record;
    rule record;
    number numeric;
    most numeric;
    words text[];
BEGIN
    IF jsonb_typeof(limits) <> 'object' THEN
        RETURN 'limits must be an object of limits, e.g. {"cost_budget_usd": 2}';
    END IF;
    -- A key with a dot would be taken for a nested one, and no program would read it.
    IF jsonb_typeof(limits -> 'repeated_calls') <> 'object'
       OR EXISTS (SELECT FROM jsonb_object_keys(limits) AS one WHERE one LIKE 'repeated_calls.%') THEN
        RETURN 'limits of repeated calls are given within each other, e.g. {"repeated_calls": {"nudge": 5}}';
    END IF;
    FOR given IN SELECT left(l.key, 100) AS key, l.value FROM flat_limits(limits) AS l ORDER BY l.key LOOP
        words := CASE given.key
            WHEN 'on_tool_failure' THEN '{continue,stop}'
            WHEN 'closed_todos' THEN '{keep,drop}'
        END;
        IF words IS NOT NULL THEN
            IF jsonb_typeof(given.value) <> 'string' OR (given.value #>> '{}') <> ALL (words) THEN
                RETURN format('`%s` must be `%s`', given.key, array_to_string(words, '` or `'));
            END IF;
            CONTINUE;
        END IF;
        SELECT * INTO rule FROM limit_rules() AS r WHERE r.key = given.key;
        IF NOT FOUND THEN
            RETURN format('there is no limit `%s`; %s', given.key,
                coalesce('did you mean `' || nearest_limit(given.key) || '`?',
                         'known are ' || (SELECT string_agg(r.key, ', ') FROM limit_rules() AS r)));
        END IF;
        most := (SELECT (c.value #>> '{}')::numeric FROM flat_limits(coalesce(ceiling, '{}')) AS c
                 WHERE c.key = given.key AND jsonb_typeof(c.value) = 'number');
        IF given.value = 'null' AND rule.optional THEN
            IF most IS NOT NULL THEN
                RETURN format('no `%s` at all is above the %s of `limits_ceiling` of its job type', given.key, most);
            END IF;
            CONTINUE;
        END IF;
        number := CASE WHEN jsonb_typeof(given.value) = 'number' THEN (given.value #>> '{}')::numeric END;
        -- The readers of an integer limit reject 5.0.
        IF number IS NULL OR rule.whole AND given.value::text !~ '^-?[0-9]+$' THEN
            RETURN format('`%s` must be a %s', given.key, CASE WHEN rule.whole THEN 'whole number' ELSE 'number' END);
        ELSIF number < rule.at_least THEN
            RETURN format('`%s` must be at least %s', given.key, rule.at_least);
        ELSIF number > rule.at_most THEN
            RETURN format('`%s` must be at most %s', given.key, rule.at_most);
        ELSIF number > most THEN
            RETURN format('`%s` of %s is above the %s of `limits_ceiling` of its job type', given.key, number, most);
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

-- Why a job would pause again at once; null if it would not: the limit that paused it is not among those given, or a
-- given limit is used up already.
CREATE FUNCTION still_used_up(job jobs, raised jsonb) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('it has %s already, and would pause again at once; raise %s further', used, key)
    FROM (VALUES
        ('cost_budget_usd', job.cost_usd, format('cost %s USD', trim_scale(job.cost_usd))),
        ('token_budget', job.total_tokens_used::numeric, format('used %s tokens', job.total_tokens_used)),
        ('max_iterations', job.total_requests::numeric, format('made %s requests', job.total_requests)),
        -- Without the time that the job has waited for people.
        ('deadline_s', extract(epoch FROM coalesce(job.waits_since, now()) - job.started_at) - job.waited_s, 'had more time')
    ) AS limits (key, amount, used)
    WHERE (raised ->> key)::numeric <= amount
    UNION ALL
    SELECT job.status_reason || '; as it is, it would pause again at once'
    WHERE job.status = 'paused' AND job.status_reason LIKE '%; raise it with `plumbline resume%'
      AND NOT EXISTS (SELECT FROM jsonb_object_keys(coalesce(raised, '{}')) AS key
                      WHERE position(format('"%s"', key) IN job.status_reason) > 0)
    LIMIT 1
$$;

CREATE FUNCTION resume_job(id uuid, feedback text DEFAULT NULL, limits jsonb DEFAULT NULL) RETURNS text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    raised jsonb := nullif(resume_job.limits, 'null');
    present text;
    wrong text;
BEGIN
    present := job_status_for('resume_job', resume_job.id, ARRAY['paused', 'review'],
                              jsonb_build_object('feedback', unless_blank(resume_job.feedback), 'limits', raised));
    IF raised IS NOT NULL THEN
        -- The ceiling as reported by the worker that started last.
        wrong := wrong_limit(raised, (
            SELECT w.limits_ceilings -> j.job_type
            FROM jobs j
            JOIN workers w ON j.job_type = ANY (w.job_types)
            WHERE j.id = resume_job.id
            ORDER BY w.started_at DESC
            LIMIT 1));
        IF wrong IS NOT NULL THEN
            RAISE EXCEPTION 'job % is %: %', resume_job.id, present, wrong USING ERRCODE = 'invalid_parameter_value';
        END IF;
    END IF;
    wrong := (SELECT still_used_up(j, raised) FROM jobs j WHERE j.id = resume_job.id);
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'job % is %: %', resume_job.id, present, wrong USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    -- Limits that the worker could not use are replaced, not extended: extended, they would be rejected again forever.
    UPDATE jobs j
    SET raised_limits = CASE WHEN j.status_reason LIKE 'the limits given to resume\_job cannot be used: %' THEN raised
        ELSE coalesce(j.raised_limits, '{}') || raised
            || CASE WHEN raised ? 'repeated_calls' THEN jsonb_build_object('repeated_calls',
                   coalesce(j.raised_limits -> 'repeated_calls', '{}') || (raised -> 'repeated_calls')) ELSE '{}' END
        END
    WHERE j.id = resume_job.id
      AND (raised IS NOT NULL OR j.status_reason LIKE 'the limits given to resume\_job cannot be used: %');
    PERFORM add_feedback(resume_job.id, resume_job.feedback);
    UPDATE jobs j SET status = 'pending', run_at = greatest(j.run_at, now()) WHERE j.id = resume_job.id;
    PERFORM command_is_done();
    RETURN 'pending';
END $$;

REVOKE EXECUTE ON FUNCTION cancel_job(uuid), pause_job(uuid), resume_job(uuid, text, jsonb), retry_job(uuid), approve_job(uuid),
    send_feedback(uuid, text) FROM PUBLIC;
