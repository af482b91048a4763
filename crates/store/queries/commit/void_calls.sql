-- Voids calls that must be requested again because their approval no longer matches.
UPDATE approvals SET state = 'void', reason = $3 WHERE job_id = $1 AND call_id = ANY ($2) AND state = 'approved'
