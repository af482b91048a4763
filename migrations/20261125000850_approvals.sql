-- Calls that people decide on. The commit that parks a job requests the approval of its calls here, and the job is in
-- review until none of its rows is pending. An approved call is made once: the commit before it sets executed, under
-- the job's fence, and is refused if the row is no longer what was approved. Writers lock the job's row first.

CREATE TABLE approvals (
    id               uuid PRIMARY KEY DEFAULT uuid_v7(),
    job_id           uuid NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    step             bigint NOT NULL,
    call_id          text NOT NULL,
    tool             text NOT NULL,
    tool_sha256      bytea NOT NULL CHECK (octet_length(tool_sha256) = 32),
    arguments        jsonb NOT NULL,
    arguments_sha256 bytea NOT NULL CHECK (octet_length(arguments_sha256) = 32),
    shown            text NOT NULL,
    state            text NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'approved', 'rejected', 'expired', 'executed', 'void')),
    edited_arguments jsonb,
    edited_sha256    bytea,
    reason           text,
    outcome          text CHECK (outcome IN ('ok', 'error', 'in doubt')),
    requested_at     timestamptz NOT NULL DEFAULT now(),
    expires_at       timestamptz NOT NULL,
    decided_at       timestamptz,
    decided_by       text,
    decided_via      text CHECK (decided_via IN ('sql', 'command', 'http', 'mcp', 'grant')),
    executed_step    bigint,
    CONSTRAINT approvals_executed_has_step CHECK ((state = 'executed') = (executed_step IS NOT NULL)),
    CONSTRAINT approvals_outcome_is_of_executed CHECK (outcome IS NULL OR state = 'executed'),
    -- Workers may set the state but none of these columns, so they cannot approve.
    CONSTRAINT approvals_are_decided_by_somebody
        CHECK (state NOT IN ('approved', 'rejected', 'executed')
               OR (decided_by IS NOT NULL AND decided_via IS NOT NULL AND decided_at IS NOT NULL))
);
COMMENT ON TABLE approvals IS 'One row per time that a decision on a call was requested: approve_call, reject_call and edit_call decide it.';
COMMENT ON COLUMN approvals.id IS 'What approve_call, reject_call and edit_call take.';
COMMENT ON COLUMN approvals.job_id IS 'The job that asks.';
COMMENT ON COLUMN approvals.tool IS 'The tool that it calls.';
COMMENT ON COLUMN approvals.requested_at IS 'When it was asked for.';
COMMENT ON COLUMN approvals.decided_at IS 'When it was decided, or expired undecided.';
COMMENT ON COLUMN approvals.decided_via IS 'How it was decided: sql, command, http, mcp or grant.';
COMMENT ON COLUMN approvals.step IS 'The step that asked.';
COMMENT ON COLUMN approvals.call_id IS 'The call in the conversation (messages.tool_calls).';
COMMENT ON COLUMN approvals.tool_sha256 IS 'Of the tool''s name, description, schema and address, as JSON by RFC 8785.';
COMMENT ON COLUMN approvals.arguments IS 'What the model wants the call to be made with.';
COMMENT ON COLUMN approvals.arguments_sha256 IS 'Of the arguments as JSON by RFC 8785.';
COMMENT ON COLUMN approvals.shown IS 'The whole of the arguments for people to read; characters that hide something are written \u….';
COMMENT ON COLUMN approvals.state IS
    'pending: waits for a decision. approved: may be made once. rejected, expired: is not made. executed: was sent, see outcome. '
    'void: its job ended, or it is no longer what was decided on.';
COMMENT ON COLUMN approvals.edited_arguments IS 'What the call is made with in place of arguments; given to edit_call.';
COMMENT ON COLUMN approvals.edited_sha256 IS 'Of edited_arguments, set with executed.';
COMMENT ON COLUMN approvals.reason IS 'The reason for the decision; in a row that asks again, what was wrong with the changed arguments.';
COMMENT ON COLUMN approvals.outcome IS
    'Of an executed call: ok, error, or in doubt where its worker was lost before the result; null before there is any.';
COMMENT ON COLUMN approvals.expires_at IS 'After this time nothing is decided and nothing is made.';
COMMENT ON COLUMN approvals.decided_by IS 'The login that decided; of a call that a grant has approved, the login that granted.';
COMMENT ON COLUMN approvals.executed_step IS 'The step that was committed before the call was made.';

