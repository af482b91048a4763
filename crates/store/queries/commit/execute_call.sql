-- Dispatches an approved call, behind the fence of its job: only while it is approved and not expired, and only for the
-- current tool and arguments.
UPDATE approvals
SET state = 'executed', executed_step = $3, edited_sha256 = $6
WHERE job_id = $1 AND call_id = $2 AND state = 'approved' AND expires_at > clock_timestamp()
  AND tool_sha256 = $4 AND arguments_sha256 = $5 AND (edited_arguments IS NULL) = ($6::bytea IS NULL)
RETURNING id
