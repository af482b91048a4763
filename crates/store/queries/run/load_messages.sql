-- The messages of the context: some by number, and all from the start of the tail.
SELECT seq, role, kind, content, tool_calls::text AS tool_calls, tool_call_id, extra::text AS extra, tokens, step,
       cleared_step IS NOT NULL AS "cleared!"
FROM messages
WHERE job_id = $1 AND (seq >= $2 OR seq = ANY ($3))
ORDER BY seq
