-- What a run is rebuilt from: settings, conversation, plan, checkpoints, feedback; and what each model request cost.
-- Everything is appended or, for todos and phases, closed: a step writes what is new, never what was there.
--
-- The tables that only workers write have no foreign key to jobs. A key makes each insert of a step look its job up and lock
-- the row again: more work for the server than the inserts themselves. The step knows already: its fence has updated the
-- job's row in the same statement, so the row is there and nobody can delete it before the commit; a claim locks the jobs
-- whose attempts it opens. A DELETE that came first makes the fence wait and then find nothing. That all rows have their job
-- is one of the invariants that `doctor --invariants` checks; what goes with a job is in the last chapter.

-- Stored once when the job first starts, never copied into steps.
CREATE TABLE job_settings (
    job_id     uuid PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
    resolved   jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE job_settings IS 'The configuration with which a job began, prompts included.';

CREATE TABLE messages (
    job_id       uuid NOT NULL,
    seq          bigint NOT NULL,
    step         bigint NOT NULL,
    phase_number int NOT NULL,
    role         text NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),
    kind         text NOT NULL,
    content      text NOT NULL,
    -- json and not jsonb: the provider gets back the text it sent, byte for byte.
    tool_calls   json,
    tool_call_id text,
    extra        json,
    tokens       int NOT NULL,
    cleared_step bigint,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (job_id, seq)
);
COMMENT ON TABLE messages IS 'The conversation, a row a message.';
COMMENT ON COLUMN messages.cleared_step IS 'The step from which the model no longer gets this result''s text.';
-- A trace reads a few steps at a time.
CREATE INDEX messages_by_step ON messages (job_id, step);

CREATE TABLE phases (
    job_id       uuid NOT NULL,
    phase_number int NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('strategic', 'tactical')),
    name         text NOT NULL,
    outcome      text CHECK (outcome IN ('completed', 'rewound', 'forced')),
    opened_step  bigint NOT NULL,
    closed_step  bigint,
    started_at   timestamptz NOT NULL DEFAULT now(),
    ended_at     timestamptz,
    PRIMARY KEY (job_id, phase_number)
);
COMMENT ON TABLE phases IS 'The phases of a job, the present one without an outcome.';

CREATE TABLE todos (
    job_id       uuid NOT NULL,
    phase_number int NOT NULL,
    position     int NOT NULL CHECK (position >= 1),
    content      text NOT NULL,
    status       text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'in_progress', 'completed', 'abandoned')),
    notes        text,
    created_step bigint NOT NULL,
    closed_step  bigint,
    created_at   timestamptz NOT NULL DEFAULT now(),
    completed_at timestamptz,
    unevidenced  boolean NOT NULL DEFAULT false,
    passages     int[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (job_id, phase_number, position)
);
COMMENT ON COLUMN todos.passages IS 'The passages that it works through: while some of them are open it is not closed at the first word.';
COMMENT ON COLUMN todos.unevidenced IS 'Closed although the phase had had fewer effects than todos that the model closed, this one included.';
COMMENT ON TABLE todos IS 'The todo list of each phase; those of the number after the present phase''s are written ahead.';

-- Almost every row says itself from which step to which it holds, which is what a fork copies. A todo list that is written
-- anew does not: its earlier entries are kept here.
CREATE TABLE replaced_todos (
    job_id        uuid NOT NULL,
    phase_number  int NOT NULL,
    position      int NOT NULL,
    -- The first step in which the entry no longer stood.
    replaced_step bigint NOT NULL,
    content       text NOT NULL,
    status        text NOT NULL,
    notes         text,
    created_step  bigint NOT NULL,
    closed_step   bigint,
    created_at    timestamptz NOT NULL,
    completed_at  timestamptz,
    passages      int[] NOT NULL,
    PRIMARY KEY (job_id, phase_number, position, replaced_step)
);

