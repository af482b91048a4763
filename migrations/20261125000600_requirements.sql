-- What a job finds (citations and requirements), and the hand-over of requirements to a validator: a job of the
-- built-in job type or an external program.

-- The id is derived from source, page and quote, so a repeated citation is one row.
CREATE TABLE citations (
    job_id   uuid NOT NULL,
    id       text NOT NULL,
    source   text NOT NULL,
    page     int,
    page_to  int,
    passage  int,
    "from"   int,
    "to"     int,
    quote    text NOT NULL,
    verified boolean NOT NULL,
    step     bigint NOT NULL,
    PRIMARY KEY (job_id, id)
);
COMMENT ON TABLE citations IS 'Quotes of a job''s documents, each found in its source.';
COMMENT ON COLUMN citations.page_to IS 'The page on which the quote ends, where that is another one than it begins on.';
COMMENT ON COLUMN citations.passage IS 'The passage in which the quote begins; "from" and "to" are the sentences of it that it touches.';

CREATE TABLE requirement_cache (
    job_id             uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    id                 uuid PRIMARY KEY DEFAULT uuid_v7(),
    number             int,
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
        CHECK (status IN ('pending', 'validating', 'integrated', 'rejected', 'failed', 'withdrawn')),
    validation_result  jsonb,
    graph_node_id      text,
    rejection_reason   text,
    retry_count        int NOT NULL DEFAULT 0,
    last_error         text,
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now(),
    validated_at       timestamptz,
    tags               jsonb NOT NULL DEFAULT '[]',
    validator_job_id   uuid,
    step               bigint,
    -- SHA-256 of the normalized text; external writers may omit it.
    content_key        bytea,
    -- For finding near-duplicates. The configuration has no language, because documents have several.
    words              tsvector GENERATED ALWAYS AS (to_tsvector('simple', text)) STORED,
    -- A job's rows are looked up by both columns.
    CONSTRAINT requirement_cache_of_job UNIQUE (job_id, id),
    -- Other programs write these columns, and a reader of our times ends at one without a year.
    CONSTRAINT requirement_cache_times_are_in_years_1_to_9999
        CHECK (least(created_at, updated_at, validated_at) >= '0001-01-01 00:00:00Z'
               AND greatest(created_at, updated_at, validated_at) < '10000-01-01 00:00:00Z')
);
COMMENT ON TABLE requirement_cache IS
    'Requirements: pending, then validating, then integrated, rejected or failed; or withdrawn by the job that recorded them.';
COMMENT ON COLUMN requirement_cache.number IS 'The job''s own count: r12. Null for rows of other producers.';
COMMENT ON COLUMN requirement_cache.candidate_id IS 'The short id that the model uses, unique in its job.';
COMMENT ON COLUMN requirement_cache.validator_job_id IS
    'The validator job that holds the row (validating) or was the last to judge it. Outside validators leave it null.';
-- Workers load whole rows, including those that other programs write or judge.
CREATE TRIGGER requirement_cache_at_most_1_mib BEFORE INSERT OR UPDATE ON requirement_cache
    FOR EACH ROW WHEN (octet_length(concat(
        NEW.candidate_id, NEW.name, NEW.type, NEW.priority, NEW.source_document, NEW.source_location, NEW.citations,
        NEW.mentioned_objects, NEW.mentioned_messages, NEW.reasoning, NEW.research_notes, NEW.status, NEW.validation_result,
        NEW.graph_node_id, NEW.rejection_reason, NEW.last_error, NEW.tags)) > 1048576)
    EXECUTE FUNCTION jobs_too_large('requirement', '1 MiB', 'say it shorter');
CREATE UNIQUE INDEX requirement_cache_once ON requirement_cache (job_id, content_key) WHERE content_key IS NOT NULL;
CREATE INDEX requirement_cache_by_candidate ON requirement_cache (job_id, candidate_id);
-- A validator of all jobs, built-in or external, claims the oldest pending rows.
CREATE INDEX requirement_cache_queue ON requirement_cache (created_at, id) WHERE status = 'pending';
-- A validator of one job claims that job's rows. If none were pending when the table was last analyzed, the planner
-- estimates one pending row in total, and considers the index for one job no better than the index for all jobs. So the
-- statements of a validator of one job write the condition in another form, which only this index matches. It matches
-- the usual form too, which other programs use.
CREATE INDEX requirement_cache_queue_of_job ON requirement_cache (job_id, created_at, id)
    WHERE status = 'pending' OR status IS NOT DISTINCT FROM 'pending';
