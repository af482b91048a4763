-- Calls of a job that people were asked for, as far as they have no outcome, in the order of the asking.
SELECT call_id, tool, tool_sha256, arguments_sha256, state, edited_arguments::text, reason, decided_by
FROM approvals
WHERE job_id = $1 AND outcome IS NULL
ORDER BY id