-- The step comes from the job's row: a step's fence has counted it up before anything else is written. While the job
-- itself is being deleted there is no such row, and nothing to keep. Two lists within one step: the earlier one stood
-- in the last checkpoint, the later one in none.
CREATE FUNCTION todos_keep_replaced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO replaced_todos (job_id, phase_number, position, replaced_step, content, status, notes, created_step,
                                closed_step, created_at, completed_at, passages)
    SELECT OLD.job_id, OLD.phase_number, OLD.position, j.step, OLD.content, OLD.status, OLD.notes, OLD.created_step,
           OLD.closed_step, OLD.created_at, OLD.completed_at, OLD.passages
    FROM jobs j
    WHERE j.id = OLD.job_id
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER todos_keep_changed AFTER UPDATE OF content, passages ON todos
    FOR EACH ROW WHEN ((OLD.content, OLD.passages) IS DISTINCT FROM (NEW.content, NEW.passages)) EXECUTE FUNCTION todos_keep_replaced();
CREATE TRIGGER todos_keep_deleted AFTER DELETE ON todos
    FOR EACH ROW EXECUTE FUNCTION todos_keep_replaced();

CREATE TABLE checkpoints (
    job_id       uuid NOT NULL,
    step         bigint NOT NULL,
    phase_number int NOT NULL,
    phase        text CHECK (phase IN ('strategic', 'tactical')),
    state        jsonb,
    lease_epoch  bigint NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (job_id, step)
);
COMMENT ON TABLE checkpoints IS 'A row a committed step.';
COMMENT ON COLUMN checkpoints.state IS
    'Small, and does not grow with the job; null where it was given up: old, between two phases'' beginnings, and none of the kept ones.';

-- The key begins with the step, by which they are read a page at a time.
CREATE TABLE llm_requests (
    job_id            uuid NOT NULL,
    id                uuid NOT NULL,
    step              bigint NOT NULL,
    model             text NOT NULL,
    purpose           text NOT NULL,
    prompt_tokens     bigint NOT NULL,
    cached_tokens     bigint NOT NULL,
    completion_tokens bigint NOT NULL,
    estimated         boolean NOT NULL,
    duration_ms       bigint NOT NULL,
    attempt           int NOT NULL,
    finish_reason     text,
    error             text,
    failure_class     text,
    raw_usage         jsonb,
    created_at        timestamptz NOT NULL,
    api               text,
    endpoint          text,
    cache_write_tokens bigint NOT NULL DEFAULT 0,
    reasoning_tokens  bigint NOT NULL DEFAULT 0,
    service_tier      text,
    fallback          boolean NOT NULL DEFAULT false,
    cost_usd          numeric NOT NULL DEFAULT 0,
    PRIMARY KEY (job_id, step, id)
);
COMMENT ON TABLE llm_requests IS 'A row a request to the model, failed ones too.';
COMMENT ON COLUMN llm_requests.estimated IS 'Whether the provider left its usage out and the counts are ours.';
COMMENT ON COLUMN llm_requests.finish_reason IS
    'The provider''s word for why the answer ended; refusal where it says so in a field of its own.';
COMMENT ON COLUMN llm_requests.failure_class IS
    'Of a request that failed: transient, rate_limited, overloaded, quota, unauthorized, context_too_long, refused, malformed or permanent.';
COMMENT ON COLUMN llm_requests.api IS 'The wire protocol: chat, responses or messages; null where nothing could be sent.';
COMMENT ON COLUMN llm_requests.endpoint IS 'Scheme and host that were asked, and the port where it is not the scheme''s own.';
COMMENT ON COLUMN llm_requests.cache_write_tokens IS 'Of the prompt, what the provider wrote into its cache.';
COMMENT ON COLUMN llm_requests.reasoning_tokens IS 'Of the answer, what the provider says was reasoning.';
COMMENT ON COLUMN llm_requests.service_tier IS 'The provider''s word for how the request was served, or the configured one.';
COMMENT ON COLUMN llm_requests.fallback IS 'Whether a model of llm.fallback was asked in place of the job''s own.';
COMMENT ON COLUMN llm_requests.cost_usd IS 'By the prices of the model that was asked, as they were then.';

