-- Least-privilege roles, a right for a right: each one given here is used by a statement of that role's work.
--
--   plumbline_enqueue   put jobs into the queue, and learn how they end
--   plumbline_steer     cancel, pause, resume, retry, approve and answer jobs
--   plumbline_watch     read everything; change nothing
--   plumbline_work      run workers
--   plumbline_validate  an outside validator: claim requirements and judge them
--
-- Run it as the owner of the database after every `plumbline migrate`; running it again, or by many at once, does no
-- harm. The roles cannot log in. Give them to users that can, made by you with passwords of their own:
--
--   CREATE ROLE billing LOGIN PASSWORD '…' IN ROLE plumbline_enqueue, plumbline_watch;
--
-- Migrations, `plumbline prune` and `plumbline fork` stay with the owner. Nobody is kept from reading what others
-- enqueued by anything but these rights: there is one `jobs` table and no tenant in it.

BEGIN;

-- Everything is taken from the roles first, so that this file is the whole of what they may do, whatever an earlier
-- version of it gave. Roles belong to the server and not to the database: another run may make them at this moment.
DO $$
DECLARE
    role_name text;
BEGIN
    -- Two runs at once in one database would trip over each other.
    PERFORM pg_advisory_xact_lock(hashtextextended('plumbline roles', 0));
    FOREACH role_name IN ARRAY ARRAY['plumbline_enqueue', 'plumbline_steer', 'plumbline_watch', 'plumbline_work',
                                     'plumbline_validate'] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL; -- It is there, and that is what was wanted.
        END;
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA public FROM %I', role_name);
        EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA public FROM %I', role_name);
        EXECUTE format('GRANT USAGE ON SCHEMA public TO %I', role_name);
        -- Every command first asks whether it knows the schema.
        EXECUTE format('GRANT SELECT ON _sqlx_migrations TO %I', role_name);
    END LOOP;
END $$;

-- Most functions act with their caller's rights, so that calling them gives nobody more than the tables below. Those
-- that act with their owner's are taken from everyone, and given below to whom they are for. Triggers go on working:
-- nobody calls them.
DO $$
DECLARE
    of_owner regprocedure;
BEGIN
    FOR of_owner IN
        SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', of_owner);
    END LOOP;
END $$;

-- enqueue -----------------------------------------------------------------------------------------------------------
-- A job's own columns can be set, what the workers write cannot. The columns that can be read are those by which a
-- known key is found and a caller sees how the job goes; not prompts, documents or results, which may be others'.
GRANT INSERT (id, job_type, prompt, document_path, document_content, context, config, priority, run_at, max_attempts,
              idempotency_key, parent_job_id) ON jobs TO plumbline_enqueue;
GRANT SELECT (id, job_type, idempotency_key, status, status_reason, error_message) ON jobs TO plumbline_enqueue;
GRANT EXECUTE ON FUNCTION job_is_anothers(text) TO plumbline_enqueue;

-- steer -------------------------------------------------------------------------------------------------------------
GRANT SELECT (id, job_type, status, status_reason, attempt, feedback_untaken) ON jobs TO plumbline_steer;
-- A plain UPDATE of the status works as well as a command; what commands write besides, they write with their owner's rights.
GRANT UPDATE (status) ON jobs TO plumbline_steer;
GRANT EXECUTE ON FUNCTION
    cancel_job(uuid), pause_job(uuid), resume_job(uuid, text), retry_job(uuid), approve_job(uuid), send_feedback(uuid, text)
    TO plumbline_steer, plumbline_work;

-- watch -------------------------------------------------------------------------------------------------------------
GRANT SELECT ON
    jobs, job_settings, job_commands, attempts, workers, concurrency_limits, feedback,
    messages, checkpoints, llm_requests, phases, todos, replaced_todos,
    blobs, file_versions, shared_files, job_shared_files, sources, citations, requirement_cache,
    indexed_blobs, file_passages, passage_embeddings, requirement_embeddings,
    job_summary, workspace_files, shared_file_versions, runnable_jobs, waiting_lanes, job_shelves,
    requirements_with_evidence
    TO plumbline_watch;

-- work --------------------------------------------------------------------------------------------------------------
-- The queue. A follow-up job is inserted; the claim locks the limits it counts by, and rows through the view of what
-- is runnable, which takes the right to update them.
GRANT SELECT, INSERT, UPDATE ON jobs TO plumbline_work;
GRANT SELECT, UPDATE ON runnable_jobs TO plumbline_work;
GRANT SELECT ON waiting_lanes, job_shelves TO plumbline_work;
GRANT SELECT, UPDATE (max_running) ON concurrency_limits TO plumbline_work;
GRANT SELECT, INSERT, UPDATE, DELETE ON workers TO plumbline_work;
GRANT SELECT, INSERT, UPDATE ON attempts TO plumbline_work;
GRANT SELECT, INSERT ON job_settings TO plumbline_work;
GRANT SELECT, UPDATE (taken_step) ON feedback TO plumbline_work;
-- A step: appended, closed or thinned out, never taken back. Only lists that are written anew lose entries.
GRANT SELECT, INSERT, UPDATE (cleared_step) ON messages TO plumbline_work;
GRANT SELECT, INSERT, UPDATE (state) ON checkpoints TO plumbline_work;
GRANT SELECT, INSERT ON llm_requests TO plumbline_work;
GRANT SELECT, INSERT, UPDATE ON phases TO plumbline_work;
GRANT SELECT, INSERT, UPDATE, DELETE ON todos TO plumbline_work;
GRANT SELECT, INSERT ON replaced_todos TO plumbline_work;
GRANT SELECT, INSERT ON blobs, file_versions, shared_files, job_shared_files TO plumbline_work;
GRANT SELECT, INSERT, UPDATE ON sources TO plumbline_work;
GRANT SELECT, INSERT ON citations TO plumbline_work;
GRANT SELECT, INSERT, UPDATE (status, validator_job_id, validation_result, graph_node_id, rejection_reason, retry_count,
                              last_error, validated_at) ON requirement_cache TO plumbline_work;
GRANT SELECT ON requirements_with_evidence, workspace_files, shared_file_versions, job_summary TO plumbline_work;
-- The search index, which is made and forgotten.
GRANT SELECT, INSERT, DELETE ON indexed_blobs TO plumbline_work;
GRANT SELECT, INSERT ON file_passages, passage_embeddings, requirement_embeddings TO plumbline_work;
GRANT EXECUTE ON FUNCTION index_embeddings(text, text, int) TO plumbline_work;
GRANT EXECUTE ON FUNCTION enqueue_follower(uuid) TO plumbline_work;

-- validate ----------------------------------------------------------------------------------------------------------
-- A requirement is judged, never rewritten.
GRANT SELECT ON requirement_cache TO plumbline_validate;
GRANT UPDATE (status, validation_result, graph_node_id, rejection_reason, retry_count, last_error, validated_at)
    ON requirement_cache TO plumbline_validate;

COMMIT;
