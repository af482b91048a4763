-- Least-privilege roles: each right granted here is used by a statement of that role's work.
--
--   plumbline_enqueue   put jobs into the queue, and read how one's own go: status, result, files, times, requirements
--   plumbline_steer     see how jobs go, and cancel, pause, resume, retry, approve and answer them
--   plumbline_approve   read jobs in review with their files, approve them or answer, and decide on calls
--   plumbline_watch     read everything; change nothing
--   plumbline_work      run workers
--   plumbline_validate  an outside validator: claim requirements and judge them, and see whether their jobs have ended
--
-- Run it as the owner of the database with CREATEROLE, or as a superuser, after every `plumbline migrate`. It is
-- idempotent and safe to run concurrently. `plumbline roles` runs it, also before `migrate` and before a restore, for
-- the objects that exist. The roles cannot log in. Grant them to your own logins:
--
--   CREATE ROLE billing LOGIN PASSWORD '…' IN ROLE plumbline_enqueue, plumbline_watch;
--
-- Only the owner may run migrations, `plumbline prune` and `plumbline fork --new-config`. A job belongs to the login
-- that inserted it; a login in several roles has the rights of all of them.

BEGIN;

-- All rights are revoked from the roles first, so that this file defines all of their rights, whatever an earlier
-- version granted. Roles belong to the server and not to the database: a concurrent run may be creating them.
DO $$
DECLARE
    role_name text;
BEGIN
    -- Serializes concurrent runs in one database. Not with an advisory lock, because any login may hold it.
    IF to_regclass('public._sqlx_migrations') IS NOT NULL THEN
        LOCK TABLE _sqlx_migrations IN SHARE ROW EXCLUSIVE MODE;
    END IF;
    FOREACH role_name IN ARRAY ARRAY['plumbline_enqueue', 'plumbline_steer', 'plumbline_approve', 'plumbline_watch',
                                     'plumbline_work', 'plumbline_validate'] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL; -- It is there, and that is what was wanted.
        END;
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA public FROM %I', role_name);
        EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA public FROM %I', role_name);
        EXECUTE format('GRANT USAGE ON SCHEMA public TO %I', role_name);
        -- Every command first checks the schema's version.
        IF to_regclass('public._sqlx_migrations') IS NOT NULL THEN
            EXECUTE format('GRANT SELECT ON _sqlx_migrations TO %I', role_name);
        END IF;
    END LOOP;
END $$;

-- Most functions run with their caller's rights, so calling them grants nothing beyond the tables below. Functions that
-- run with their owner's rights are revoked from everyone and granted below to their users. Triggers are not affected:
-- they are not called.
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

-- Checks whether the caller may read a job's files; the answer reveals nothing about other logins' jobs.
GRANT EXECUTE ON FUNCTION may_read_job(uuid) TO PUBLIC;

-- Which rows of `jobs` each role sees. The owner sees all of them, as do roles that are not in this file.
ALTER TABLE jobs ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS every_job ON jobs;
DROP POLICY IF EXISTS own_jobs ON jobs;
DROP POLICY IF EXISTS jobs_in_review ON jobs;
DROP POLICY IF EXISTS other_roles ON jobs;
CREATE POLICY every_job ON jobs TO plumbline_steer, plumbline_watch, plumbline_work USING (true);
CREATE POLICY own_jobs ON jobs TO plumbline_enqueue USING (created_by = session_user);
CREATE POLICY jobs_in_review ON jobs FOR SELECT TO plumbline_approve USING (status = 'review');
CREATE POLICY other_roles ON jobs TO PUBLIC USING ((SELECT sees_every_job()));

-- Tables with rows of jobs: an application reads the rows of its own jobs.
DO $$
DECLARE
    table_name text;