-- A call has at most one open request.
CREATE UNIQUE INDEX approvals_open ON approvals (job_id, call_id) WHERE state IN ('pending', 'approved');
CREATE INDEX approvals_of_job ON approvals (job_id, id);
CREATE INDEX approvals_waiting ON approvals (requested_at) WHERE state = 'pending';
CREATE INDEX approvals_expiring ON approvals (expires_at) WHERE state IN ('pending', 'approved');

-- A decision is final, for all roles.
CREATE FUNCTION approvals_refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'call % of job % is % and cannot become %', OLD.id, OLD.job_id, OLD.state, NEW.state
        USING ERRCODE = 'object_not_in_prerequisite_state';
END $$;

CREATE TRIGGER approvals_change_state BEFORE UPDATE OF state ON approvals
    FOR EACH ROW
    WHEN (OLD.state IS DISTINCT FROM NEW.state
          AND NOT (OLD.state = 'pending' AND NEW.state IN ('approved', 'rejected', 'expired', 'void')
                   OR OLD.state = 'approved' AND NEW.state IN ('executed', 'expired', 'void')))
    EXECUTE FUNCTION approvals_refuse();

CREATE TABLE approval_grants (
    job_id      uuid NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    tool        text NOT NULL,
    tool_sha256 bytea,
    remaining   int NOT NULL CHECK (remaining >= 0),
    granted_by  text NOT NULL DEFAULT session_user,
    granted_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (job_id, tool)
);
COMMENT ON TABLE approval_grants IS 'How many of the next calls of a tool in a job are approved without a decision; see grant_calls.';
COMMENT ON COLUMN approval_grants.tool_sha256 IS 'The tool for which it holds, as in approvals; null until the tool is first asked for.';
COMMENT ON COLUMN approval_grants.job_id IS 'The job whose calls it approves.';
COMMENT ON COLUMN approval_grants.tool IS 'The tool whose calls it approves.';
COMMENT ON COLUMN approval_grants.granted_by IS 'The login that granted.';
COMMENT ON COLUMN approval_grants.granted_at IS 'When.';
COMMENT ON COLUMN approval_grants.remaining IS 'Calls that it still approves.';

-- Waiting -----------------------------------------------------------------------------------------------------------

-- What a job waits for, in the words of its status_reason; null if no call is pending.
CREATE FUNCTION waits_for_calls(job uuid) RETURNS text LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT format('waits for approval of %s (call %s)', a.tool, a.call_id)
        || CASE WHEN count(*) OVER () > 1 THEN format(' and %s more', count(*) OVER () - 1) ELSE '' END
    FROM approvals a
    WHERE a.job_id = job AND a.state = 'pending'
    ORDER BY a.id
    LIMIT 1
$$;

-- While a call is pending, only the decision continues its job, not approve_job, resume_job, send_feedback or UPDATE.
CREATE FUNCTION jobs_wait_for_decisions() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    waits text := waits_for_calls(OLD.id);
BEGIN
    IF waits IS NOT NULL THEN
        RAISE EXCEPTION 'job % is % and cannot become %: it %; decide with approve_call, reject_call or edit_call, or use cancel_job',
            OLD.id, OLD.status, NEW.status, waits USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER jobs_wait_for_decisions BEFORE UPDATE OF status ON jobs
    FOR EACH ROW WHEN (OLD.status = 'review' AND NEW.status IN ('pending', 'completed'))
    EXECUTE FUNCTION jobs_wait_for_decisions();

-- Requests, approvals and grants end with their job: a retry requests approval again.
CREATE FUNCTION jobs_void_calls() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE approvals a
    SET state = 'void', reason = format('the job became %s', NEW.status)
    WHERE a.job_id = NEW.id AND a.state IN ('pending', 'approved');
    UPDATE approval_grants g SET remaining = 0 WHERE g.job_id = NEW.id AND g.remaining > 0;
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_void_calls AFTER UPDATE OF status ON jobs
    FOR EACH ROW WHEN (OLD.completed_at IS NULL AND NEW.completed_at IS NOT NULL)
    EXECUTE FUNCTION jobs_void_calls();

-- Requires the lock on the job's row. The job continues if none of its calls is pending; otherwise its row names one.
CREATE FUNCTION calls_are_decided(job uuid) RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    waits text := waits_for_calls(job);
BEGIN
    PERFORM set_config('plumbline.command', job::text, true);
    UPDATE jobs j
    SET status = CASE WHEN waits IS NULL THEN 'pending' ELSE j.status END, status_reason = waits,
        run_at = greatest(j.run_at, now())
    WHERE j.id = job AND j.status = 'review';
    PERFORM command_is_done();
