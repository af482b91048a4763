-- The calls that needed approval, in the order in which they were requested.
SELECT step, arguments, outcome, call_id, tool, tool_sha256, arguments_sha256, state, edited_arguments::text, reason, decided_by
FROM approvals
WHERE job_id = $1
ORDER BY id
