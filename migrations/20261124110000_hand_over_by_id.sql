-- The hand-over to a validator: rows by their id, a word when there are new ones, and evidence over a page break.

-- A row's id is its key, so that others' tables can refer to it and ON CONFLICT (id) works. Rows of a job are read by
-- (job_id, id) as before.
ALTER TABLE requirement_embeddings DROP CONSTRAINT requirement_embeddings_job_id_requirement_id_fkey;
ALTER TABLE requirement_cache
    DROP CONSTRAINT requirement_cache_pkey,
    ADD PRIMARY KEY (id),
    ADD CONSTRAINT requirement_cache_of_job UNIQUE (job_id, id);
DROP INDEX requirement_cache_by_id;
ALTER TABLE requirement_embeddings
    ADD FOREIGN KEY (job_id, requirement_id) REFERENCES requirement_cache (job_id, id) ON DELETE CASCADE;

ALTER TABLE requirement_cache
    DROP CONSTRAINT requirement_cache_status_check,
    ADD CONSTRAINT requirement_cache_status_check
        CHECK (status IN ('pending', 'validating', 'integrated', 'rejected', 'failed', 'withdrawn'));

-- Whoever validates is told of new rows when they can be seen, once a statement and job.
CREATE FUNCTION requirement_cache_notify() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM pg_notify('plumbline_requirements', json_build_object('job_id', a.job_id, 'count', a.count)::text)
    FROM (SELECT job_id, count(*) FROM added WHERE status = 'pending' GROUP BY job_id) AS a;
    RETURN NULL;
END $$;
CREATE TRIGGER requirement_cache_notify AFTER INSERT ON requirement_cache
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION requirement_cache_notify();

-- The page on which a quote ends, where that is another one than the page on which it begins.
ALTER TABLE citations ADD COLUMN page_to int;

-- A fork's citations have it too.
CREATE OR REPLACE FUNCTION fork_findings(source uuid, at_step bigint, target uuid) RETURNS void LANGUAGE sql
SET search_path = public, pg_temp AS $$
    INSERT INTO blobs (job_id, sha256, content)
    SELECT target, b.sha256, b.content
    FROM blobs b
    WHERE b.job_id = source AND b.sha256 IN (
        SELECT DISTINCT ON (v.path) v.sha256
        FROM file_versions v
        WHERE v.job_id = source AND v.step <= at_step
        ORDER BY v.path, v.step DESC);

    INSERT INTO file_versions (job_id, path, step, sha256, size, placeholder, created_at)
    SELECT target, latest.path, latest.step, latest.sha256, latest.size, latest.placeholder, latest.created_at
    FROM (
        SELECT DISTINCT ON (v.path) v.*
        FROM file_versions v
        WHERE v.job_id = source AND v.step <= at_step
        ORDER BY v.path, v.step DESC
    ) AS latest
    WHERE latest.sha256 IS NOT NULL;

    INSERT INTO job_shared_files (job_id, set_id, step, created_at)
    SELECT target, u.set_id, u.step, u.created_at
    FROM job_shared_files u
    WHERE u.job_id = source AND u.step <= at_step;

    INSERT INTO sources (job_id, path, size, pages, text_path)
    SELECT target, s.path, s.size, s.pages, t.path
    FROM sources s
    JOIN file_versions f ON f.job_id = target AND f.path = s.path
    LEFT JOIN file_versions t ON t.job_id = target AND t.path = s.text_path
    WHERE s.job_id = source;

    INSERT INTO citations (job_id, id, source, page, page_to, quote, verified, step)
    SELECT target, c.id, c.source, c.page, c.page_to, c.quote, c.verified, c.step
    FROM citations c
    WHERE c.job_id = fork_findings.source AND c.step <= at_step;

    INSERT INTO requirement_cache (job_id, id, candidate_id, text, name, type, priority, source_document,
                                   source_location, gobd_relevant, gdpr_relevant, citations, mentioned_objects,
                                   mentioned_messages, reasoning, research_notes, confidence, tags, content_key, step)
    SELECT target, (left(r.id::text, 28) || right(gen_random_uuid()::text, 8))::uuid, r.candidate_id, r.text, r.name,
           r.type, r.priority, r.source_document, r.source_location, r.gobd_relevant, r.gdpr_relevant, r.citations,
           r.mentioned_objects, r.mentioned_messages, r.reasoning, r.research_notes, r.confidence, r.tags,
           r.content_key, r.step
    FROM requirement_cache r
    WHERE r.job_id = source AND r.step <= at_step;
$$;

-- A job whose type records requirements and that has none to hand over is followed by no validator.
CREATE OR REPLACE FUNCTION enqueue_follower(job uuid) RETURNS void LANGUAGE sql
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
      AND (NOT s.resolved @@ '$.config.tools.*[*] == "add_requirement"'
           OR EXISTS (SELECT FROM requirement_cache r WHERE r.job_id = j.id AND r.status = 'pending'))
    ON CONFLICT (job_type, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
$$;