END $$;

-- Deciding ----------------------------------------------------------------------------------------------------------

-- Implements approve_call, reject_call and edit_call. via: sql or command.
CREATE FUNCTION decide_call(id uuid, decision text, reason text, arguments jsonb, via text) RETURNS text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    command text := decide_call.decision || '_call';
    becomes text := CASE decide_call.decision WHEN 'approve' THEN 'approved' WHEN 'edit' THEN 'approved' WHEN 'reject' THEN 'rejected' END;
    found_call approvals;
    job_status text;
    wrong text;
BEGIN
    -- The job's row before the call's: the lock order of every step.
    SELECT j.status INTO job_status
    FROM jobs j
    WHERE j.id = (SELECT a.job_id FROM approvals a WHERE a.id = decide_call.id)
    FOR UPDATE;
    SELECT * INTO found_call FROM approvals a WHERE a.id = decide_call.id FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no call % that was asked for; the table approvals lists those that wait', coalesce(decide_call.id::text, 'null')
            USING ERRCODE = 'no_data_found';
    END IF;
    IF found_call.state <> 'pending' THEN
        RAISE EXCEPTION 'call % (%) of job %, which is %, is %: % works on a call that is pending', found_call.id, found_call.tool,
            found_call.job_id, job_status, found_call.state, command USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    wrong := CASE
        WHEN becomes IS NULL OR via NOT IN ('sql', 'command') THEN 'use approve_call, reject_call or edit_call'
        WHEN octet_length(decide_call.reason) > 65536 THEN 'the reason is larger than 64 KiB; say it shorter'
        WHEN decision = 'edit' AND jsonb_typeof(decide_call.arguments) IS DISTINCT FROM 'object' THEN
            'the arguments are no object; give all of them, e.g. {"url": "https://example.org"}'
        WHEN decision = 'edit' AND octet_length(decide_call.arguments::text) > 65536 THEN
            'the arguments are larger than 64 KiB; make them smaller'
    END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'call % (%) of job % is pending: %', found_call.id, found_call.tool, found_call.job_id, wrong
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    INSERT INTO job_commands (job_id, command, arguments)
    VALUES (found_call.job_id, command, jsonb_strip_nulls(jsonb_build_object(
        'id', found_call.id, 'tool', found_call.tool, 'reason', decide_call.reason)) || CASE
        WHEN decision = 'edit' THEN jsonb_build_object('arguments', decide_call.arguments) ELSE '{}' END);
    IF found_call.expires_at <= clock_timestamp() THEN
        becomes := 'expired';
    END IF;
    UPDATE approvals a
    SET state = becomes,
        reason = CASE WHEN becomes = 'rejected' THEN decide_call.reason ELSE a.reason END,
        edited_arguments = CASE WHEN becomes = 'approved' THEN decide_call.arguments END,
        decided_at = clock_timestamp(),
        decided_by = CASE WHEN becomes <> 'expired' THEN session_user END,
        decided_via = CASE WHEN becomes <> 'expired' THEN via END,
        -- An approval at the last moment still leaves time for the call.
        expires_at = CASE WHEN becomes = 'approved' THEN greatest(a.expires_at, clock_timestamp() + interval '1 hour')
                          ELSE a.expires_at END
    WHERE a.id = found_call.id;
    PERFORM calls_are_decided(found_call.job_id);
    RETURN becomes;
END $$;
COMMENT ON FUNCTION decide_call(uuid, text, text, jsonb, text) IS 'Internal: what approve_call, reject_call and edit_call do.';

CREATE FUNCTION approve_call(id uuid) RETURNS text LANGUAGE sql SET search_path = public, pg_temp AS $$
    SELECT decide_call(approve_call.id, 'approve', NULL, NULL, 'sql')
$$;
COMMENT ON FUNCTION approve_call(uuid) IS 'Approves a pending call, which is then made once; returns its state.';

CREATE FUNCTION reject_call(id uuid, reason text) RETURNS text LANGUAGE sql SET search_path = public, pg_temp AS $$
    SELECT decide_call(reject_call.id, 'reject', reject_call.reason, NULL, 'sql')
$$;
COMMENT ON FUNCTION reject_call(uuid, text) IS 'Rejects a pending call; the model reads the reason. Returns its state.';

