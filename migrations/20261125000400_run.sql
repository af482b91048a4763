-- The rows from which a run is loaded (settings, conversation, plan, checkpoints, feedback), and the cost of each model
-- request. Rows are appended or, in todos and phases, closed: a step writes only new data.
--
-- Tables that only workers write have no foreign key to jobs. With one, each insert of a step would look up and lock
-- the job's row again, which costs the server more than the inserts themselves. It is not needed: the step's fence has
-- updated the job's row in the same statement, so the row exists and cannot be deleted before the commit; a claim locks
-- the jobs whose attempts it opens. If a DELETE came first, the fence waits for it and then matches no row. The
-- invariants (`doctor --invariants`) include that all rows have their job; rows of deleted jobs are deleted in `views`.

-- Stored when the job first starts, never copied into steps. Only a retry changes them: it takes the current tools that
-- are not built in.
CREATE TABLE job_settings (
    job_id     uuid PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
    resolved   jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    replaced   jsonb NOT NULL DEFAULT '[]',
    takes_present_tools boolean NOT NULL DEFAULT false,
    foreign_tools jsonb GENERATED ALWAYS AS (resolved -> 'foreign_tools') STORED
);
COMMENT ON TABLE job_settings IS 'The configuration of a job, prompts included: what it began with, and since a retry the tools of then.';
COMMENT ON COLUMN job_settings.job_id IS 'The job.';
COMMENT ON COLUMN job_settings.resolved IS 'The configuration, and the prompts before they were rendered.';
COMMENT ON COLUMN job_settings.created_at IS 'When the job first began.';
COMMENT ON COLUMN job_settings.replaced IS 'What retries have replaced, oldest first: resolved, and until_step, the last step that ran with it.';
COMMENT ON COLUMN job_settings.takes_present_tools IS 'Set by retry_job until the job''s next step, which stores the present tools.';
COMMENT ON COLUMN job_settings.foreign_tools IS 'Tools of the job that are not the program''s own: name, description, schema, annotations and sha256 of each; null without any.';

-- A row is inserted once and never changed, except by the first step of a retry, whose INSERT replaces it. SECURITY
-- DEFINER, because workers may not update settings.
CREATE FUNCTION job_settings_after_retry() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE job_settings s
    SET resolved = NEW.resolved, takes_present_tools = false,
        replaced = s.replaced || CASE WHEN s.resolved = NEW.resolved THEN '[]' ELSE
            jsonb_build_object('until_step', (SELECT j.step - 1 FROM jobs j WHERE j.id = NEW.job_id), 'resolved', s.resolved) END
    WHERE s.job_id = NEW.job_id AND s.takes_present_tools;
    IF FOUND THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER job_settings_after_retry BEFORE INSERT ON job_settings
    FOR EACH ROW EXECUTE FUNCTION job_settings_after_retry();

CREATE TABLE messages (
    job_id       uuid NOT NULL,
    seq          bigint NOT NULL,
    step         bigint NOT NULL,
    phase_number int NOT NULL,
    role         text NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),
    kind         text NOT NULL,
    content      text NOT NULL,
    -- json, not jsonb: the provider gets back the text it sent, byte for byte.
    tool_calls   json,
    tool_call_id text,
    extra        json,
    tokens       int NOT NULL,
    cleared_step bigint,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (job_id, seq)
);
COMMENT ON TABLE messages IS 'The conversation, one row per message.';
COMMENT ON COLUMN messages.cleared_step IS 'The step from which the model no longer gets this result''s text.';
-- For traces, which read a few steps at a time.
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

