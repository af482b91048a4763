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
COMMENT ON COLUMN todos.unevidenced IS 'Closed although nothing had been called for it since it became current.';
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
