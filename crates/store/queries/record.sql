-- What every step leaves behind: conversation, requests, feedback taken in, and the checkpoint. And what it gives up:
-- the state of the one step that is now too old to be kept whole, unless a phase began with it.
WITH said AS (
    INSERT INTO messages (job_id, seq, step, phase_number, role, kind, content, tool_calls, tool_call_id, extra,
                          tokens, cleared_step)
    SELECT $1, m.seq, $2, m.phase_number, m.role, m.kind, m.content, m.tool_calls, m.tool_call_id, m.extra,
           m.tokens, m.cleared_step
    FROM json_to_recordset($3::text::json) AS m (
        seq bigint, phase_number int, role text, kind text, content text, tool_calls json, tool_call_id text,
        extra json, tokens int, cleared_step bigint)
), cleared AS (
    UPDATE messages SET cleared_step = $2
    WHERE job_id = $1 AND seq = ANY ($4::bigint[]) AND cleared_step IS NULL
), asked AS (
    INSERT INTO llm_requests (job_id, id, step, model, purpose, prompt_tokens, cached_tokens, completion_tokens,
                              estimated, duration_ms, attempt, error, raw_usage, created_at)
    SELECT $1, r.id, $2, r.model, r.purpose, r.prompt_tokens, r.cached_tokens, r.completion_tokens,
           r.estimated, r.duration_ms, r.attempt, r.error, r.raw_usage, r.created_at
    FROM json_to_recordset($5::text::json) AS r (
        id uuid, model text, purpose text, prompt_tokens bigint, cached_tokens bigint, completion_tokens bigint,
        estimated boolean, duration_ms bigint, attempt int, error text, raw_usage jsonb, created_at timestamptz)
), heard AS (
    UPDATE feedback SET taken_step = $2
    WHERE job_id = $1 AND id = ANY ($6::bigint[]) AND taken_step IS NULL
), thinned AS (
    UPDATE checkpoints SET state = NULL
    WHERE job_id = $1 AND step = $11
      AND NOT EXISTS (SELECT FROM phases WHERE phases.job_id = $1 AND phases.opened_step = $11)
)
INSERT INTO checkpoints (job_id, step, phase_number, phase, state, lease_epoch)
VALUES ($1, $2, $7, $8, $9::text::jsonb, $10)
