-- The queue: jobs, their workers, and the order in which jobs are claimed.
-- One wide row per job: users insert a job here and watch it here, so everything they ask about a job is a column.

-- UUID version 7 (RFC 9562): 48 bits of milliseconds, 12 bits of the fraction of the millisecond (its method 3), so
-- that ids also increase within one statement, and 62 random bits. Random ids would be spread over all pages of each
-- index: a claim of a thousand jobs would write to a thousand pages.
CREATE FUNCTION uuid_v7() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN (
    overlay(lpad(to_hex((date_part('epoch', clock_timestamp()) * 1000 * 4096)::bigint), 15, '0') PLACING '7' FROM 13 FOR 0)
    || substr(gen_random_uuid()::text, 19)
)::uuid;
COMMENT ON FUNCTION uuid_v7() IS 'A new id: UUIDs of version 7 rise with the time they are made.';

CREATE TABLE jobs (
    -- Written by users.
    id                uuid PRIMARY KEY DEFAULT uuid_v7(),
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
    -- State in the queue, and the lease.
    status            text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'paused', 'review', 'completed', 'failed', 'cancelled')),
    status_reason     text,
    concurrency_key   text NOT NULL DEFAULT '',
    scheduled         boolean NOT NULL DEFAULT false,
    attempt           int NOT NULL DEFAULT 0,
    -- Crashes since the last committed step: a job that makes progress is not blamed for its worker's crash.
    crash_count       int NOT NULL DEFAULT 0,
    worker_id         uuid,
    -- The fencing token: incremented by each claim; every write of a run includes it.
    lease_epoch       bigint NOT NULL DEFAULT 0,
    -- A count, not a flag: the fence subtracts what the step took in, so feedback that arrives meanwhile stays counted.
    feedback_untaken  int NOT NULL DEFAULT 0,
    raised_limits     jsonb,
    forked_step       bigint,
    created_by        text NOT NULL DEFAULT session_user,
    -- Seconds in review and paused, which do not count as the job's own time, and the start of the current wait.
    waited_s          bigint NOT NULL DEFAULT 0,
    waits_since       timestamptz,
    -- The step from which the job holds text of others; never raised or cleared.
    untrusted_step    bigint,
    -- Totals of the job's rows in job_documents. Kept on one row so that sessions that do not see each other's rows
    -- conflict.
    documents_count   int NOT NULL DEFAULT 0,
    documents_bytes   bigint NOT NULL DEFAULT 0,
    -- Progress, updated by each step.
    step              bigint NOT NULL DEFAULT 0,
    phase_number      int NOT NULL DEFAULT 0,
    phase             text CHECK (phase IN ('strategic', 'tactical')),
    phase_name        text,
    phases_done       int,
    phases_total      int,
    todos_done        int NOT NULL DEFAULT 0,
    todos_total       int NOT NULL DEFAULT 0,
    current_todo      text,
    total_requests    bigint NOT NULL DEFAULT 0,
    total_tokens_used bigint NOT NULL DEFAULT 0,
    cached_tokens     bigint NOT NULL DEFAULT 0,
    cost_usd          numeric NOT NULL DEFAULT 0,
    -- Result or error.
    result            jsonb,
    error_message     text,
    error_details     jsonb,
    -- clock_timestamp(), not now(): each row of a multi-row INSERT gets its own time, in the order of insertion.
    created_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at        timestamptz,
    completed_at      timestamptz,
    CONSTRAINT jobs_ended_has_completed_at
        CHECK ((status IN ('completed', 'failed', 'cancelled')) = (completed_at IS NOT NULL)),
    CONSTRAINT jobs_running_has_worker CHECK ((status = 'running') = (worker_id IS NOT NULL)),
    -- A time that workers cannot decode, such as infinity, would make every claim fail. run_at may be any time; the
    -- other times must be calendar dates.
    CONSTRAINT jobs_times_are_in_years_1_to_9999
        CHECK (least(created_at, updated_at, started_at, completed_at) >= '0001-01-01 00:00:00Z'
               AND greatest(created_at, updated_at, started_at, completed_at) < '10000-01-01 00:00:00Z')
) WITH (fillfactor = 80); -- room for HOT updates: a step changes no indexed column