CREATE INDEX requirement_cache_validator ON requirement_cache (validator_job_id) WHERE validator_job_id IS NOT NULL;
-- Each turn reads the rows that a validator job holds: these few, not all that the job has judged before.
CREATE INDEX requirement_cache_held ON requirement_cache (validator_job_id) WHERE status = 'validating';
-- Near-duplicates are searched among all integrated rows, with this index, and among the waiting rows of one job, which
-- are few and need no index: an index of the waiting rows took a third of the time of an INSERT and half of its WAL.
-- New words are first added to the GIN pending list, which each search reads through; a list of 4 MiB, the default,
-- would double the time of a search.
CREATE INDEX requirement_cache_words ON requirement_cache USING gin (words) WITH (gin_pending_list_limit = 256)
    WHERE status = 'integrated';

CREATE FUNCTION requirement_cache_touch() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    NEW.updated_at := now();
    RETURN NEW;
END $$;

CREATE TRIGGER requirement_cache_touch BEFORE UPDATE ON requirement_cache
    FOR EACH ROW EXECUTE FUNCTION requirement_cache_touch();

-- "Not judged" is written as SQL NULL alone. Programs that serialize the column write JSON null for it, and such a row
-- would count as judged: no validator would claim it, and prune would delete it.
CREATE FUNCTION requirement_cache_not_judged() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    NEW.validation_result := NULL;
    RETURN NEW;
END $$;

CREATE TRIGGER requirement_cache_not_judged BEFORE INSERT OR UPDATE OF validation_result ON requirement_cache
    FOR EACH ROW WHEN (NEW.validation_result = 'null') EXECUTE FUNCTION requirement_cache_not_judged();

-- Notifies validators of new rows at commit, once per statement and job.
CREATE FUNCTION requirement_cache_notify() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM pg_notify('plumbline_requirements', CASE WHEN notices_tell_all() THEN json_build_object('job_id', a.job_id, 'count', a.count)
                                                     ELSE json_build_object('job_id', a.job_id) END::text)
    FROM (SELECT job_id, count(*) FROM added WHERE status = 'pending' GROUP BY job_id) AS a;
    RETURN NULL;
END $$;

CREATE TRIGGER requirement_cache_notify AFTER INSERT ON requirement_cache
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION requirement_cache_notify();

-- Changes -----------------------------------------------------------------------------------------------------------
-- A job can correct or withdraw what it recorded until a validator has taken the row.

