-- Made of steps.sql, without what a job writes seldom: see commit/step.rs.
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
-- The checkpoint.
kept AS (
    INSERT INTO checkpoints (job_id, step, phase_number, phase, state, lease_epoch)
    SELECT fence.id, fence.step, fence.phase_number, fence.phase, c.state::jsonb, fence.lease_epoch
    FROM unnest($1::int[], $30::text[]) AS c (place, state)
    JOIN fence USING (place)
)
SELECT place AS "place!", step AS "step!", feedback_pending AS "feedback_pending!" FROM fence