COMMENT ON TABLE jobs IS 'Insert a row to start a job; watch the same row for its progress and result.';
COMMENT ON COLUMN jobs.job_type IS 'Names a configuration, a folder of configs/.';
COMMENT ON COLUMN jobs.document_path IS 'A file or folder under the workers'' import root.';
COMMENT ON COLUMN jobs.document_content IS 'A document given inline; its name is context.document_name.';
COMMENT ON COLUMN jobs.context IS 'Free data for the agent; concurrency_key, document_name, parent_job_id and previous_job_id mean something.';
COMMENT ON COLUMN jobs.config IS 'What this job sets on top of its job type''s configuration.';
COMMENT ON COLUMN jobs.priority IS 'Larger first.';
COMMENT ON COLUMN jobs.run_at IS 'Not before this time.';
COMMENT ON COLUMN jobs.idempotency_key IS 'Unique together with created_by and job_type.';
COMMENT ON COLUMN jobs.parent_job_id IS 'The job that enqueued this one, or of which this one is a fork.';
COMMENT ON COLUMN jobs.status_reason IS 'Why it is paused, in review, pending still, or running and waiting for its turn.';
COMMENT ON COLUMN jobs.concurrency_key IS 'From context.concurrency_key; any other value written here is replaced.';
COMMENT ON COLUMN jobs.scheduled IS
    'Internal: pending, with a run_at that was still to come. The first claim after that time takes it into the queue.';
COMMENT ON COLUMN jobs.attempt IS 'Claims that ended the job or crashed. A released claim does not count.';
COMMENT ON COLUMN jobs.raised_limits IS
    'What resume_job was given as limits: they replace those keys of the configuration''s limits for this job alone.';
COMMENT ON COLUMN jobs.forked_step IS 'The step of parent_job_id from which this job goes on; its first checkpoint.';
COMMENT ON COLUMN jobs.created_by IS 'The login that inserted the row, of a follower that of its parent; set by the server.';
COMMENT ON COLUMN jobs.waited_s IS
    'Seconds in review and paused since the job began, up to the last time that it went on; they do not count for deadline_s.';
COMMENT ON COLUMN jobs.waits_since IS 'The time at which it was paused or went into review.';
COMMENT ON COLUMN jobs.untrusted_step IS
    'The step of the first request that held text of a document, a page or a foreign tool, or of rows made of such; 0: from the start, as in what follows such a job. Never taken back.';
COMMENT ON COLUMN jobs.documents_count IS 'How many documents the job has in job_documents; counted by the server.';
COMMENT ON COLUMN jobs.documents_bytes IS 'Their size together, in bytes.';
COMMENT ON COLUMN jobs.step IS 'The last committed step.';
COMMENT ON COLUMN jobs.phases_done IS 'Tactical phases that ended completed; null before there is a plan.';
COMMENT ON COLUMN jobs.phases_total IS 'Phases of the plan, as in the todo list''s (2 of 4); null before there is a plan.';
COMMENT ON COLUMN jobs.result IS 'summary, deliverables, undelivered, confidence and notes of job_complete.';
COMMENT ON COLUMN jobs.error_details IS
    'Why the job failed, or, while it is pending, what gave it back: kind, stage, attempts, first_error, first_error_at, '
    'last_error, last_error_at, hint; of trouble that gave it back also code (the SQLSTATE, or a word for what is none) and the step.';
COMMENT ON COLUMN jobs.completed_at IS 'When the job ended: completed, failed or cancelled.';

