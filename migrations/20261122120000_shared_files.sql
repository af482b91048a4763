-- Files that many jobs have alike, the documentation of their tools, are kept once for all of them: half a hundred files,
-- which were most of what a job's first step wrote. A job names the set of them that it has, from the step on with which
-- it got it; the set never changes, and no job writes to the paths in it.
--
-- Sets stay when their jobs are gone: there is one for each release and set of bound tools, about 100 KB.
CREATE TABLE shared_files (
    -- SHA-256 of its paths and hashes.
    set_id      bytea NOT NULL,
    path        text NOT NULL,
    sha256      bytea NOT NULL,
    size        bigint NOT NULL,
    placeholder boolean NOT NULL,
    content     bytea NOT NULL,
    PRIMARY KEY (set_id, path)
);

CREATE TABLE job_shared_files (
    job_id     uuid PRIMARY KEY,
    set_id     bytea NOT NULL,
    step       bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- What file_versions and blobs are for a job's own files.
CREATE VIEW shared_file_versions AS
SELECT u.job_id, f.path, u.step, f.sha256, f.size, f.placeholder, u.created_at, f.content
FROM job_shared_files u
JOIN shared_files f ON f.set_id = u.set_id;

CREATE OR REPLACE VIEW workspace_files AS
SELECT job_id, path, size, encode(sha256, 'hex') AS sha256, step, created_at AS updated_at
FROM (
    SELECT DISTINCT ON (job_id, path) job_id, path, size, sha256, step, created_at
    FROM file_versions
    ORDER BY job_id, path, step DESC
) AS latest
WHERE sha256 IS NOT NULL
UNION ALL
SELECT job_id, path, size, encode(sha256, 'hex'), step, created_at
FROM shared_file_versions;

CREATE OR REPLACE FUNCTION workspace_file(job_id uuid, path text) RETURNS bytea LANGUAGE sql STABLE
SET search_path = public, pg_temp AS $$
    SELECT b.content
    FROM (
        SELECT v.job_id, v.sha256
        FROM file_versions v
        WHERE v.job_id = workspace_file.job_id AND v.path = workspace_file.path
        ORDER BY v.step DESC
        LIMIT 1
    ) AS latest
    JOIN blobs b ON b.job_id = latest.job_id AND b.sha256 = latest.sha256
    UNION ALL
    SELECT s.content
    FROM shared_file_versions s
    WHERE s.job_id = workspace_file.job_id AND s.path = workspace_file.path
$$;

-- A fork has the set too.
CREATE OR REPLACE FUNCTION fork_findings(source uuid, at_step bigint, target uuid) RETURNS void LANGUAGE sql AS $$
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

    INSERT INTO citations (job_id, id, source, page, quote, verified, step)
    SELECT target, c.id, c.source, c.page, c.quote, c.verified, c.step
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

-- What belongs to a job goes with it; the sets stay.
CREATE OR REPLACE FUNCTION jobs_delete_rows() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    gone uuid[] := ARRAY(SELECT id FROM deleted);
BEGIN
    -- Nothing was deleted.
    IF cardinality(gone) = 0 THEN
        RETURN NULL;
    END IF;
    DELETE FROM messages WHERE job_id = ANY (gone);
    DELETE FROM checkpoints WHERE job_id = ANY (gone);
    DELETE FROM llm_requests WHERE job_id = ANY (gone);
    DELETE FROM phases WHERE job_id = ANY (gone);
    DELETE FROM todos WHERE job_id = ANY (gone);
    DELETE FROM replaced_todos WHERE job_id = ANY (gone);
    DELETE FROM file_versions WHERE job_id = ANY (gone);
    DELETE FROM blobs WHERE job_id = ANY (gone);
    DELETE FROM job_shared_files WHERE job_id = ANY (gone);
    DELETE FROM sources WHERE job_id = ANY (gone);
    DELETE FROM citations WHERE job_id = ANY (gone);
    DELETE FROM attempts WHERE job_id = ANY (gone);
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION jobs_truncate_rows() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    TRUNCATE messages, checkpoints, llm_requests, phases, todos, replaced_todos, file_versions, blobs, job_shared_files, sources,
             citations, attempts, indexed_blobs, file_passages, passage_embeddings;
    RETURN NULL;
END $$;
