-- The validator job type: which job holds a row, what becomes of its rows when it ends, what it compares them with; and
-- the follower of a job that a person approves.

ALTER TABLE requirement_cache ADD COLUMN validator_job_id uuid;
COMMENT ON COLUMN requirement_cache.validator_job_id IS
    'The validator job that holds the row (validating) or was the last to judge it. Outside validators leave it null.';
-- What near-duplicates are looked up by. No language: documents have several.
ALTER TABLE requirement_cache ADD COLUMN words tsvector GENERATED ALWAYS AS (to_tsvector('simple', text)) STORED;

CREATE INDEX requirement_cache_words ON requirement_cache USING gin (words);
CREATE INDEX requirement_cache_validator ON requirement_cache (validator_job_id) WHERE validator_job_id IS NOT NULL;
CREATE INDEX requirement_cache_queue_of_job ON requirement_cache (job_id, created_at, id) WHERE status = 'pending';

-- Any of a text's words. plainto_tsquery asks for all of them.
CREATE FUNCTION any_word_of(text text) RETURNS tsquery LANGUAGE sql IMMUTABLE AS $$
    SELECT replace(plainto_tsquery('simple', any_word_of.text)::text, '&', '|')::tsquery
$$;

-- The job whose requirements a validator job checks; null: everybody's. Its context names it, which a fork and a job
-- inserted by hand have as well; without that it is the job that enqueued it. A fork's parent is the job it was forked
-- from, so it does not count.
CREATE FUNCTION validation_scope(validator jobs) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN validator.context ->> 'parent_job_id' ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
            THEN (validator.context ->> 'parent_job_id')::uuid
        WHEN validator.forked_step IS NULL THEN validator.parent_job_id
    END
$$;

-- A row as a validator needs it: complete, and with how many of its citations its own job has verified. The row's word
-- for it is not enough, because anybody may write rows.
CREATE VIEW requirements_with_evidence AS
SELECT r.job_id, r.id, r.candidate_id, r.text, r.name, r.type, r.priority, r.source_document, r.source_location,
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

-- A job that ends gives back what it holds, whichever way it ends and whoever ends it, in the same transaction. A job
-- whose worker died keeps its rows, for it goes on elsewhere. Runs with its owner's rights, so that a role that may
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

-- The job that follows a completed one, if its configuration names any; the worker does the same when it completes a
-- job itself, under the same key, so it happens once. Services that the job was told to use go with it. Runs with its
-- owner's rights: whoever may approve a job need not be able to read its settings.
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
    ON CONFLICT (job_type, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
$$;

CREATE OR REPLACE FUNCTION approve_job(id uuid) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM job_status_for('approve_job', approve_job.id, ARRAY['review']);
    PERFORM set_config('plumbline.command', approve_job.id::text, true);
    UPDATE jobs j SET status = 'completed' WHERE j.id = approve_job.id;
    PERFORM set_config('plumbline.command', '', true);
    PERFORM enqueue_follower(approve_job.id);
    RETURN 'completed';
END $$;
