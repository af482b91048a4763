-- An executed call has a result, or is in doubt.
UPDATE approvals SET outcome = $3 WHERE job_id = $1 AND call_id = $2 AND state = 'executed' AND outcome IS NULL