-- Most rows record from which step to which they are valid, which is what a fork copies. Rows of a todo list that is
-- rewritten do not, so its former entries are kept here.
CREATE TABLE replaced_todos (
    job_id        uuid NOT NULL,
    phase_number  int NOT NULL,
    position      int NOT NULL,
    -- The first step without the entry.
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

-- The step is read from the job's row: the fence of the step has incremented it before anything else is written. If the
-- job itself is being deleted, it has no row, and nothing is kept. If a step writes two lists, only the entries of the
-- first are kept, because only they were in the last checkpoint.
CREATE FUNCTION todos_keep_replaced() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
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
COMMENT ON TABLE checkpoints IS 'One row per committed step.';
COMMENT ON COLUMN checkpoints.state IS
    'Small, and does not grow with the job; null where it was given up: old, between two phases'' beginnings, and none of the kept ones.';

-- The primary key orders a job's requests by step: they are read by step, a page at a time.
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
    counted           boolean NOT NULL DEFAULT true,
    PRIMARY KEY (job_id, step, id)
);
CREATE INDEX llm_requests_not_counted ON llm_requests (job_id) WHERE NOT counted;
COMMENT ON TABLE llm_requests IS 'One row per request to the model, including failed ones.';
COMMENT ON COLUMN llm_requests.estimated IS 'Whether the provider left its usage out and the counts are ours.';
COMMENT ON COLUMN llm_requests.finish_reason IS
    'The provider''s word for why the answer ended; refusal where it says so in a field of its own.';
COMMENT ON COLUMN llm_requests.failure_class IS
    'Of a request that failed: transient, rate_limited, overloaded, quota, unauthorized, context_too_long, refused, malformed or permanent; '
    'abandoned: given up before its answer, by a pause, a cancel or a lost lease.';
COMMENT ON COLUMN llm_requests.api IS 'The wire protocol: chat, responses or messages; null where nothing could be sent.';
COMMENT ON COLUMN llm_requests.endpoint IS 'Scheme and host that were asked, and the port where it is not the scheme''s own.';
COMMENT ON COLUMN llm_requests.cache_write_tokens IS 'Of the prompt, what the provider wrote into its cache.';
COMMENT ON COLUMN llm_requests.reasoning_tokens IS 'Of the answer, what the provider says was reasoning.';
COMMENT ON COLUMN llm_requests.service_tier IS 'The provider''s word for how the request was served, or the configured one.';
COMMENT ON COLUMN llm_requests.fallback IS 'Whether a model of llm.fallback was asked in place of the job''s own.';
COMMENT ON COLUMN llm_requests.counted IS
    'Whether the job''s totals have it; of an abandoned one, from the next claim on.';
COMMENT ON COLUMN llm_requests.cost_usd IS 'By the prices of the model that was asked, as they were then.';

