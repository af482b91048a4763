-- Calls that are asked for again: what was approved of them does not fit.
UPDATE approvals SET state = 'void', reason = $3 WHERE job_id = $1 AND call_id = ANY ($2) AND state = 'approved'