-- A change of status adds an entry to each index that contains the new row version. For a running job these are few:
-- the two unique indexes, the small jobs_running and, if it follows another job, jobs_parent or jobs_previous. A
-- waiting job is in the indexes of the queue instead of jobs_running.
CREATE UNIQUE INDEX jobs_idempotency ON jobs (created_by, job_type, idempotency_key);
CREATE INDEX jobs_running ON jobs (worker_id) WHERE status = 'running';
-- Prune reads ended jobs, oldest first, and keeps those with a child job or a next job that has not ended.
CREATE INDEX jobs_ended ON jobs (completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX jobs_parent ON jobs (parent_job_id) WHERE parent_job_id IS NOT NULL;
CREATE INDEX jobs_previous ON jobs ((context ->> 'previous_job_id')) WHERE context ? 'previous_job_id';

CREATE TABLE job_documents (
    job_id   uuid NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    position int NOT NULL,
    name     text NOT NULL,
    -- Most documents are compressed already.
    content  bytea NOT NULL,
    PRIMARY KEY (job_id, position)
);
ALTER TABLE job_documents ALTER COLUMN content SET STORAGE EXTERNAL;
COMMENT ON TABLE job_documents IS 'Documents given inline, besides jobs.document_content; taken in at the job''s first step.';

-- A job's lease is valid while the row of its worker is recent: one heartbeat renews all leases of the worker.
CREATE TABLE workers (
    id              uuid PRIMARY KEY,
    hostname        text NOT NULL,
    version         text NOT NULL,
    concurrency     int NOT NULL,
    started_at      timestamptz NOT NULL DEFAULT now(),
    heartbeat_at    timestamptz NOT NULL DEFAULT now(),
    job_types       text[],
    broken_types    jsonb NOT NULL DEFAULT '{}',
    limits_ceilings jsonb NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);
COMMENT ON TABLE workers IS 'One row per worker process, renewed by its heartbeat.';
COMMENT ON COLUMN workers.job_types IS 'The job types that it claims: those it has a configuration for.';
COMMENT ON COLUMN workers.broken_types IS 'Job types whose files it has and cannot use, each with what is wrong: file, line and reason.';
COMMENT ON COLUMN workers.limits_ceilings IS 'limits_ceiling of the job types that set one, by job type.';

CREATE TABLE attempts (
    job_id      uuid NOT NULL,
    attempt     int NOT NULL,
    lease_epoch bigint NOT NULL,
    worker_id   uuid NOT NULL,
    started_at  timestamptz NOT NULL DEFAULT now(),
    ended_at    timestamptz,
    outcome     text CHECK (outcome IN ('released', 'ended', 'crashed', 'lost')),
    error       text,
    -- A worker that crashes loses all its jobs, and which of them caused the crash is unknown. A job is blamed, and
    -- failed, only if it ran alone: after two crashes in a row, a job runs alone until it has committed a step.
    alone       boolean NOT NULL DEFAULT false,
    PRIMARY KEY (job_id, lease_epoch),
    CONSTRAINT attempts_ended_has_outcome CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
COMMENT ON TABLE attempts IS 'One row per claim. attempt can repeat (a released attempt is given back); lease_epoch cannot.';
COMMENT ON COLUMN attempts.alone IS
    'Whether the worker ran nothing else meanwhile, because the job is suspected of killing workers.';

-- Maintained by the sweep: a type is listed while jobs of it wait and no live worker has its configuration. The jobs
-- wait for a worker that does: draining the only worker of a type, or deploying in the wrong order, loses no jobs.
CREATE TABLE unknown_job_types (
    job_type text PRIMARY KEY,
    -- Infinite if a live worker has the type's files but cannot use them, or if a worker knows the type again and some
    -- jobs still have the old status_reason.
    since    timestamptz NOT NULL DEFAULT now(),
    -- Copied to the status_reason of the jobs.
    reason   text NOT NULL
);
COMMENT ON TABLE unknown_job_types IS 'Job types of waiting jobs that no live worker claims, with the reason and the time since then.';

-- key: '' limits the whole job type, '*' each of its keys, any other value that key (it overrides '*').
CREATE TABLE concurrency_limits (
    job_type    text NOT NULL,
    key         text NOT NULL DEFAULT '',
    max_running int NOT NULL CHECK (max_running >= 0),
    PRIMARY KEY (job_type, key)
);
COMMENT ON TABLE concurrency_limits IS
    'At most max_running jobs of the job type run at a time; with a key, the limit applies to jobs with this context.concurrency_key.';

-- The operator's limit on the waiting jobs of a login. Each INSERT, fork and retry counts them.
CREATE TABLE login_limits (
    login      text PRIMARY KEY,
    waiting    int NOT NULL CHECK (waiting >= 0),
    counted_at timestamptz NOT NULL DEFAULT '-infinity'
);
COMMENT ON TABLE login_limits IS 'The maximum number of pending jobs of a login; a login without a row has no limit.';
COMMENT ON COLUMN login_limits.login IS 'As in jobs.created_by.';
COMMENT ON COLUMN login_limits.waiting IS 'Most jobs of the login that may be pending.';
COMMENT ON COLUMN login_limits.counted_at IS
    'Internal: written by each count, so that those of sessions which do not see each other''s rows conflict.';
CREATE INDEX jobs_waiting_of_login ON jobs (created_by) WITH (deduplicate_items = on) WHERE status = 'pending' AND step >= 0;

-- Lanes -------------------------------------------------------------------------------------------------------------
-- A lane holds the waiting jobs of one job type and concurrency key. A claim skips from lane to lane of the types that
-- its worker knows and, within a lane, from priority to priority, and reads each from the front. Jobs in a full lane,
-- or of a type that the worker does not know, cost the claim nothing, regardless of their number.
-- Jobs that are not due are in no lane (`scheduled`), so a claim visits only the lanes of runnable jobs.

-- A lane as a number, for the index: comparing numbers is cheaper than comparing two texts, which may be long. If two
-- lanes had the same number (a collision of 64-bit hashes), waiting_lanes would return only one of them at a time.
CREATE FUNCTION lane_number(job_type text, concurrency_key text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(concurrency_key, hashtextextended(job_type, 0));

-- A job type as a number, so that the lanes of a type are adjacent in the index.
CREATE FUNCTION type_number(job_type text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(job_type, 0);

-- Jobs with the same run_at are in order of arrival, so a claim can begin right after the last job of the previous
-- claim, even among the jobs of one INSERT. While a transaction holds an old snapshot, the dead index entries of all
-- jobs claimed since then remain, and a scan that begins before them reads them all. Deduplication is off: in an index
-- with so much turnover, searching for equal entries costs more than it saves.
CREATE INDEX jobs_queue ON jobs
    (type_number(job_type), lane_number(job_type, concurrency_key), priority DESC, run_at, created_at)
    WITH (deduplicate_items = off) WHERE status = 'pending' AND NOT scheduled;
CREATE INDEX jobs_scheduled ON jobs (run_at) WHERE status = 'pending' AND scheduled;

-- Defines "runnable" for the claim, the metrics and the doctor. One condition per index.
CREATE VIEW runnable_jobs AS
SELECT id, job_type, priority, run_at, created_at, concurrency_key
FROM jobs
WHERE (status = 'pending' AND NOT scheduled AND run_at <= now())
   OR (status = 'pending' AND scheduled AND run_at <= now());
COMMENT ON VIEW runnable_jobs IS 'The jobs that wait and whose time has come.';

-- The lanes of the given job types that have jobs in the queue, each with its first job, found by a skip scan of
-- jobs_queue. The scan begins at a random lane, runs to the last one, and then from the first one up to the random one.
-- Each part returns at most `most` lanes per type, so many lanes of a type do not make claims slow. The lane without a
-- key is always included.
CREATE FUNCTION waiting_lanes(types text[], most int DEFAULT 500)
RETURNS TABLE (job_type text, concurrency_key text, priority int, run_at timestamptz, created_at timestamptz)
LANGUAGE sql VOLATILE ROWS 10 AS $$
    WITH RECURSIVE wanted AS MATERIALIZED (
        SELECT t.name, type_number(t.name) AS of_type FROM (SELECT DISTINCT unnest(types) AS name) AS t
    ), drawn AS MATERIALIZED (
        SELECT hashtextextended(clock_timestamp()::text, 0) AS place
    ), ways AS MATERIALIZED (
        SELECT place AS from_lane, 9223372036854775807 AS to_lane FROM drawn
        UNION ALL
        SELECT -9223372036854775808, place - 1 FROM drawn WHERE place > -9223372036854775808
    ), lanes AS (
        SELECT w.of_type, y.to_lane, 1 AS n, first.*
        FROM wanted w
        CROSS JOIN ways y
        CROSS JOIN LATERAL (
            SELECT lane_number(j.job_type, j.concurrency_key) AS lane, j.job_type, j.concurrency_key, j.priority, j.run_at,
                   j.created_at
            FROM jobs j
            WHERE j.status = 'pending' AND NOT j.scheduled AND type_number(j.job_type) = w.of_type
              AND lane_number(j.job_type, j.concurrency_key) BETWEEN y.from_lane AND y.to_lane
            ORDER BY type_number(j.job_type), lane_number(j.job_type, j.concurrency_key), j.priority DESC, j.run_at,
                     j.created_at
            LIMIT 1
        ) AS first
        UNION ALL
        SELECT l.of_type, l.to_lane, l.n + 1, next.*
        FROM lanes l
        CROSS JOIN LATERAL (
            SELECT lane_number(j.job_type, j.concurrency_key) AS lane, j.job_type, j.concurrency_key, j.priority, j.run_at,
                   j.created_at
            FROM jobs j
            WHERE j.status = 'pending' AND NOT j.scheduled AND type_number(j.job_type) = l.of_type
              AND lane_number(j.job_type, j.concurrency_key) > l.lane
              AND lane_number(j.job_type, j.concurrency_key) <= l.to_lane
            ORDER BY type_number(j.job_type), lane_number(j.job_type, j.concurrency_key), j.priority DESC, j.run_at,
                     j.created_at
            LIMIT 1
        ) AS next
        WHERE l.n < most
    )
    SELECT l.job_type, l.concurrency_key, l.priority, l.run_at, l.created_at
    FROM lanes l
    WHERE l.concurrency_key <> '' AND l.job_type = ANY (types)
    UNION ALL
    SELECT w.name, '', first.*
    FROM wanted w
    CROSS JOIN LATERAL (
        SELECT j.priority, j.run_at, j.created_at
        FROM jobs j
        WHERE j.status = 'pending' AND NOT j.scheduled AND type_number(j.job_type) = w.of_type
          AND lane_number(j.job_type, j.concurrency_key) = lane_number(w.name, '')
        ORDER BY type_number(j.job_type), lane_number(j.job_type, j.concurrency_key), j.priority DESC, j.run_at,
                 j.created_at
        LIMIT 1
    ) AS first
$$;

-- The number of running jobs of a lane; with an empty key, of the whole job type. Slots are counted, not stored, so a
-- job that stops running always frees its slot. VOLATILE on purpose: within a statement the function sees what others
-- committed after the statement began, so a claim that waited for another one counts the other's jobs.
CREATE FUNCTION running_in_lane(lane_type text, lane_key text) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT count(*)
    FROM jobs
    WHERE status = 'running' AND job_type = lane_type AND (lane_key = '' OR concurrency_key = lane_key)
$$;

-- Locks and returns the most urgent due jobs of a lane, at most `most`, skipping jobs that others have locked. The scan
-- begins at a position (priority, run_at, created_at) before which, as the caller knows, the lane has no job, and goes
-- to the end of the lane. spot is the row's ctid, which does not change while the row is locked: an UPDATE need not
-- look the row up. A loop, because the planner's cost estimate for the equivalent single statement triggers JIT
-- compilation, which takes a thousand times longer than the statement.
CREATE FUNCTION front_of_lane(lane_type text, lane_key text, top int, since timestamptz, born timestamptz,
                              most bigint)
RETURNS TABLE (spot tid, id uuid, priority int, run_at timestamptz, created_at timestamptz)
LANGUAGE plpgsql VOLATILE ROWS 10 AS $$
#variable_conflict use_column
DECLARE
    of_type bigint := type_number(lane_type);
    lane bigint := lane_number(lane_type, lane_key);
    level int := top;
    start timestamptz := since;
    arrival timestamptz := born;
    missing bigint := most;
    found_here bigint;
BEGIN
    WHILE level IS NOT NULL AND missing > 0 LOOP
        RETURN QUERY
            SELECT j.ctid, j.id, j.priority, j.run_at, j.created_at
            FROM jobs j
            WHERE j.status = 'pending' AND NOT j.scheduled AND j.run_at <= now() AND type_number(j.job_type) = of_type
              AND lane_number(j.job_type, j.concurrency_key) = lane AND j.priority = level
              AND (j.run_at, j.created_at) >= (start, arrival)
              AND j.job_type = lane_type AND j.concurrency_key = lane_key
            ORDER BY j.run_at, j.created_at
            LIMIT missing
            FOR UPDATE SKIP LOCKED;
        GET DIAGNOSTICS found_here = ROW_COUNT;
        missing := missing - found_here;
        EXIT WHEN missing <= 0;
        SELECT j.priority, j.run_at, j.created_at INTO level, start, arrival
        FROM jobs j
        WHERE j.status = 'pending' AND NOT j.scheduled AND type_number(j.job_type) = of_type
          AND lane_number(j.job_type, j.concurrency_key) = lane AND j.priority < level
        ORDER BY j.priority DESC, j.run_at, j.created_at
        LIMIT 1;
    END LOOP;
END $$;