CREATE TABLE feedback (
    job_id     uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    id         bigint NOT NULL, -- counted per job: after a failover by logical replication a sequence restarts
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
-- All workers use the same endpoints with the same keys, so they share the provider's rate limits. The algorithm is
-- GCRA (generic cell rate algorithm, ITU-T I.371): a row keeps one timestamp per rate, the TAT (theoretical arrival
-- time), at which all earlier draws are paid for. A draw advances it by its cost times the period; what is drawn may be
-- used when the TAT before the draw is at most `burst_s` in the future. So requests are queued in the order of their
-- draws, and wait without asking again. A transaction that draws need not be durable: a crash of the server loses only
-- the draws of a moment.
CREATE TABLE endpoint_limits (
    endpoint            text NOT NULL,
    key_name            text NOT NULL,
    model               text NOT NULL,
    requests_per_minute bigint CHECK (requests_per_minute >= 1),
    tokens_per_minute   bigint CHECK (tokens_per_minute >= 1),
    parallel            int CHECK (parallel >= 1),
    burst_s             double precision NOT NULL DEFAULT 10 CHECK (burst_s BETWEEN 0.5 AND 30),
    source              text NOT NULL DEFAULT 'set' CHECK (source IN ('set', 'learnt')),
    blocked_until       timestamptz,
    updated_at          timestamptz NOT NULL DEFAULT now(),
    set_requests        bigint,
    set_tokens          bigint,
    estimated           boolean NOT NULL DEFAULT false,
    requests_tat        timestamptz NOT NULL DEFAULT now(),
    tokens_tat          timestamptz NOT NULL DEFAULT now(),
    refused_at          timestamptz,
    PRIMARY KEY (endpoint, key_name, model)
) WITH (fillfactor = 20); -- one page, with room for many versions of the row
COMMENT ON TABLE endpoint_limits IS 'The rate limits of a model''s endpoint: one row per endpoint, key and model with a known limit.';
COMMENT ON COLUMN endpoint_limits.endpoint IS 'Scheme and host, and the port where it is not the scheme''s own.';
COMMENT ON COLUMN endpoint_limits.key_name IS 'The environment variable with the key.';
COMMENT ON COLUMN endpoint_limits.model IS 'The model''s name, as requests have it.';
COMMENT ON COLUMN endpoint_limits.requests_per_minute IS 'Requests in a minute, over all workers; null: no limit is known.';
COMMENT ON COLUMN endpoint_limits.tokens_per_minute IS 'Tokens in a minute, over all workers; null: no limit is known.';
COMMENT ON COLUMN endpoint_limits.parallel IS 'Requests at the same time, over all workers.';
COMMENT ON COLUMN endpoint_limits.burst_s IS
    'How much may be used at once after a pause: what the limit allows in so many seconds. Halved when the provider refuses requests within the limit.';
COMMENT ON COLUMN endpoint_limits.source IS
    'set: as llm.limits or a person has it. learnt: from the provider, where it allows less than was set, or nothing was.';
COMMENT ON COLUMN endpoint_limits.blocked_until IS
    'No worker sends a request before this time. The operator may set it, infinity too, and take it away.';
COMMENT ON COLUMN endpoint_limits.updated_at IS 'When the limits last changed.';
COMMENT ON COLUMN endpoint_limits.set_requests IS 'Internal: requests_per_minute as set, while a learnt one rules.';
COMMENT ON COLUMN endpoint_limits.set_tokens IS 'Internal: tokens_per_minute as set, while a learnt one rules.';
COMMENT ON COLUMN endpoint_limits.estimated IS 'Internal: the provider refused requests within the limit and names none, so that ours is a guess, which rises again.';
COMMENT ON COLUMN endpoint_limits.requests_tat IS 'Internal: the theoretical arrival time of the next request.';
COMMENT ON COLUMN endpoint_limits.tokens_tat IS 'Internal: the theoretical arrival time of the next token.';
COMMENT ON COLUMN endpoint_limits.refused_at IS 'Internal: when the provider last refused a request that was sent after the refusal before.';

-- Seconds per unit of a limit of `per_minute` units: including the burst, no minute exceeds the limit. A tenth is left
-- unused, because providers count and time differently than we do.
CREATE FUNCTION endpoint_period(per_minute bigint, burst_s double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 60 / (per_minute * least(0.9, 1 - burst_s / 60));

-- Workers cache the limits that they last drew from, so they are notified of every change, by any role.
CREATE FUNCTION endpoint_limits_notify() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM pg_notify('plumbline_endpoint_limits', '');
    RETURN NULL;
END $$;

CREATE TRIGGER endpoint_limits_notify_new AFTER INSERT OR DELETE ON endpoint_limits
    FOR EACH ROW EXECUTE FUNCTION endpoint_limits_notify();
CREATE TRIGGER endpoint_limits_notify_change AFTER UPDATE ON endpoint_limits
    FOR EACH ROW
    WHEN ((OLD.requests_per_minute, OLD.tokens_per_minute, OLD.parallel, OLD.blocked_until)
          IS DISTINCT FROM (NEW.requests_per_minute, NEW.tokens_per_minute, NEW.parallel, NEW.blocked_until))
    EXECUTE FUNCTION endpoint_limits_notify();

-- A block that a person shortens or takes away: what was drawn behind it moves forward with it. How far it had been put
-- off at most is said in draw_from_endpoint.sql.
CREATE FUNCTION endpoint_limits_unblock() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    sooner interval := least(OLD.blocked_until, moment + interval '10 days') - greatest(NEW.blocked_until, moment);
BEGIN
    IF sooner > interval '0' THEN
        NEW.requests_tat := greatest(OLD.requests_tat - sooner, moment);
        NEW.tokens_tat := greatest(OLD.tokens_tat - sooner, moment);
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER endpoint_limits_unblock BEFORE UPDATE OF blocked_until ON endpoint_limits
    FOR EACH ROW
    WHEN (coalesce(NEW.blocked_until, '-infinity') < OLD.blocked_until AND NEW.requests_tat = OLD.requests_tat
          AND NEW.tokens_tat = OLD.tokens_tat)
    EXECUTE FUNCTION endpoint_limits_unblock();

-- Slots of endpoints with a limit on parallel requests: one row per request that is under way or waits, in order of
-- arrival. The first `parallel` of them may be under way. A worker renews its rows; those of a lost worker expire.
CREATE TABLE endpoint_slots (
    id         bigint NOT NULL, -- counted per endpoint, as in feedback
    endpoint   text NOT NULL,
    key_name   text NOT NULL,
    model      text NOT NULL,
    worker_id  uuid NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (endpoint, key_name, model, id),
    FOREIGN KEY (endpoint, key_name, model) REFERENCES endpoint_limits ON DELETE CASCADE
);
CREATE INDEX endpoint_slots_of_worker ON endpoint_slots (worker_id);
COMMENT ON TABLE endpoint_slots IS 'One row per request that is in flight or waits for its turn, of endpoints with a limit on parallel requests.';
COMMENT ON COLUMN endpoint_slots.expires_at IS 'The worker renews the row before this time, or is taken to be lost.';

-- Sets the number of a worker's rows to `wanted`, after deleting its `ended` oldest, whose requests have ended. Returns
-- granted (how many of its requests may be under way) and contested (whether requests of other workers wait), or no row
-- if there is no such limit. The endpoint's row is locked first, so that each call sees the rows of earlier calls.
CREATE FUNCTION hold_endpoint_slots(
    at_endpoint text, with_key text, of_model text, worker uuid, lease_s double precision, wanted int, ended int
) RETURNS TABLE (granted int, contested boolean) LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    most int;
    last_id bigint;
    missing bigint;
    expiry timestamptz := clock_timestamp() + make_interval(secs => lease_s);
BEGIN
    SELECT parallel INTO most FROM endpoint_limits
    WHERE (endpoint, key_name, model) = (at_endpoint, with_key, of_model) FOR NO KEY UPDATE;
    IF most IS NULL THEN
        RETURN;
    END IF;
    PERFORM set_config('synchronous_commit', 'off', true);
    DELETE FROM endpoint_slots
    WHERE (endpoint, key_name, model) = (at_endpoint, with_key, of_model) AND expires_at < clock_timestamp();
    DELETE FROM endpoint_slots USING (
        SELECT id AS old, row_number() OVER (ORDER BY id) AS nth FROM endpoint_slots
        WHERE (endpoint, key_name, model, worker_id) = (at_endpoint, with_key, of_model, worker)
    ) AS mine
    WHERE (endpoint, key_name, model, id) = (at_endpoint, with_key, of_model, old) AND (nth <= ended OR nth > ended + wanted);
    UPDATE endpoint_slots SET expires_at = expiry
    WHERE (endpoint, key_name, model, worker_id) = (at_endpoint, with_key, of_model, worker);
    SELECT coalesce(max(id), 0), wanted - count(*) FILTER (WHERE worker_id = worker) INTO last_id, missing
    FROM endpoint_slots WHERE (endpoint, key_name, model) = (at_endpoint, with_key, of_model);
    INSERT INTO endpoint_slots (endpoint, key_name, model, id, worker_id, expires_at)
    SELECT at_endpoint, with_key, of_model, last_id + nth, worker, expiry FROM generate_series(1, missing) AS nth;
    RETURN QUERY
    SELECT count(*) FILTER (WHERE worker_id = worker AND nth <= most)::int,
           coalesce(bool_or(worker_id <> worker AND nth > most), false)
    FROM (
        SELECT worker_id, row_number() OVER (ORDER BY id) AS nth FROM endpoint_slots
        WHERE (endpoint, key_name, model) = (at_endpoint, with_key, of_model)
    ) AS line;
END $$;