CREATE FUNCTION edit_call(id uuid, arguments jsonb) RETURNS text LANGUAGE sql SET search_path = public, pg_temp AS $$
    SELECT decide_call(edit_call.id, 'edit', NULL, edit_call.arguments, 'sql')
$$;
COMMENT ON FUNCTION edit_call(uuid, jsonb) IS
    'Approves a pending call with other arguments, all of them in one object; where they do not fit the tool, the call is asked '
    'for again. Returns its state.';

-- Requires the lock on the job's row. Grants approve pending calls in the order of the calls. A row that requests
-- approval again is left to a person. If the tool was not requested before, its digest is unknown, and the first use
-- sets it.
CREATE FUNCTION use_grants(job uuid) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    asked approvals;
    giver text;
BEGIN
    FOR asked IN
        SELECT * FROM approvals a WHERE a.job_id = job AND a.state = 'pending' AND a.reason IS NULL ORDER BY a.id
    LOOP
        UPDATE approval_grants g
        SET remaining = g.remaining - 1, tool_sha256 = asked.tool_sha256
        WHERE g.job_id = job AND g.tool = asked.tool AND g.remaining > 0
          AND coalesce(g.tool_sha256, asked.tool_sha256) = asked.tool_sha256
        RETURNING g.granted_by INTO giver;
        IF FOUND THEN
            UPDATE approvals a
            SET state = 'approved', decided_at = clock_timestamp(), decided_by = giver, decided_via = 'grant',
                expires_at = greatest(a.expires_at, clock_timestamp() + interval '1 hour')
            WHERE a.id = asked.id;
        END IF;
    END LOOP;
END $$;

CREATE FUNCTION grant_calls(job uuid, tool text, count int) RETURNS text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    present text;
BEGIN
    present := job_status_for('grant_calls', grant_calls.job, ARRAY['pending', 'running', 'paused', 'review'],
                              jsonb_build_object('tool', grant_calls.tool, 'count', grant_calls.count));
    IF coalesce(btrim(grant_calls.tool), '') = '' OR octet_length(grant_calls.tool) > 1024
       OR coalesce(grant_calls.count, 0) NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'job % is %: grant_calls needs a tool''s name and a count of 1 to 1000', grant_calls.job, present
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    INSERT INTO approval_grants AS g (job_id, tool, tool_sha256, remaining)
    VALUES (grant_calls.job, grant_calls.tool,
            (SELECT a.tool_sha256 FROM approvals a WHERE a.job_id = grant_calls.job AND a.tool = grant_calls.tool
             ORDER BY a.id DESC LIMIT 1),
            grant_calls.count)
    ON CONFLICT (job_id, tool) DO UPDATE
    SET remaining = least(g.remaining + excluded.remaining, 1000), tool_sha256 = excluded.tool_sha256,
        granted_by = excluded.granted_by, granted_at = excluded.granted_at;
    PERFORM use_grants(grant_calls.job);
    PERFORM calls_are_decided(grant_calls.job);
    SELECT j.status INTO present FROM jobs j WHERE j.id = grant_calls.job;
    RETURN present;
END $$;
COMMENT ON FUNCTION grant_calls(uuid, text, int) IS
    'Approves the next count calls of a tool in a job, those that wait first; returns the job''s status.';

-- Called by the sweep: rows past expires_at expire, and jobs that waited only for them continue. A locked job is left
-- to the next sweep.
CREATE FUNCTION expire_calls(most int) RETURNS int LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    job uuid;
    jobs_seen int := 0;
BEGIN
    FOR job IN
        SELECT j.id
        FROM jobs j
        WHERE j.id = ANY (ARRAY(SELECT DISTINCT a.job_id FROM approvals a
                                WHERE a.state IN ('pending', 'approved') AND a.expires_at <= now() LIMIT most))
        ORDER BY j.id
        FOR UPDATE SKIP LOCKED
    LOOP
        UPDATE approvals a
        SET state = 'expired', decided_at = coalesce(a.decided_at, clock_timestamp())
        WHERE a.job_id = job AND a.state IN ('pending', 'approved') AND a.expires_at <= now();
        PERFORM calls_are_decided(job);
        jobs_seen := jobs_seen + 1;
    END LOOP;
    RETURN jobs_seen;
END $$;

REVOKE EXECUTE ON FUNCTION decide_call(uuid, text, text, jsonb, text), use_grants(uuid), grant_calls(uuid, text, int),
    expire_calls(int) FROM PUBLIC;
