-- The tables that only workers write lose their foreign keys.
--
-- A key made each insert of a step look its job up and lock the row again, seven times a step: more work for the server
-- than the inserts themselves. The step knows already: its fence has updated the job's row in the same statement, so the
-- row is there and nobody can delete it before the commit; a claim locks the jobs whose attempts it opens. A DELETE that
-- came first makes the fence wait and then find nothing. That all rows have their job is one of the invariants that
-- `doctor --invariants` checks.
--
-- Tables that others write as well keep theirs (feedback, requirement_cache), and so does the search index, which is
-- made outside of steps.

ALTER TABLE messages DROP CONSTRAINT messages_job_id_fkey;
ALTER TABLE checkpoints DROP CONSTRAINT checkpoints_job_id_fkey;
ALTER TABLE llm_requests DROP CONSTRAINT llm_requests_job_id_fkey;
ALTER TABLE phases DROP CONSTRAINT phases_job_id_fkey;
ALTER TABLE todos DROP CONSTRAINT todos_job_id_fkey;
ALTER TABLE replaced_todos DROP CONSTRAINT replaced_todos_job_id_fkey;
ALTER TABLE file_versions
    DROP CONSTRAINT file_versions_job_id_fkey,
    DROP CONSTRAINT file_versions_job_id_sha256_fkey;
ALTER TABLE blobs DROP CONSTRAINT blobs_job_id_fkey;
ALTER TABLE sources DROP CONSTRAINT sources_job_id_fkey;
ALTER TABLE citations DROP CONSTRAINT citations_job_id_fkey;
ALTER TABLE attempts DROP CONSTRAINT attempts_job_id_fkey;

-- One unique index an attempt in place of two: the epoch alone tells a job's attempts apart.
ALTER TABLE attempts
    DROP CONSTRAINT attempts_pkey,
    ADD CONSTRAINT attempts_pkey PRIMARY KEY USING INDEX attempts_epoch;

-- What the keys did when a job is deleted, with the rights of their owner as they had: whoever may delete a job need not
-- be able to write its rows. Deleted todos are not kept as replaced ones, because their job is gone by now.
CREATE FUNCTION jobs_delete_rows() RETURNS trigger LANGUAGE plpgsql
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
    DELETE FROM sources WHERE job_id = ANY (gone);
    DELETE FROM citations WHERE job_id = ANY (gone);
    DELETE FROM attempts WHERE job_id = ANY (gone);
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_delete_rows AFTER DELETE ON jobs REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION jobs_delete_rows();

-- And when all jobs go at once.
CREATE FUNCTION jobs_truncate_rows() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    TRUNCATE messages, checkpoints, llm_requests, phases, todos, replaced_todos, file_versions, blobs, sources, citations,
             attempts, indexed_blobs, file_passages, passage_embeddings;
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_truncate_rows AFTER TRUNCATE ON jobs
    FOR EACH STATEMENT EXECUTE FUNCTION jobs_truncate_rows();
