-- The dispatch of an approved call, behind the fence of its job: only while it is approved, within its time, and for the tool and
-- the arguments as they are now.
UPDATE approvals
SET state = 'executed', executed_step = $3, edited_sha256 = $6
WHERE job_id = $1 AND call_id = $2 AND state = 'approved' AND expires_at > clock_timestamp()
  AND tool_sha256 = $4 AND arguments_sha256 = $5 AND (edited_arguments IS NULL) = ($6::bytea IS NULL)
RETURNING id