CREATE TABLE feedback (
    job_id     uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    id         bigint GENERATED ALWAYS AS IDENTITY,
    text       text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    taken_step bigint,
    PRIMARY KEY (job_id, id)
);
COMMENT ON TABLE feedback IS 'Users'' words to a job.';
COMMENT ON COLUMN feedback.taken_step IS 'The step that put the words into the conversation.';
CREATE TRIGGER feedback_at_most_64_kib BEFORE INSERT OR UPDATE OF text ON feedback
    FOR EACH ROW WHEN (octet_length(NEW.text) > 65536)
    EXECUTE FUNCTION jobs_too_large('feedback', '64 KiB', 'say it shorter, or put it into the job''s input/ folder as a file');

-- Limits of models' endpoints ---------------------------------------------------------------------------------------
-- All workers ask the same endpoints with the same keys, so that what a provider allows is shared by all of them: a row is a
-- token bucket, from which each process draws for all of its jobs that wait. Positions and not a balance: whoever draws is
-- told up to where the bucket must have been refilled until it may go, and so stands in line without asking again; a rate
-- that changes meanwhile moves all who wait. A transaction that draws need not be on disk when it ends: what a crash of the
-- server loses of it is a moment's use.
CREATE TABLE endpoint_limits (
    endpoint            text NOT NULL,
    key_name            text NOT NULL,
    model               text NOT NULL,
    requests_per_minute bigint CHECK (requests_per_minute >= 1),
    tokens_per_minute   bigint CHECK (tokens_per_minute >= 1),
    parallel            int CHECK (parallel >= 1),
    source              text NOT NULL DEFAULT 'set' CHECK (source IN ('set', 'learnt')),
    blocked_until       timestamptz,
    updated_at          timestamptz NOT NULL DEFAULT now(),
    set_requests        bigint,
    set_tokens          bigint,
    estimated           boolean NOT NULL DEFAULT false,
    requests_drawn      double precision NOT NULL DEFAULT 0,
    requests_released   double precision NOT NULL DEFAULT 0,
    tokens_drawn        double precision NOT NULL DEFAULT 0,
    tokens_released     double precision NOT NULL DEFAULT 0,
    refilled_at         timestamptz NOT NULL DEFAULT now() - interval '1 minute',
    requests_used       double precision NOT NULL DEFAULT 0,
    tokens_used         double precision NOT NULL DEFAULT 0,
    used_at             timestamptz NOT NULL DEFAULT now(),
    refused_at          timestamptz,
    refusals            int NOT NULL DEFAULT 0,
    PRIMARY KEY (endpoint, key_name, model)
) WITH (fillfactor = 20); -- one page, and room on it for many versions of the row
COMMENT ON TABLE endpoint_limits IS 'What a model''s endpoint allows to a key: a row an endpoint, key and model of which a limit is known.';
COMMENT ON COLUMN endpoint_limits.endpoint IS 'Scheme and host, and the port where it is not the scheme''s own.';
COMMENT ON COLUMN endpoint_limits.key_name IS 'The environment variable with the key.';
COMMENT ON COLUMN endpoint_limits.parallel IS 'Requests at the same time, over all workers.';
COMMENT ON COLUMN endpoint_limits.source IS
    'set: as llm.limits or a person has it. learnt: from the provider, where it allows less than was set, or nothing was.';
COMMENT ON COLUMN endpoint_limits.blocked_until IS 'The provider answers no request before this time.';
COMMENT ON COLUMN endpoint_limits.updated_at IS 'When the limits last changed.';
COMMENT ON COLUMN endpoint_limits.set_requests IS 'Internal: requests_per_minute as set, while a learnt one rules.';
COMMENT ON COLUMN endpoint_limits.set_tokens IS 'Internal: tokens_per_minute as set, while a learnt one rules.';
COMMENT ON COLUMN endpoint_limits.estimated IS 'Internal: the provider refused requests within the limit and names none, so that ours is a guess, which rises again.';
COMMENT ON COLUMN endpoint_limits.tokens_drawn IS 'Internal: all that was ever drawn; with tokens_released, the bucket.';
COMMENT ON COLUMN endpoint_limits.tokens_used IS 'Internal: what answered requests used within about a minute before used_at.';
COMMENT ON COLUMN endpoint_limits.refusals IS 'Internal: times in a row that the provider refused requests.';

