-- The whole conversation, with the step that added each message and the step that cleared it.
SELECT step, seq, role, kind, content, tool_calls::text AS tool_calls, tool_call_id, extra::text AS extra, tokens,
       cleared_step
FROM messages
WHERE job_id = $1
ORDER BY seq
