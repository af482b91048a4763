-- What a run is rebuilt from: conversation, plan, checkpoints; and what each model request cost.
-- Everything is appended or, for todos and phases, closed: a step writes what is new, never what was there.

CREATE TABLE messages (
    job_id       uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
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
    -- The step from which the model no longer gets this result's text.
    cleared_step bigint,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (job_id, seq)
);

CREATE TABLE phases (
    job_id       uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
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

-- Rows of phase_number = current + 1 are the next phase's todos, written ahead.
CREATE TABLE todos (
    job_id       uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
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
    PRIMARY KEY (job_id, phase_number, position)
);

-- One row a committed step. state is small and does not grow with the job.
CREATE TABLE checkpoints (
    job_id       uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    step         bigint NOT NULL,
    phase_number int NOT NULL,
    phase        text CHECK (phase IN ('strategic', 'tactical')),
    state        jsonb NOT NULL,
    lease_epoch  bigint NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (job_id, step)
);

-- One row a request to the model, failed ones too.
CREATE TABLE llm_requests (
    job_id            uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    id                uuid NOT NULL,
    step              bigint NOT NULL,
    model             text NOT NULL,
    purpose           text NOT NULL,
    prompt_tokens     bigint NOT NULL,
    cached_tokens     bigint NOT NULL,
    completion_tokens bigint NOT NULL,
    -- Whether the provider left its usage out and the counts are ours.
    estimated         boolean NOT NULL,
    duration_ms       bigint NOT NULL,
    attempt           int NOT NULL,
    error             text,
    raw_usage         jsonb,
    created_at        timestamptz NOT NULL,
    PRIMARY KEY (job_id, id)
);