-- Workers keep in mind what they have drawn last; whatever changes, by whomever, they hear.
CREATE FUNCTION endpoint_limits_notify() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM pg_notify('plumbline_endpoint_limits', '');
    RETURN NULL;
END $$;

CREATE TRIGGER endpoint_limits_notify_new AFTER INSERT OR DELETE ON endpoint_limits
    FOR EACH STATEMENT EXECUTE FUNCTION endpoint_limits_notify();
CREATE TRIGGER endpoint_limits_notify_change AFTER UPDATE ON endpoint_limits
    FOR EACH ROW
    WHEN ((OLD.requests_per_minute, OLD.tokens_per_minute, OLD.parallel, OLD.blocked_until)
          IS DISTINCT FROM (NEW.requests_per_minute, NEW.tokens_per_minute, NEW.parallel, NEW.blocked_until))
    EXECUTE FUNCTION endpoint_limits_notify();

-- Slots are lent to workers, which lend them to their jobs. Those of a worker whose heartbeat is too old do not count.
CREATE TABLE endpoint_slots (
    endpoint      text NOT NULL,
    key_name      text NOT NULL,
    model         text NOT NULL,
    worker_id     uuid NOT NULL REFERENCES workers ON DELETE CASCADE,
    slots         int NOT NULL,
    wanted        int NOT NULL,
    waiting_since timestamptz,
    PRIMARY KEY (endpoint, key_name, model, worker_id),
    FOREIGN KEY (endpoint, key_name, model) REFERENCES endpoint_limits ON DELETE CASCADE
);
CREATE INDEX endpoint_slots_of_worker ON endpoint_slots (worker_id);
COMMENT ON TABLE endpoint_slots IS 'Of endpoints with a limit on parallel requests: how many each worker may have under way, and wants.';

-- How fast a bucket of so much a minute is refilled, a second: a tenth less than allowed, because the provider counts and
-- times differently than we do.
CREATE FUNCTION endpoint_rate(per_minute bigint) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 0.9 * per_minute / 60;

-- How much it holds at most: what comes in a second. Providers count over a sliding minute, some over less, in which what
-- was saved up comes on top of the rate.
CREATE FUNCTION endpoint_capacity(per_minute bigint) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 0.9 * per_minute / 60;

-- How many parallel requests a worker may have under way, which asks for so many and has some of them already. Called with
-- the endpoint's row locked; as a function it sees what others have committed while it waited for that.
--
-- What is free goes to whoever has waited longest, as far as his fair share; beyond it, to nobody whose rivals wait. So a
-- worker with many jobs takes what others leave, and gives way when they come.
CREATE FUNCTION endpoint_slots_for(
    l endpoint_limits, worker uuid, lease_s double precision, in_use int, asked int, OUT granted int, OUT contested boolean
) LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := clock_timestamp();
    since timestamptz;
    others bigint;
    older bigint;
    contenders bigint;
    more bigint;
