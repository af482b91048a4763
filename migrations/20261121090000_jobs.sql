-- The queue: jobs, the workers that run them, and every attempt.
-- Why one wide row a job: users insert here and watch here, so whatever a user asks about a job is a column of it.

CREATE TABLE jobs (
    id                uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    job_type          text NOT NULL DEFAULT 'creator',
    prompt            text NOT NULL,
    document_path     text,
    document_content  bytea,
    context           jsonb NOT NULL DEFAULT '{}',
    config            jsonb NOT NULL DEFAULT '{}',
    priority          int NOT NULL DEFAULT 0,
    run_at            timestamptz NOT NULL DEFAULT now(),
    max_attempts      int NOT NULL DEFAULT 3 CHECK (max_attempts >= 1),
    idempotency_key   text,
    parent_job_id     uuid,
    status            text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'paused', 'review', 'completed', 'failed', 'cancelled')),
    status_reason     text,
    attempt           int NOT NULL DEFAULT 0 CHECK (attempt >= 0),
    -- Crashes since the last committed step: a job that gets on is not to blame for its worker's death.
    crash_count       int NOT NULL DEFAULT 0,
    worker_id         uuid,
    -- The fencing token: one more with each claim; every write of a run names it.
    lease_epoch       bigint NOT NULL DEFAULT 0,
    step              bigint NOT NULL DEFAULT 0,
    phase_number      int NOT NULL DEFAULT 0,
    phase             text CHECK (phase IN ('strategic', 'tactical')),
    phase_name        text,
    todos_done        int NOT NULL DEFAULT 0,
    todos_total       int NOT NULL DEFAULT 0,
    current_todo      text,
    -- A count and not a flag: the fence subtracts what it took in, so that feedback arriving meanwhile stays counted.
    feedback_untaken  int NOT NULL DEFAULT 0,
    result            jsonb,
    error_message     text,
    error_details     jsonb,
    total_requests    bigint NOT NULL DEFAULT 0,
    total_tokens_used bigint NOT NULL DEFAULT 0,
    cached_tokens     bigint NOT NULL DEFAULT 0,
    cost_usd          numeric NOT NULL DEFAULT 0,
    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now(),
    started_at        timestamptz,
    completed_at      timestamptz,
    CONSTRAINT jobs_ended_has_completed_at
        CHECK ((status IN ('completed', 'failed', 'cancelled')) = (completed_at IS NOT NULL)),
    CONSTRAINT jobs_running_has_worker CHECK ((status = 'running') = (worker_id IS NOT NULL))
) WITH (fillfactor = 80); -- room for heap-only updates: a step changes no indexed column

-- Read from the front by the claim; holds waiting jobs only, so its size does not grow with history.
CREATE INDEX jobs_claim ON jobs (priority DESC, run_at, id) WHERE status = 'pending';
CREATE INDEX jobs_running ON jobs (worker_id) WHERE status = 'running';
CREATE UNIQUE INDEX jobs_idempotency ON jobs (job_type, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX jobs_newest ON jobs (created_at DESC, id);

COMMENT ON TABLE jobs IS 'Insert a row to start a job; watch the same row for its progress and result.';

-- What "runnable" means, said once: the claim, the metrics and the doctor all read it here.
CREATE VIEW runnable_jobs AS
SELECT id, job_type, priority, run_at, created_at
FROM jobs
WHERE status = 'pending' AND run_at <= now();

-- One row a worker process, renewed by its heartbeat: a job's lease holds while this row is young, however many
-- jobs the worker runs.
CREATE TABLE workers (
    id           uuid PRIMARY KEY,
    hostname     text NOT NULL,
    version      text NOT NULL,
    concurrency  int NOT NULL,
    started_at   timestamptz NOT NULL DEFAULT now(),
    heartbeat_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

-- One row a claim. attempt can repeat (a released attempt is given back); lease_epoch cannot.
CREATE TABLE attempts (
    job_id      uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    attempt     int NOT NULL,
    lease_epoch bigint NOT NULL,
    worker_id   uuid NOT NULL,
    started_at  timestamptz NOT NULL DEFAULT now(),
    ended_at    timestamptz,
    outcome     text CHECK (outcome IN ('released', 'ended', 'crashed', 'lost')),
    error       text,
    PRIMARY KEY (job_id, attempt, lease_epoch),
    CONSTRAINT attempts_ended_has_outcome CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
CREATE UNIQUE INDEX attempts_epoch ON attempts (job_id, lease_epoch);

-- The resolved configuration, prompts included: stored once when the job first starts, never copied into steps.
CREATE TABLE job_settings (
    job_id     uuid PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
    resolved   jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- A user's words to a job; taken_step is the step that put them into the conversation.
CREATE TABLE feedback (
    job_id     uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    id         bigint GENERATED ALWAYS AS IDENTITY,
    text       text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    taken_step bigint,
    PRIMARY KEY (job_id, id)
);
