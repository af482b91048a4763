-- Views of all jobs for people and dashboards, the deletion of jobs, and what is kept of deleted ones.

-- percent: completed phases, plus completed todos of a tactical phase under way; 100 only when the job is completed.
CREATE VIEW job_summary WITH (security_barrier) AS
SELECT j.id, j.job_type, left(j.prompt, 120) AS prompt, j.status, j.status_reason, j.attempt, j.step,
       j.phase_number, j.phase, j.phase_name, j.todos_done, j.todos_total, j.current_todo,
       r.requirements, r.requirements_pending, r.requirements_validating, r.requirements_integrated,
       r.requirements_rejected, r.requirements_failed,
       j.total_requests, j.total_tokens_used, j.cached_tokens, j.cost_usd, j.error_message,
       j.created_at, j.updated_at, j.started_at, j.completed_at,
       j.parent_job_id, j.phases_done, j.phases_total,
       CASE WHEN j.status = 'completed' THEN 100
            WHEN coalesce(j.phases_total, 0) = 0 THEN 0
            ELSE least(99, floor(100 * (j.phases_done + CASE WHEN j.phase = 'tactical' AND j.todos_total > 0
                                                             THEN j.todos_done::numeric / j.todos_total ELSE 0 END)
                                 / j.phases_total))
       END::int AS percent,
       (SELECT v.status FROM jobs v
        WHERE v.parent_job_id = j.id AND v.idempotency_key LIKE 'on\_complete:%'
        ORDER BY v.created_at DESC, v.id DESC LIMIT 1) AS validator_status,
       r.requirements_checked, j.result,
       nullif(p.passages, 0) AS passages, CASE WHEN p.passages > 0 THEN p.answered END AS passages_answered,
       -- A null coverage in the result means that the job type has coverage: off.
       CASE WHEN j.result -> 'coverage' IS DISTINCT FROM 'null'::jsonb
            THEN trunc(p.answered::numeric / nullif(p.passages, 0), 4) END AS coverage,
       coalesce(j.result ->> 'headline', j.error_details ->> 'headline') AS headline,
       (SELECT count(*) FROM approvals a WHERE a.job_id = j.id AND a.state = 'pending') AS waiting_calls
FROM jobs j
CROSS JOIN LATERAL (
    SELECT count(*) AS passages, count(*) FILTER (WHERE q.state = 'answered') AS answered
    FROM passages q
    WHERE q.job_id = j.id
) AS p
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE q.status <> 'withdrawn') AS requirements,
           count(*) FILTER (WHERE q.status = 'pending') AS requirements_pending,
           count(*) FILTER (WHERE q.status = 'validating') AS requirements_validating,
           count(*) FILTER (WHERE q.status = 'integrated') AS requirements_integrated,
           count(*) FILTER (WHERE q.status = 'rejected') AS requirements_rejected,
           count(*) FILTER (WHERE q.status = 'failed') AS requirements_failed,
           -- Judged, with any verdict: a row that passed and waits for a graph is pending again.
           count(*) FILTER (WHERE q.validated_at IS NOT NULL
                               OR q.status IN ('integrated', 'rejected', 'failed')) AS requirements_checked
    FROM requirement_cache q
    WHERE q.job_id = j.id
) AS r
-- Logins that may read only their own jobs see only these here, too.
WHERE (SELECT sees_every_job()) OR j.created_by = session_user;
COMMENT ON VIEW job_summary IS 'One row per job, with the counts of its requirements, the status of its validator, the headline of its result and the number of calls that wait for a decision.';

-- A shelf is the jobs of one status and job type, oldest first; lists read the end of each shelf that they show. For
-- waiting jobs an INSERT adds an entry of only two columns. Their index has a condition that only its readers write: if
-- the queue was empty when the table was last analyzed, the planner estimates one waiting job in total, and considers
-- any index that contains the waiting jobs as good as jobs_queue.
CREATE INDEX jobs_waiting ON jobs (job_type, created_at)
    WITH (deduplicate_items = off) WHERE status = 'pending' AND attempt >= 0;
CREATE INDEX jobs_shelves ON jobs (status, job_type, created_at)
    WITH (deduplicate_items = off) WHERE status <> 'running' AND status <> 'pending';

-- The shelves that have jobs, found by a skip scan of the two indexes.
CREATE VIEW job_shelves AS
WITH RECURSIVE waiting AS (
    (
        SELECT job_type
        FROM jobs
        WHERE status = 'pending' AND attempt >= 0
        ORDER BY job_type
        LIMIT 1
    )
    UNION ALL
    SELECT next.job_type
    FROM waiting
    CROSS JOIN LATERAL (
        SELECT j.job_type
        FROM jobs j
        WHERE j.status = 'pending' AND j.attempt >= 0 AND j.job_type > waiting.job_type
        ORDER BY j.job_type
        LIMIT 1
    ) AS next
), others AS (
    (
        SELECT status, job_type
        FROM jobs
        WHERE status <> 'running' AND status <> 'pending'
        ORDER BY status, job_type
        LIMIT 1
    )
    UNION ALL
    SELECT next.status, next.job_type
    FROM others
    CROSS JOIN LATERAL (
        SELECT j.status, j.job_type
        FROM jobs j
        WHERE j.status <> 'running' AND j.status <> 'pending' AND (j.status, j.job_type) > (others.status, others.job_type)
        ORDER BY j.status, j.job_type
        LIMIT 1
    ) AS next
)
SELECT 'pending'::text AS status, job_type FROM waiting
UNION ALL
SELECT status, job_type FROM others;