BEGIN
    -- Whoever brings a slot back has had his turn.
    SELECT s.waiting_since INTO since FROM endpoint_slots s
    WHERE s.slots <= in_use AND (s.endpoint, s.key_name, s.model, s.worker_id) = (l.endpoint, l.key_name, l.model, worker);
    since := coalesce(since, moment);
    SELECT count(*) INTO contenders
    FROM endpoint_slots s JOIN workers w ON w.id = s.worker_id
    WHERE (s.endpoint, s.key_name, s.model) = (l.endpoint, l.key_name, l.model) AND s.worker_id <> worker
      AND s.wanted > 0 AND w.heartbeat_at >= moment - make_interval(secs => lease_s);
    contenders := contenders + 1;
    SELECT coalesce(sum(s.slots), 0), coalesce(bool_or(s.wanted > s.slots), false),
           coalesce(sum(greatest(least(s.wanted, greatest(l.parallel / contenders, 1)) - s.slots, 0))
                    FILTER (WHERE s.wanted > s.slots AND s.waiting_since <= since), 0)
    INTO others, contested, older
    FROM endpoint_slots s JOIN workers w ON w.id = s.worker_id
    WHERE (s.endpoint, s.key_name, s.model) = (l.endpoint, l.key_name, l.model) AND s.worker_id <> worker
      AND w.heartbeat_at >= moment - make_interval(secs => lease_s);
    more := least(asked - in_use, l.parallel - others - in_use - older);
    IF contested THEN
        more := least(more, (l.parallel + contenders - 1) / contenders - in_use);
    END IF;
    more := greatest(more, 0);
    granted := in_use + more;
    IF granted = 0 AND asked = 0 THEN
        DELETE FROM endpoint_slots s
        WHERE (s.endpoint, s.key_name, s.model, s.worker_id) = (l.endpoint, l.key_name, l.model, worker);
        RETURN;
    END IF;
    INSERT INTO endpoint_slots VALUES (l.endpoint, l.key_name, l.model, worker, granted, asked,
        CASE WHEN granted >= asked THEN NULL WHEN more > 0 THEN moment ELSE since END)
    ON CONFLICT (endpoint, key_name, model, worker_id) DO UPDATE
    SET slots = EXCLUDED.slots, wanted = EXCLUDED.wanted, waiting_since = EXCLUDED.waiting_since;
END $$;

-- One draw of one worker from one bucket. needed: for requests that wait; spare: for those to come, given only from what is
-- there now, and a quarter of it at most; corrected: what earlier draws took too little, or (negative) too much; spent: what
-- answered requests have really used. No row: no limit is known.
--
-- A request of which the drawn position is P, of the size n, may go when `released` is at P, or at P - n + capacity where
-- that is less: one that is larger than the bucket takes what is there, and those behind it wait for the rest.
CREATE FUNCTION draw_from_endpoint(
    at_endpoint text, with_key text, of_model text, worker uuid, lease_s double precision,
    needed_requests double precision, needed_tokens double precision,
    spare_requests double precision, spare_tokens double precision,
    corrected_requests double precision, corrected_tokens double precision,
    spent_requests double precision, spent_tokens double precision,
    slots_in_use int, slots_asked int
) RETURNS TABLE (
    requests_per_minute bigint, tokens_per_minute bigint, parallel int,
    requests_position double precision, requests_released double precision, requests_given double precision,
    tokens_position double precision, tokens_released double precision, tokens_given double precision,
    refilled_in_s double precision, slots int, contested boolean
) LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    l endpoint_limits;
    moment timestamptz;
    elapsed double precision;
    fades double precision;
