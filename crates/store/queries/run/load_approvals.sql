-- Calls of a job that needed approval and have no outcome yet, in the order in which they were requested.
SELECT call_id, tool, tool_sha256, arguments_sha256, state, edited_arguments::text, reason, decided_by
FROM approvals
WHERE job_id = $1 AND outcome IS NULL
ORDER BY id
