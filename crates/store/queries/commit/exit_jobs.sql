-- Jobs leave their worker, in the transaction of their last step and after all other writes. Feedback that arrived
-- before a review began, or before a completion that had not seen it, makes the job pending again: the feedback came
-- first. A job that waits for decisions on calls waits despite feedback, unless grants have decided all of them.
WITH exits AS (
    SELECT *
    FROM json_to_recordset($1::text::json) AS e (
        job_id uuid, lease_epoch bigint, status text, reason text, run_at timestamptz, result json, error text,
        details text, attempt_outcome text, awaits_decision boolean)
),
exited AS (
    UPDATE jobs
    SET status = CASE WHEN e.awaits_decision AND waits_for_calls(jobs.id) IS NULL THEN 'pending'
                      WHEN NOT e.awaits_decision AND e.status IN ('review', 'completed') AND feedback_untaken > 0 THEN 'pending'
                      ELSE e.status END,
        status_reason = CASE WHEN e.awaits_decision THEN waits_for_calls(jobs.id)
                             WHEN e.status IN ('review', 'completed') AND feedback_untaken > 0 THEN NULL
                             ELSE e.reason END,
        run_at = coalesce(e.run_at, jobs.run_at),
        result = coalesce(e.result::jsonb || jsonb_build_object(
            'counts', facts.counts || coalesce(e.result::jsonb -> 'counts', '{}'),
            'unevidenced_todos', facts.unevidenced_todos), jobs.result),
        error_message = e.error,
        error_details = e.details::jsonb
    FROM exits e
    CROSS JOIN LATERAL (
        -- Counted from the rows, beside the model's own words. Counts already in the result come from the same rows.
        SELECT jsonb_build_object(
                   'files', (SELECT count(*) FROM (
                                 SELECT DISTINCT ON (v.path) v.sha256
                                 FROM file_versions v
                                 WHERE v.job_id = e.job_id AND v.path LIKE 'output/%'
                                 ORDER BY v.path, v.step DESC) AS f
                             WHERE f.sha256 IS NOT NULL),
                   'requirements', (SELECT count(*) FROM requirement_cache r
                                    WHERE r.job_id = e.job_id AND r.status <> 'withdrawn'),
                   'citations_verified', (SELECT count(*) FROM citations c WHERE c.job_id = e.job_id AND c.verified),
                   'pages', (SELECT coalesce(sum(s.pages), 0) FROM sources s WHERE s.job_id = e.job_id),
                   'steps', c.step,
                   'phases_planned', coalesce((c.state #>> '{phase,planned}')::int, 0),
                   'phases_done', coalesce((c.state #>> '{phase,completed}')::int, 0)) AS counts,
               (SELECT count(*) FROM todos t WHERE t.job_id = e.job_id AND t.unevidenced) AS unevidenced_todos
        FROM checkpoints c
        WHERE c.job_id = e.job_id
        ORDER BY c.step DESC
        LIMIT 1
    ) AS facts
    WHERE jobs.id = e.job_id AND jobs.lease_epoch = e.lease_epoch
    RETURNING jobs.id, jobs.lease_epoch, jobs.status, e.attempt_outcome, e.error
)
UPDATE attempts a
SET ended_at = now(), outcome = exited.attempt_outcome, error = exited.error
FROM exited
WHERE a.job_id = exited.id AND a.lease_epoch = exited.lease_epoch
RETURNING exited.id AS "id!", exited.status AS "status!"