BEGIN
    SELECT * INTO l FROM endpoint_limits
    WHERE (endpoint, key_name, model) = (at_endpoint, with_key, of_model) FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('synchronous_commit', 'off', true);
    moment := clock_timestamp();

    -- A guess rises while it is used and nothing is refused.
    IF l.estimated AND greatest(l.updated_at, l.refused_at) < moment - interval '1 minute'
       AND (l.tokens_used > 0.5 * l.tokens_per_minute OR l.requests_used > 0.5 * l.requests_per_minute) THEN
        l.tokens_per_minute := least(ceil(1.05 * l.tokens_per_minute), l.set_tokens);
        l.requests_per_minute := least(ceil(1.05 * l.requests_per_minute), l.set_requests);
        l.updated_at := moment;
        IF (l.tokens_per_minute, l.requests_per_minute) IS NOT DISTINCT FROM (l.set_tokens, l.set_requests) THEN
            l.source := 'set';
            l.estimated := false;
        END IF;
    END IF;

    l.refilled_at := greatest(l.refilled_at, l.blocked_until);
    elapsed := greatest(extract(epoch FROM moment - l.refilled_at), 0);
    l.refilled_at := greatest(l.refilled_at, moment);
    l.requests_drawn := l.requests_drawn + corrected_requests;
    l.tokens_drawn := l.tokens_drawn + corrected_tokens;
    -- Without a limit, whatever is drawn is released.
    l.requests_released := coalesce(
        least(l.requests_released + elapsed * endpoint_rate(l.requests_per_minute),
              l.requests_drawn + greatest(endpoint_capacity(l.requests_per_minute), 1)),
        l.requests_drawn);
    l.tokens_released := coalesce(
        least(l.tokens_released + elapsed * endpoint_rate(l.tokens_per_minute),
              l.tokens_drawn + endpoint_capacity(l.tokens_per_minute)),
        l.tokens_drawn);
    l.requests_drawn := l.requests_drawn + needed_requests;
    l.tokens_drawn := l.tokens_drawn + needed_tokens;
    requests_position := l.requests_drawn;
    tokens_position := l.tokens_drawn;
    IF l.refilled_at > moment THEN
        spare_requests := 0;
        spare_tokens := 0;
    END IF;
    requests_given := CASE WHEN l.requests_per_minute IS NULL THEN spare_requests
        ELSE floor(least(spare_requests, greatest(l.requests_released - l.requests_drawn, 0) / 4)) END;
    tokens_given := CASE WHEN l.tokens_per_minute IS NULL THEN spare_tokens
        ELSE floor(least(spare_tokens, greatest(l.tokens_released - l.tokens_drawn, 0) / 4)) END;
    l.requests_drawn := l.requests_drawn + requests_given;
    l.tokens_drawn := l.tokens_drawn + tokens_given;

    fades := exp(-least(greatest(extract(epoch FROM moment - l.used_at), 0), 3600)::double precision / 60);
    l.requests_used := l.requests_used * fades + spent_requests;
    l.tokens_used := l.tokens_used * fades + spent_tokens;

    IF l.parallel IS NOT NULL THEN
        SELECT s.granted, s.contested INTO slots, contested
        FROM endpoint_slots_for(l, worker, lease_s, slots_in_use, slots_asked) AS s;
    END IF;
    UPDATE endpoint_limits u
    SET requests_per_minute = l.requests_per_minute, tokens_per_minute = l.tokens_per_minute, source = l.source,
        estimated = l.estimated, updated_at = l.updated_at, refilled_at = l.refilled_at,
        requests_drawn = l.requests_drawn, requests_released = l.requests_released,
        tokens_drawn = l.tokens_drawn, tokens_released = l.tokens_released,
        requests_used = l.requests_used, tokens_used = l.tokens_used, used_at = moment
    WHERE (u.endpoint, u.key_name, u.model) = (at_endpoint, with_key, of_model);
    requests_per_minute := l.requests_per_minute;
    tokens_per_minute := l.tokens_per_minute;
    parallel := l.parallel;
    requests_released := l.requests_released;
    tokens_released := l.tokens_released;
    refilled_in_s := greatest(extract(epoch FROM l.refilled_at - moment), 0);
    RETURN NEXT;
END $$;

-- Long values that each step or each first step writes are compressed with LZ4, where the server was built with it: a tenth
-- more bytes than pglz, a fraction of the time. Contents of files stay with pglz, because they are what fills the disk.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        ALTER TABLE messages
            ALTER COLUMN content SET COMPRESSION lz4,
            ALTER COLUMN tool_calls SET COMPRESSION lz4,
            ALTER COLUMN extra SET COMPRESSION lz4;
        ALTER TABLE checkpoints ALTER COLUMN state SET COMPRESSION lz4;
        ALTER TABLE job_settings ALTER COLUMN resolved SET COMPRESSION lz4;
    END IF;
END $$;