-- Usage -------------------------------------------------------------------------------------------------------------

CREATE TABLE usage_of_deleted (
    day      date NOT NULL,
    job_type text NOT NULL,
    model    text NOT NULL,
    requests bigint NOT NULL,
    tokens   bigint NOT NULL,
    cost_usd numeric NOT NULL,
    PRIMARY KEY (day, job_type, model)
);
COMMENT ON TABLE usage_of_deleted IS 'Requests, tokens and cost of deleted jobs; read usage_daily, which has those of the others too.';

CREATE VIEW usage_daily AS
SELECT day, job_type, model, sum(requests)::bigint AS requests, sum(tokens)::bigint AS tokens, sum(cost_usd) AS cost_usd
FROM (
    SELECT (r.created_at AT TIME ZONE 'UTC')::date AS day, j.job_type, r.model, count(*) AS requests,
           sum(r.prompt_tokens + r.completion_tokens) AS tokens,
           sum(r.cost_usd) AS cost_usd
    FROM llm_requests r
    JOIN jobs j ON j.id = r.job_id
    GROUP BY 1, 2, 3
    UNION ALL
    SELECT day, job_type, model, requests, tokens, cost_usd FROM usage_of_deleted
) AS used
GROUP BY day, job_type, model;
COMMENT ON VIEW usage_daily IS 'Requests, tokens (prompt and completion) and cost a day (UTC), job type and model, deleted jobs included.';

-- Deletion ----------------------------------------------------------------------------------------------------------
-- Folders of deleted jobs are on volumes that the deleting session may not reach. Each worker reads here which folders
-- to remove from its own volume. No worker reads rows that are older than 90 days.
CREATE TABLE deleted_jobs (
    id         uuid PRIMARY KEY,
    deleted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE deleted_jobs IS 'Jobs deleted within the last 90 days, for the workers that have a folder of theirs.';
CREATE INDEX deleted_jobs_by_time ON deleted_jobs (deleted_at);

-- BEFORE DELETE, because the job's requests are deleted with it. Deletions are serialized: two that added to the same
-- days in different orders would deadlock.
CREATE FUNCTION jobs_keep_usage() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    -- One deletion at a time. Not an advisory lock, because any login may hold it.
    LOCK TABLE usage_of_deleted IN SHARE ROW EXCLUSIVE MODE;
    INSERT INTO usage_of_deleted AS u (day, job_type, model, requests, tokens, cost_usd)
    SELECT (r.created_at AT TIME ZONE 'UTC')::date, OLD.job_type, r.model, count(*),
           sum(r.prompt_tokens + r.completion_tokens), sum(r.cost_usd)
    FROM llm_requests r
    WHERE r.job_id = OLD.id
    GROUP BY 1, 3
    ON CONFLICT (day, job_type, model) DO UPDATE
    SET requests = u.requests + excluded.requests, tokens = u.tokens + excluded.tokens,
        cost_usd = u.cost_usd + excluded.cost_usd;
    RETURN OLD;
END $$;

CREATE TRIGGER jobs_keep_usage BEFORE DELETE ON jobs
    FOR EACH ROW WHEN (OLD.total_requests > 0) EXECUTE FUNCTION jobs_keep_usage();

CREATE FUNCTION jobs_leave_folders() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO deleted_jobs (id)
    SELECT id FROM deleted WHERE lease_epoch > 0
    ON CONFLICT (id) DO NOTHING;
    DELETE FROM deleted_jobs WHERE deleted_at < now() - interval '90 days';
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_leave_folders AFTER DELETE ON jobs REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION jobs_leave_folders();

-- The id of a deleted job cannot be used again: its folder, with its documents, may still exist, and a new job with the
-- id would find them.
CREATE FUNCTION jobs_ids_are_new() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    again uuid := (SELECT d.id FROM inserted i JOIN deleted_jobs d ON d.id = i.id LIMIT 1);
BEGIN
    IF again IS NOT NULL THEN
        RAISE EXCEPTION 'there was a job % and it was deleted; leave the id out, and the new job gets one of its own', again
            USING ERRCODE = 'unique_violation', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, CONSTRAINT = 'jobs_ids_are_new';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_ids_are_new AFTER INSERT ON jobs REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION jobs_ids_are_new();

-- Deletes the rows of a job that have no foreign key. SECURITY DEFINER, as foreign keys act with the owner's rights: a
-- role that may delete a job need not be able to write its rows. Deleted todos are not kept in replaced_todos, because
-- their job is already deleted. Sets of shared files are kept.
CREATE FUNCTION jobs_delete_rows() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    gone uuid[] := ARRAY(SELECT id FROM deleted);
BEGIN
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
    DELETE FROM passages WHERE job_id = ANY (gone);
    DELETE FROM attempts WHERE job_id = ANY (gone);
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_delete_rows AFTER DELETE ON jobs REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION jobs_delete_rows();

-- The same for TRUNCATE.
CREATE FUNCTION jobs_truncate_rows() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    TRUNCATE messages, checkpoints, llm_requests, phases, todos, replaced_todos, file_versions, blobs, job_shared_files, sources,
             citations, passages, attempts, indexed_blobs, file_segments, segment_embeddings;
    RETURN NULL;
END $$;

CREATE TRIGGER jobs_truncate_rows AFTER TRUNCATE ON jobs
    FOR EACH STATEMENT EXECUTE FUNCTION jobs_truncate_rows();
