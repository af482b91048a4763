-- Every step, with the claim under which it ran.
SELECT c.step, c.created_at, c.lease_epoch, c.state
FROM checkpoints c
WHERE c.job_id = $1
ORDER BY c.step
