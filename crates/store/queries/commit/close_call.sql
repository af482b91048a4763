-- Closes an approved call that was not executed.
UPDATE approvals
SET state = CASE WHEN expires_at <= clock_timestamp() THEN 'expired' ELSE 'void' END, reason = $3
WHERE job_id = $1 AND call_id = $2 AND state = 'approved'
