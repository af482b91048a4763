-- The whole conversation, with the step that said each message and the one that cleared it.
SELECT step, seq, role, kind, content, tool_calls::text AS tool_calls, tool_call_id, extra::text AS extra, tokens,
       cleared_step
FROM messages
WHERE job_id = $1
ORDER BY seq
