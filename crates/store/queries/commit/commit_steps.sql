-- The steps of a batch: for each, the rows that nearly every step writes. The statement is one round trip and, outside
-- a transaction, one commit. Rarer rows follow in commit_rare_rows.sql.
--
-- $1 has one JSON document per step (commit/step_rows.rs); its position in the array identifies the step everywhere
-- else. $2 and $3 are the messages and the state of each step: the server reads a member of a document twice more than
-- a document. $4 to $7 are the files of all steps, because their bytes need not be text.
--
-- The fence comes first: it advances a job's row only if the lease, the step and the status are still ours, and locks
-- it. All other writes take their rows from the fence, so they write nothing without it. A row locked by another
-- transaction is skipped: otherwise all steps of the batch would wait for it, and rows locked in two orders can
-- deadlock. The result names the steps that were written. A committed step is progress, so the crash count starts again
-- from here. The parts of one statement do not see each other: the caller has merged all changes to the same row.
WITH fence AS (
    UPDATE jobs
    SET step = s.expected_step + 1,
        crash_count = 0,
        phase_number = s.phase_number,
        phase = s.phase,
        phase_name = s.phase_name,
        todos_done = s.todos_done,
        todos_total = s.todos_total,
        current_todo = s.current_todo,
        phases_done = (s.plan ->> 0)::int,
        phases_total = (s.plan ->> 1)::int,
        total_requests = s.total_requests,
        total_tokens_used = s.total_tokens_used,
        cached_tokens = s.cached_tokens,
        cost_usd = round(s.cost_microusd::numeric / 1000000, 6),
        feedback_untaken = greatest(feedback_untaken - s.feedback_read, 0),
        untrusted_step = coalesce(untrusted_step, (s.state ->> 'untrusted_step')::bigint),
        updated_at = now()
    FROM (
        SELECT d.place, d.messages::json, d.state::jsonb, s.*
        FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS d (document, messages, state, place)
        CROSS JOIN LATERAL json_to_record(d.document::json) AS s (
            job_id uuid, lease_epoch bigint, expected_step bigint, phase_number int, phase text, phase_name text,
            todos_done int, todos_total int, current_todo text, plan json, total_requests bigint,
            total_tokens_used bigint, cached_tokens bigint, cost_microusd bigint, feedback_read int, requests json,
            todo_moves json)
        JOIN jobs j ON j.id = s.job_id
        -- Not "=": if nearly all jobs have ended, the planner would scan the index of the running ones.
        WHERE j.lease_epoch = s.lease_epoch AND j.step = s.expected_step AND j.status IS NOT DISTINCT FROM 'running'
        FOR NO KEY UPDATE OF j SKIP LOCKED
    ) AS s
    WHERE jobs.id = s.job_id
    RETURNING s.place, jobs.id, jobs.step, jobs.lease_epoch, jobs.phase_number, jobs.phase, s.messages, s.requests,
              s.todo_moves, s.state, feedback_untaken > 0 AS feedback_pending
),
new_messages AS (
    INSERT INTO messages (job_id, seq, step, phase_number, role, kind, content, tool_calls, tool_call_id, extra,
                          tokens, cleared_step)
    SELECT fence.id, m.seq, fence.step, m.phase_number, m.role, m.kind, m.content, m.tool_calls, m.tool_call_id, m.extra,
           m.tokens, m.cleared_step
    FROM fence
    CROSS JOIN LATERAL json_to_recordset(fence.messages) AS m (
        seq bigint, phase_number int, role text, kind text, content text, tool_calls json, tool_call_id text, extra json,
        tokens int, cleared_step bigint)
),
new_requests AS (
    INSERT INTO llm_requests (job_id, id, step, model, purpose, prompt_tokens, cached_tokens, completion_tokens,
                              estimated, duration_ms, attempt, finish_reason, error, failure_class, raw_usage,
                              created_at, api, endpoint, cache_write_tokens, reasoning_tokens, service_tier, fallback,
                              cost_usd)
    SELECT fence.id, r.id, fence.step, r.model, r.purpose, r.prompt_tokens, r.cached_tokens, r.completion_tokens,
           r.estimated, r.duration_ms, r.attempt, r.finish_reason, r.error, r.failure_class, r.raw_usage, r.created_at,
           r.api, r.endpoint, r.cache_write_tokens, r.reasoning_tokens, r.service_tier, r.fallback,
           round(r.cost_microusd::numeric / 1000000, 6)
    FROM fence
    CROSS JOIN LATERAL json_to_recordset(fence.requests) AS r (
        id uuid, model text, purpose text, prompt_tokens bigint, cached_tokens bigint, completion_tokens bigint,
        estimated boolean, duration_ms bigint, attempt int, finish_reason text, error text, failure_class text,
        raw_usage jsonb, created_at timestamptz, api text, endpoint text, cache_write_tokens bigint,
        reasoning_tokens bigint, service_tier text, fallback boolean, cost_microusd bigint)
),
-- New versions of files. Equal content is stored once per job; null content is a deletion.
files AS MATERIALIZED (
    SELECT fence.id, fence.step, f.path, f.content, f.placeholder, sha256(f.content) AS sha256
    FROM unnest($4::bigint[], $5::text[], $6::bytea[], $7::boolean[]) AS f (place, path, content, placeholder)
    JOIN fence USING (place)
),
new_blobs AS (
    INSERT INTO blobs (job_id, sha256, content)
    SELECT id, sha256, content FROM files WHERE content IS NOT NULL
    ON CONFLICT (job_id, sha256) DO NOTHING
),
new_versions AS (
    INSERT INTO file_versions (job_id, path, step, sha256, size, placeholder)
    SELECT id, path, step, sha256, coalesce(octet_length(content), 0), placeholder FROM files
),
-- Todos whose status changed.
moved_todos AS (
    UPDATE todos
    SET status = m.status, notes = coalesce(m.notes, todos.notes),
        closed_step = CASE WHEN m.status IN ('completed', 'abandoned') THEN fence.step END,
        completed_at = CASE WHEN m.status = 'completed' THEN now() END
    FROM fence
    CROSS JOIN LATERAL json_to_recordset(fence.todo_moves) AS m (
        phase_number int, position int, status text, notes text)
    WHERE todos.job_id = fence.id AND todos.phase_number = m.phase_number AND todos.position = m.position
),
checkpoint AS (
    INSERT INTO checkpoints (job_id, step, phase_number, phase, state, lease_epoch)
    SELECT id, step, phase_number, phase, state, lease_epoch FROM fence
)
SELECT place AS "place!", step AS "step!", feedback_pending AS "feedback_pending!" FROM fence