BEGIN
    FOREACH table_name IN ARRAY ARRAY['requirement_cache', 'passages', 'citations', 'todos', 'phases'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
        EXECUTE format('DROP POLICY IF EXISTS every_row ON %I', table_name);
        EXECUTE format('DROP POLICY IF EXISTS own_rows ON %I', table_name);
        EXECUTE format('DROP POLICY IF EXISTS other_roles ON %I', table_name);
        EXECUTE format('CREATE POLICY every_row ON %I TO plumbline_steer, plumbline_watch, plumbline_work, plumbline_validate '
                       'USING (true)', table_name);
        EXECUTE format('CREATE POLICY own_rows ON %I FOR SELECT TO plumbline_enqueue USING (owns_job(job_id))', table_name);
        EXECUTE format('CREATE POLICY other_roles ON %I TO PUBLIC USING ((SELECT sees_every_job()))', table_name);
    END LOOP;
END $$;

-- And which rows of `approvals`. Approvers read all of them, in any state of their jobs.
ALTER TABLE approvals ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS every_call ON approvals;
DROP POLICY IF EXISTS calls_of_own_jobs ON approvals;
DROP POLICY IF EXISTS other_roles ON approvals;
CREATE POLICY every_call ON approvals TO plumbline_approve, plumbline_steer, plumbline_watch, plumbline_work USING (true);
CREATE POLICY calls_of_own_jobs ON approvals FOR SELECT TO plumbline_enqueue USING (owns_job(job_id));
CREATE POLICY other_roles ON approvals TO PUBLIC USING ((SELECT sees_every_job()));

-- enqueue -----------------------------------------------------------------------------------------------------------
-- An application sets a job's own columns, not those that workers write. Of its own jobs it reads task, progress,
-- result and files.
GRANT INSERT (job_type, prompt, document_path, document_content, context, config, priority, run_at, max_attempts,
              idempotency_key, parent_job_id) ON jobs TO plumbline_enqueue;
GRANT SELECT (id, job_type, prompt, idempotency_key, priority, run_at, max_attempts, status, status_reason, attempt, step,
              phase_number, phase, phase_name, phases_done, phases_total, todos_done, todos_total, current_todo, result,
              error_message, error_details, total_requests, total_tokens_used, cached_tokens, cost_usd, created_at, updated_at,
              started_at, completed_at)
    ON jobs TO plumbline_enqueue;
GRANT SELECT ON workspace_files, coverage, job_summary, requirement_cache, passages, citations, todos, phases TO plumbline_enqueue;
GRANT EXECUTE ON FUNCTION owns_job(uuid), job_is_mine(text), job_of_key(text, text, text, text, text, bytea, text[], bytea[], uuid),
    workspace_file(uuid, text) TO plumbline_enqueue;
-- Documents of one's own job, before it starts (see job_documents_belong).
GRANT INSERT ON job_documents TO plumbline_enqueue;
-- Approval requests of one's own jobs, and the decisions.
GRANT SELECT ON approvals TO plumbline_enqueue;
-- Whether a live worker knows a job type.
GRANT SELECT (job_types, broken_types, heartbeat_at) ON workers TO plumbline_enqueue;

-- steer -------------------------------------------------------------------------------------------------------------
-- Progress and cost of each job, the first line of its prompt, its plan and the names of its files; not its content,
-- written by people or by the model.
GRANT SELECT (id, job_type, idempotency_key, parent_job_id, priority, run_at, max_attempts, status, status_reason, attempt,
              worker_id, step, phase_number, phase, phase_name, phases_done, phases_total, todos_done, todos_total, current_todo,
              feedback_untaken, raised_limits, result, error_message, error_details, total_requests, total_tokens_used, cached_tokens,
              cost_usd, created_by, created_at, updated_at, started_at, completed_at)
    ON jobs TO plumbline_steer;
GRANT SELECT ON job_summary, phases, todos, attempts, llm_requests, workers, workspace_files, coverage, passages TO plumbline_steer;
-- That a call waits, and its outcome; not its arguments.
GRANT SELECT (id, job_id, step, call_id, tool, state, reason, outcome, requested_at, expires_at, decided_at, decided_by,
              decided_via, executed_step) ON approvals TO plumbline_steer;
-- A plain UPDATE of the status works like a command; commands write their other columns with their owner's rights.
GRANT UPDATE (status) ON jobs TO plumbline_steer;
GRANT EXECUTE ON FUNCTION
    cancel_job(uuid), pause_job(uuid), resume_job(uuid, text, jsonb), retry_job(uuid), approve_job(uuid), send_feedback(uuid, text)
    TO plumbline_steer, plumbline_work;

-- approve ------------------------------------------------------------------------------------------------------------
-- A job in review with everything needed to judge it: its prompt, its result, its files.
GRANT SELECT (id, job_type, prompt, document_path, context, priority, status, status_reason, attempt, step, phase_number, phase,
              phase_name, phases_done, phases_total, todos_done, todos_total, current_todo, result, error_message, error_details, total_requests,
              total_tokens_used, cached_tokens, cost_usd, created_by, created_at, updated_at, started_at, completed_at)
    ON jobs TO plumbline_approve;
GRANT SELECT ON workspace_files, coverage TO plumbline_approve;
GRANT EXECUTE ON FUNCTION workspace_file(uuid, text), approve_job(uuid), send_feedback(uuid, text) TO plumbline_approve;
-- Calls of any job.
GRANT SELECT ON approvals, approval_grants TO plumbline_approve;
-- The schemas that changed arguments must fit.
GRANT SELECT (job_id, foreign_tools) ON job_settings TO plumbline_approve;
GRANT EXECUTE ON FUNCTION decide_call(uuid, text, text, jsonb, text), grant_calls(uuid, text, int) TO plumbline_approve;

-- watch -------------------------------------------------------------------------------------------------------------
GRANT SELECT ON
    jobs, job_documents, job_settings, job_commands, attempts, workers, unknown_job_types, deleted_jobs,
    approvals, approval_grants, usage_daily, usage_of_deleted, concurrency_limits, login_limits, endpoint_limits, endpoint_slots, feedback,
    messages, checkpoints, llm_requests, phases, todos, replaced_todos,
    blobs, file_versions, shared_files, job_shared_files, sources, citations, passages, coverage, requirement_cache, requirement_changes,
    indexed_blobs, file_segments, segment_embeddings, requirement_embeddings,
    job_summary, workspace_files, shared_file_versions, runnable_jobs, job_shelves,
    requirements_with_evidence
    TO plumbline_watch;
GRANT EXECUTE ON FUNCTION workspace_file(uuid, text), job_of_key(text, text, text, text, text, bytea, text[], bytea[], uuid)
    TO plumbline_watch;

-- work --------------------------------------------------------------------------------------------------------------
-- The queue. A follow-up job is inserted; the claim locks the limits that it counts, and rows through the view of
-- runnable jobs, which requires the right to update them. UPDATE is granted by column wherever nothing is deleted,
-- because a role that may update a whole table, or a view of it, may lock it against everyone.
GRANT SELECT, INSERT ON jobs TO plumbline_work;
GRANT UPDATE (status, status_reason, run_at, scheduled, attempt, crash_count, worker_id, lease_epoch, feedback_untaken, step,
              phase_number, phase, phase_name, phases_done, phases_total, todos_done, todos_total, current_todo,
              total_requests, total_tokens_used, cached_tokens, cost_usd, result, error_message, error_details,
              started_at, updated_at, untrusted_step)
    ON jobs TO plumbline_work;
GRANT SELECT, UPDATE (run_at) ON runnable_jobs TO plumbline_work;
GRANT SELECT ON job_shelves TO plumbline_work;
GRANT SELECT, UPDATE (max_running) ON concurrency_limits TO plumbline_work;
GRANT SELECT, INSERT, UPDATE, DELETE ON workers TO plumbline_work;
-- Rate limits of models' endpoints, set by configuration or learnt; all workers draw from them.
GRANT SELECT, INSERT, UPDATE, DELETE ON endpoint_limits, endpoint_slots TO plumbline_work;
GRANT SELECT, INSERT, UPDATE (ended_at, outcome, error, alone) ON attempts TO plumbline_work;
GRANT SELECT, INSERT, UPDATE, DELETE ON unknown_job_types TO plumbline_work;
GRANT SELECT, INSERT ON job_documents TO plumbline_work;
GRANT SELECT ON deleted_jobs TO plumbline_work;
GRANT SELECT, INSERT ON job_settings TO plumbline_work;
GRANT SELECT, UPDATE (taken_step) ON feedback TO plumbline_work;
-- Calls that people decide on: workers request the decision, send the call and write its result, but cannot decide.
GRANT SELECT,
      INSERT (job_id, step, call_id, tool, tool_sha256, arguments, arguments_sha256, shown, reason, requested_at, expires_at),
      UPDATE (state, edited_sha256, reason, outcome, executed_step)
    ON approvals TO plumbline_work;
GRANT EXECUTE ON FUNCTION use_grants(uuid), expire_calls(int) TO plumbline_work;
-- A step: rows are appended, closed or pruned, never undone. Only lists that are rewritten lose entries.
GRANT SELECT, INSERT, UPDATE (cleared_step) ON messages TO plumbline_work;
GRANT SELECT, INSERT, UPDATE (state) ON checkpoints TO plumbline_work;
GRANT SELECT, INSERT, UPDATE (step, counted) ON llm_requests TO plumbline_work;
GRANT SELECT, INSERT, UPDATE (outcome, closed_step, ended_at) ON phases TO plumbline_work;
GRANT SELECT, INSERT, UPDATE, DELETE ON todos TO plumbline_work;
GRANT SELECT, INSERT ON replaced_todos TO plumbline_work;
GRANT SELECT, INSERT ON blobs, file_versions, shared_files, job_shared_files TO plumbline_work;
GRANT SELECT, INSERT, UPDATE (size, pages, text_path, warnings, unread_pages, extraction) ON sources TO plumbline_work;
GRANT SELECT, INSERT ON citations TO plumbline_work;
GRANT SELECT, INSERT, UPDATE, DELETE ON passages TO plumbline_work;
GRANT SELECT, INSERT, UPDATE (status, validator_job_id, validation_result, graph_node_id, rejection_reason, retry_count,
                              last_error, validated_at) ON requirement_cache TO plumbline_work;
-- A job corrects its records; the former values are kept.
GRANT UPDATE (text, name, type, priority, source_document, source_location, gobd_relevant, gdpr_relevant, citations,
              mentioned_objects, mentioned_messages, reasoning, research_notes, confidence, tags, content_key, number)
    ON requirement_cache TO plumbline_work;
GRANT SELECT, INSERT ON requirement_changes TO plumbline_work;
GRANT SELECT ON requirements_with_evidence, workspace_files, shared_file_versions, job_summary, coverage TO plumbline_work;
-- The search index, which is built and deleted.
GRANT SELECT, INSERT, DELETE ON indexed_blobs TO plumbline_work;
GRANT SELECT, INSERT ON file_segments, segment_embeddings, requirement_embeddings TO plumbline_work;
GRANT EXECUTE ON FUNCTION index_embeddings(text, text, int) TO plumbline_work;
GRANT EXECUTE ON FUNCTION enqueue_follower(uuid), job_of_key(text, text, text, text, text, bytea, text[], bytea[], uuid),
    workspace_file(uuid, text) TO plumbline_work;

-- validate -----------------------------------------------------------------------------------------------------------
-- A requirement can be judged, not rewritten.
GRANT SELECT ON requirement_cache TO plumbline_validate;
-- Whether the job that recorded the requirement has ended.
GRANT SELECT (id, job_type, status, completed_at) ON jobs TO plumbline_validate;
GRANT UPDATE (status, validation_result, graph_node_id, rejection_reason, retry_count, last_error, validated_at)
    ON requirement_cache TO plumbline_validate;

COMMIT;
