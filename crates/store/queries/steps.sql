-- Steps of several jobs at once: what step.sql writes of one, written of each. Steps that come while others are being
-- written share a statement, and so a commit and a flush; see commit/group.rs.
--
-- Whatever belongs to a step names it by its place among them. No step waits here for another transaction, because all the
-- others would wait with it, and because rows locked in two orders are a deadlock: a job that somebody has locked is left
-- out, and so is one that is not ours any more. The answer names the steps that were written.
WITH fence AS (
    UPDATE jobs
    SET step = s.step + 1,
        crash_count = 0,
        phase_number = s.phase_number,
        phase = s.phase,
        phase_name = s.phase_name,
        todos_done = s.todos_done,
        todos_total = s.todos_total,
        current_todo = s.current_todo,
        total_requests = s.total_requests,
        total_tokens_used = s.total_tokens_used,
        cached_tokens = s.cached_tokens,
        cost_usd = round(s.cost_microusd::numeric / 1000000, 6),
        updated_at = now()
    FROM (
        SELECT steps.*
        FROM unnest($1::int[], $2::uuid[], $3::bigint[], $4::bigint[], $5::int[], $6::text[], $7::text[], $8::int[],
                    $9::int[], $10::text[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[]) AS steps (
            place, job_id, epoch, step, phase_number, phase, phase_name, todos_done,
            todos_total, current_todo, total_requests, total_tokens_used, cached_tokens, cost_microusd)
        JOIN jobs j ON j.id = steps.job_id
        WHERE j.lease_epoch = steps.epoch AND j.step = steps.step AND j.status IS NOT DISTINCT FROM 'running'
        FOR NO KEY UPDATE OF j SKIP LOCKED
    ) AS s
    WHERE jobs.id = s.job_id
    RETURNING s.place, jobs.id, jobs.step, jobs.lease_epoch, jobs.phase_number, jobs.phase,
              feedback_untaken > 0 AS feedback_pending
),
said AS (
    INSERT INTO messages (job_id, seq, step, phase_number, role, kind, content, tool_calls, tool_call_id, extra,
                          tokens, cleared_step)
    SELECT fence.id, m.seq, fence.step, m.phase_number, m.role, m.kind, m.content, m.tool_calls::json, m.tool_call_id,
           m.extra, m.tokens, m.cleared_step
    FROM ROWS FROM (
        json_to_recordset($15::text::json) AS (
            seq bigint, phase_number int, role text, kind text, tool_call_id text, extra json, tokens int,
            cleared_step bigint),
        unnest($16::text[]),
        unnest($17::text[]),
        unnest($18::int[])
    ) AS m (seq, phase_number, role, kind, tool_call_id, extra, tokens, cleared_step, content, tool_calls, place)
    JOIN fence USING (place)
),
asked AS (
    INSERT INTO llm_requests (job_id, id, step, model, purpose, prompt_tokens, cached_tokens, completion_tokens,
                              estimated, duration_ms, attempt, error, raw_usage, created_at)
    SELECT fence.id, r.id, fence.step, r.model, r.purpose, r.prompt_tokens, r.cached_tokens, r.completion_tokens,
           r.estimated, r.duration_ms, r.attempt, r.error, r.raw_usage, r.created_at
    FROM ROWS FROM (
        json_to_recordset($19::text::json) AS (
            id uuid, model text, purpose text, prompt_tokens bigint, cached_tokens bigint, completion_tokens bigint,
            estimated boolean, duration_ms bigint, attempt int, error text, raw_usage jsonb, created_at timestamptz),
        unnest($20::int[])
    ) AS r (id, model, purpose, prompt_tokens, cached_tokens, completion_tokens, estimated, duration_ms, attempt, error,
            raw_usage, created_at, place)
    JOIN fence USING (place)
),
given AS MATERIALIZED (
    SELECT fence.id, fence.step, f.path, f.content, f.placeholder, sha256(f.content) AS sha256
    FROM unnest($21::int[], $22::text[], $23::bytea[], $24::boolean[]) AS f (place, path, content, placeholder)
    JOIN fence USING (place)
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
moved AS (
    UPDATE todos
    SET status = m.status, notes = coalesce(m.notes, todos.notes),
        closed_step = CASE WHEN m.status IN ('completed', 'abandoned') THEN fence.step END,
        completed_at = CASE WHEN m.status = 'completed' THEN now() END
    FROM unnest($25::int[], $26::int[], $27::int[], $28::text[], $29::text[]) AS m (
        place, phase_number, position, status, notes)
    JOIN fence USING (place)
    WHERE todos.job_id = fence.id AND todos.phase_number = m.phase_number AND todos.position = m.position
),
-- What a job gets with its first step: see first_step.sql.
settled AS (
    INSERT INTO job_settings (job_id, resolved)
    SELECT fence.id, s.resolved::jsonb
    FROM unnest($1::int[], $31::text[]) AS s (place, resolved)
    JOIN fence USING (place)
    WHERE s.resolved IS NOT NULL
    ON CONFLICT (job_id) DO NOTHING
),
shared AS (
    INSERT INTO job_shared_files (job_id, set_id, step)
    SELECT fence.id, s.set_id, fence.step
    FROM unnest($1::int[], $32::bytea[]) AS s (place, set_id)
    JOIN fence USING (place)
    WHERE s.set_id IS NOT NULL
),
-- Phases and lists: see plan.sql.
opened AS (
    INSERT INTO phases (job_id, phase_number, kind, name, opened_step, outcome, closed_step, ended_at)
    SELECT fence.id, p.number, p.kind, p.name, fence.step, p.outcome,
           CASE WHEN p.outcome IS NOT NULL THEN fence.step END, CASE WHEN p.outcome IS NOT NULL THEN now() END
    FROM ROWS FROM (
        json_to_recordset($33::text::json) AS (number int, kind text, name text, outcome text),
        unnest($34::int[])
    ) AS p (number, kind, name, outcome, place)
    JOIN fence USING (place)
),
closed AS (
    UPDATE phases SET outcome = c.outcome, closed_step = fence.step, ended_at = now()
    FROM ROWS FROM (
        json_to_recordset($35::text::json) AS (number int, outcome text),
        unnest($36::int[])
    ) AS c (number, outcome, place)
    JOIN fence USING (place)
    WHERE phases.job_id = fence.id AND phases.phase_number = c.number
),
shortened AS (
    DELETE FROM todos
    USING ROWS FROM (
        json_to_recordset($37::text::json) AS (phase_number int, length int),
        unnest($38::int[])
    ) AS l (phase_number, length, place)
    JOIN fence USING (place)
    WHERE todos.job_id = fence.id AND todos.phase_number = l.phase_number AND todos.position > l.length
),
listed AS (
    INSERT INTO todos (job_id, phase_number, position, content, status, notes, created_step, closed_step, completed_at)
    SELECT fence.id, t.phase_number, t.position, t.content, t.status, t.notes, fence.step,
           CASE WHEN t.status IN ('completed', 'abandoned') THEN fence.step END,
           CASE WHEN t.status = 'completed' THEN now() END
    FROM ROWS FROM (
        json_to_recordset($39::text::json) AS (
            phase_number int, position int, content text, status text, notes text),
        unnest($40::int[])
    ) AS t (phase_number, position, content, status, notes, place)
    JOIN fence USING (place)
    ON CONFLICT (job_id, phase_number, position) DO UPDATE
    SET content = excluded.content, status = excluded.status, notes = excluded.notes,
        closed_step = excluded.closed_step, completed_at = excluded.completed_at
),
-- The checkpoint.
kept AS (
    INSERT INTO checkpoints (job_id, step, phase_number, phase, state, lease_epoch)
    SELECT fence.id, fence.step, fence.phase_number, fence.phase, c.state::jsonb, fence.lease_epoch
    FROM unnest($1::int[], $30::text[]) AS c (place, state)
    JOIN fence USING (place)
)
SELECT place AS "place!", step AS "step!", feedback_pending AS "feedback_pending!" FROM fence
