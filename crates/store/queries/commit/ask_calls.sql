-- Requests approval for the calls of a JSON array ($4), in their order. An existing request stays as it is.
INSERT INTO approvals (job_id, step, call_id, tool, tool_sha256, arguments, arguments_sha256, shown, reason, requested_at, expires_at)
SELECT $1, $2, c.call_id, c.tool, decode(c.tool_sha256, 'hex'), c.arguments, decode(c.arguments_sha256, 'hex'), c.shown, c.reason,
       clock_timestamp(), clock_timestamp() + make_interval(secs => $3)
FROM json_to_recordset($4::text::json) AS c (
    call_id text, tool text, tool_sha256 text, arguments jsonb, arguments_sha256 text, shown text, reason text)
ON CONFLICT (job_id, call_id) WHERE state IN ('pending', 'approved') DO NOTHING
