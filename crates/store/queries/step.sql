-- A step: the whole of it, but for the few parts that most steps do not have (see commit/rest.rs). One statement is one
-- round trip and, outside a transaction, one commit.
--
-- The fence comes first: it advances the job's row only if the lease, the step and the status are still ours, and locks
-- it. Whatever else is written takes its rows from the fence, so without it nothing is. A committed step is progress, so
-- crashes count anew from here. Parts of one statement do not see each other: the caller has folded whatever touches
-- the same row twice. A part with nothing to do is an empty array; because even that costs the server its share, the
-- parts that many steps do not need are left out in two statements beside this one. They are made of this one: see
-- commit/step.rs, which takes the sections by their first lines.
WITH fence AS (
    UPDATE jobs
    SET step = step + 1,
        crash_count = 0,
        phase_number = $4,
        phase = $5,
        phase_name = $6,
        todos_done = $7,
        todos_total = $8,
        current_todo = $9,
        total_requests = $10,
        total_tokens_used = $11,
        cached_tokens = $12,
        cost_usd = round($13::bigint::numeric / 1000000, 6),
        feedback_untaken = greatest(feedback_untaken - $14, 0),
        updated_at = now()
    -- Not "=": where nearly all jobs have ended, the plan would be to look through the index of the running ones.
    WHERE id = $1 AND lease_epoch = $2 AND step = $3 AND status IS NOT DISTINCT FROM 'running'
    RETURNING id, step, lease_epoch, feedback_untaken > 0 AS feedback_pending
),
-- Texts and calls are long: in columns of their own nothing has to look for their ends.
said AS (
    INSERT INTO messages (job_id, seq, step, phase_number, role, kind, content, tool_calls, tool_call_id, extra,
                          tokens, cleared_step)
    SELECT fence.id, m.seq, fence.step, m.phase_number, m.role, m.kind, m.content, m.tool_calls::json, m.tool_call_id,
           m.extra, m.tokens, m.cleared_step
    FROM fence CROSS JOIN ROWS FROM (
        json_to_recordset($15::text::json) AS (
            seq bigint, phase_number int, role text, kind text, tool_call_id text, extra json, tokens int,
            cleared_step bigint),
        unnest($16::text[]),
        unnest($17::text[])
    ) AS m (seq, phase_number, role, kind, tool_call_id, extra, tokens, cleared_step, content, tool_calls)
),
-- The request that the step goes back to, as its values: a JSON array would cost the server four times as much. A step
-- of none gives nulls, and of several all but the first are written after this statement (see commit/rest.rs).
asked AS (
    INSERT INTO llm_requests (job_id, id, step, model, purpose, prompt_tokens, cached_tokens, completion_tokens,
                              estimated, duration_ms, attempt, error, raw_usage, created_at)
    SELECT fence.id, $18::uuid, fence.step, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28::text::jsonb, $29
    FROM fence
    WHERE $18::uuid IS NOT NULL
),
-- New versions of files. The same content is stored once a job; a null content is a deletion.
given AS MATERIALIZED (
    SELECT fence.id, fence.step, f.path, f.content, f.placeholder, sha256(f.content) AS sha256
    FROM fence CROSS JOIN unnest($31::text[], $32::bytea[], $33::boolean[]) AS f (path, content, placeholder)
),
stored AS (
    INSERT INTO blobs (job_id, sha256, content)
    SELECT id, sha256, content FROM given WHERE content IS NOT NULL
    ON CONFLICT (job_id, sha256) DO NOTHING
),
filed AS (
    INSERT INTO file_versions (job_id, path, step, sha256, size, placeholder)
    SELECT id, path, step, sha256, coalesce(octet_length(content), 0), placeholder FROM given
),
-- Todos that got another status.
moved AS (
    UPDATE todos
    SET status = m.status, notes = coalesce(m.notes, todos.notes),
        closed_step = CASE WHEN m.status IN ('completed', 'abandoned') THEN fence.step END,
        completed_at = CASE WHEN m.status = 'completed' THEN now() END
    FROM fence
    CROSS JOIN unnest($34::int[], $35::int[], $36::text[], $37::text[]) AS m (phase_number, position, status, notes)
    WHERE todos.job_id = fence.id AND todos.phase_number = m.phase_number AND todos.position = m.position
),
-- The checkpoint.
kept AS (
    INSERT INTO checkpoints (job_id, step, phase_number, phase, state, lease_epoch)
    SELECT id, step, $4, $5, $30::text::jsonb, lease_epoch FROM fence
)
SELECT step AS "step!", feedback_pending AS "feedback_pending!" FROM fence