CREATE TABLE requirement_changes (
    job_id         uuid NOT NULL,
    requirement_id uuid NOT NULL,
    step           bigint NOT NULL,
    -- Position among the changes of the step.
    position       int NOT NULL,
    kind           text NOT NULL CHECK (kind IN ('updated', 'withdrawn')),
    reason         text NOT NULL,
    fields         jsonb NOT NULL,
    former         jsonb NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (job_id, step, position),
    FOREIGN KEY (job_id, requirement_id) REFERENCES requirement_cache (job_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE requirement_changes IS 'The changes that a job made to the requirements it recorded, with their former values.';
COMMENT ON COLUMN requirement_changes.fields IS 'The columns that changed, with their new values; empty where the requirement was withdrawn.';
COMMENT ON COLUMN requirement_changes.former IS 'The former values of all columns that a job writes.';
CREATE INDEX requirement_changes_of_row ON requirement_changes (job_id, requirement_id, step, position);

-- The fields of a requirement that a job writes, so that they can be restored.
CREATE FUNCTION requirement_as_written(r requirement_cache) RETURNS jsonb LANGUAGE sql STABLE
SET search_path = public, pg_temp AS $$
    SELECT jsonb_build_object(
        'text', r.text, 'name', r.name, 'type', r.type, 'priority', r.priority, 'source_document', r.source_document,
        'source_location', r.source_location, 'gobd_relevant', r.gobd_relevant, 'gdpr_relevant', r.gdpr_relevant,
        'citations', r.citations, 'mentioned_objects', r.mentioned_objects, 'mentioned_messages', r.mentioned_messages,
        'reasoning', r.reasoning, 'research_notes', r.research_notes, 'confidence', r.confidence, 'tags', r.tags,
        'content_key', r.content_key, 'status', r.status, 'validation_result', r.validation_result)
$$;

-- The requirements of a job as of a step: rows that changed later are returned as they were before the first later
-- change. at_step -1 returns each row as it was first recorded, before other changes by the same step.
CREATE FUNCTION requirements_at(job uuid, at_step bigint) RETURNS SETOF requirement_cache LANGUAGE sql STABLE
SET search_path = public, pg_temp AS $$
    SELECT (jsonb_populate_record(r, coalesce(c.former, '{}'))).*
    FROM requirement_cache r
    LEFT JOIN LATERAL (
        SELECT l.former
        FROM requirement_changes l
        WHERE l.job_id = r.job_id AND l.requirement_id = r.id AND l.step > at_step
        ORDER BY l.step, l.position
        LIMIT 1
    ) AS c ON true
    WHERE r.job_id = job AND (r.step <= at_step OR at_step < 0)
$$;

-- Sets n_requirements of these jobs' passages: requirements with a verified citation that begins in the passage.
CREATE FUNCTION count_requirements_of_passages(jobs uuid[]) RETURNS void LANGUAGE sql
SET search_path = public, pg_temp AS $$
    UPDATE passages p
    SET n_requirements = found.n
    FROM (
        SELECT k.job_id, k.passage, count(DISTINCT r.id) AS n
        FROM passages k
        LEFT JOIN (
            SELECT q.job_id, q.id, c.value ->> 'passage' AS passage
            FROM requirement_cache q
            CROSS JOIN LATERAL jsonb_array_elements(
                CASE jsonb_typeof(q.citations) WHEN 'array' THEN q.citations ELSE '[]' END) AS c
            WHERE q.job_id = ANY (jobs) AND q.status <> 'withdrawn' AND c.value -> 'verified' = 'true'
        ) AS r ON r.job_id = k.job_id AND r.passage = k.passage::text
        WHERE k.job_id = ANY (jobs)
        GROUP BY k.job_id, k.passage
    ) AS found
    WHERE p.job_id = found.job_id AND p.passage = found.passage AND p.n_requirements <> found.n
$$;

-- Validators --------------------------------------------------------------------------------------------------------

-- The job whose requirements a validator job checks; null: all jobs. The validator's context names it, also in a fork
-- or a job inserted by hand; otherwise it is the job that enqueued the validator. The parent of a fork is the job that
-- was forked, so it does not count.
CREATE FUNCTION validation_scope(validator jobs) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN validator.context ->> 'parent_job_id' ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
            THEN (validator.context ->> 'parent_job_id')::uuid
        WHEN validator.forked_step IS NULL THEN validator.parent_job_id
    END
$$;

-- The job whose requirements a validator judges; null: all jobs; the nil UUID: no job, because the validator's creator
-- may not judge the requirements of the job or of all jobs.
CREATE FUNCTION judged_job(validator jobs) RETURNS uuid LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT CASE
        WHEN acts_for_others(validator.created_by)
             OR EXISTS (SELECT FROM jobs o WHERE o.id = validation_scope(validator) AND o.created_by = validator.created_by)
            THEN validation_scope(validator)
        ELSE '00000000-0000-0000-0000-000000000000'
    END
$$;

-- A row as a validator needs it: complete, and with the number of its citations that its own job has verified. The
-- row's own `verified` flags are not trusted, because other programs may write rows too.
CREATE VIEW requirements_with_evidence AS
SELECT r.job_id, r.id, r.number, r.candidate_id, r.text, r.name, r.type, r.priority, r.source_document, r.source_location,
       r.gobd_relevant, r.gdpr_relevant, r.citations, r.mentioned_objects, r.mentioned_messages, r.reasoning,
       r.confidence, r.tags, r.status, r.validator_job_id, r.created_at, e.given AS citations_given,
       e.confirmed AS citations_confirmed
FROM requirement_cache r
CROSS JOIN LATERAL (
    SELECT count(*) AS given,
           count(*) FILTER (WHERE EXISTS (
               SELECT FROM citations c
               WHERE c.job_id = r.job_id AND c.source = cited ->> 'source' AND c.quote = cited ->> 'quote' AND c.verified
           )) AS confirmed
    FROM jsonb_array_elements(CASE jsonb_typeof(r.citations) WHEN 'array' THEN r.citations ELSE '[]' END) AS cited
) AS e;
COMMENT ON VIEW requirements_with_evidence IS 'Requirements with the number of their quotes that their own job has verified.';

-- A job that ends, for any reason and by any role, returns the rows it holds in the same transaction. A job whose
-- worker was lost keeps its rows, because it continues on another worker. SECURITY DEFINER, so that a role that may
-- only cancel jobs needs no access to the rows.
CREATE FUNCTION requirements_give_back() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE requirement_cache SET status = 'pending', validator_job_id = NULL
    WHERE validator_job_id = OLD.id AND status = 'validating';
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_give_back_requirements AFTER UPDATE OF status ON jobs
    FOR EACH ROW WHEN (OLD.status <> NEW.status AND NEW.status IN ('completed', 'failed', 'cancelled'))
    EXECUTE FUNCTION requirements_give_back();
CREATE TRIGGER jobs_deleted_give_back_requirements AFTER DELETE ON jobs
    FOR EACH ROW EXECUTE FUNCTION requirements_give_back();
