-- The messages of a page of steps.
SELECT step, seq, role, kind, content, tool_calls::text AS tool_calls, tool_call_id
FROM messages
WHERE job_id = $1 AND step BETWEEN $2 AND $3
ORDER BY step, seq
