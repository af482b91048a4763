-- What a job works on and what it finds: sources, citations, requirements; and one line a job about all of it.

CREATE TABLE sources (
    job_id    uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    path      text NOT NULL,
    size      bigint NOT NULL,
    pages     int,
    text_path text,
    PRIMARY KEY (job_id, path)
);

-- The id is made from source, page and quote, so the same citation twice is one row.
CREATE TABLE citations (
    job_id   uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    id       text NOT NULL,
    source   text NOT NULL,
    page     int,
    quote    text NOT NULL,
    verified boolean NOT NULL,
    step     bigint NOT NULL,
    PRIMARY KEY (job_id, id)
);

-- The hand-over to the validator, ours or an outside one.
CREATE TABLE requirement_cache (
    job_id             uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    id                 uuid NOT NULL DEFAULT gen_random_uuid(),
    candidate_id       text,
    text               text NOT NULL CHECK (char_length(text) BETWEEN 10 AND 10000),
    name               text,
    type               text,
    priority           text,
    source_document    text,
    source_location    jsonb,
    gobd_relevant      boolean NOT NULL DEFAULT false,
    gdpr_relevant      boolean NOT NULL DEFAULT false,
    citations          jsonb NOT NULL DEFAULT '[]',
    mentioned_objects  jsonb NOT NULL DEFAULT '[]',
    mentioned_messages jsonb NOT NULL DEFAULT '[]',
    reasoning          text,
    research_notes     text,
    confidence         double precision NOT NULL DEFAULT 0 CHECK (confidence BETWEEN 0 AND 1),
    status             text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'validating', 'integrated', 'rejected', 'failed')),
    validation_result  jsonb,
    graph_node_id      text,
    rejection_reason   text,
    retry_count        int NOT NULL DEFAULT 0,
    last_error         text,
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now(),
    validated_at       timestamptz,
    tags               jsonb NOT NULL DEFAULT '[]',
    -- SHA-256 of the normalized text; an outside writer may leave it out.
    content_key        bytea,
    step               bigint,
    PRIMARY KEY (job_id, id)
);
CREATE UNIQUE INDEX requirement_cache_once ON requirement_cache (job_id, content_key) WHERE content_key IS NOT NULL;
CREATE INDEX requirement_cache_by_id ON requirement_cache (id);
-- An outside validator claims the oldest pending rows.
CREATE INDEX requirement_cache_queue ON requirement_cache (created_at, id) WHERE status = 'pending';

CREATE FUNCTION requirement_cache_touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.updated_at := now();
    RETURN NEW;
END $$;

CREATE TRIGGER requirement_cache_touch BEFORE UPDATE ON requirement_cache
    FOR EACH ROW EXECUTE FUNCTION requirement_cache_touch();

CREATE VIEW job_summary AS
SELECT j.id, j.job_type, left(j.prompt, 120) AS prompt, j.status, j.status_reason, j.attempt, j.step,
       j.phase_number, j.phase, j.phase_name, j.todos_done, j.todos_total, j.current_todo,
       r.requirements, r.requirements_pending, r.requirements_validating, r.requirements_integrated,
       r.requirements_rejected, r.requirements_failed,
       j.total_requests, j.total_tokens_used, j.cached_tokens, j.cost_usd, j.error_message,
       j.created_at, j.updated_at, j.started_at, j.completed_at
FROM jobs j
CROSS JOIN LATERAL (
    SELECT count(*) AS requirements,
           count(*) FILTER (WHERE q.status = 'pending') AS requirements_pending,
           count(*) FILTER (WHERE q.status = 'validating') AS requirements_validating,
           count(*) FILTER (WHERE q.status = 'integrated') AS requirements_integrated,
           count(*) FILTER (WHERE q.status = 'rejected') AS requirements_rejected,
           count(*) FILTER (WHERE q.status = 'failed') AS requirements_failed
    FROM requirement_cache q
    WHERE q.job_id = j.id
) AS r;
