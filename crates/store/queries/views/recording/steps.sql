-- Every step, with the claim that took it.
SELECT c.step, c.created_at, c.lease_epoch, c.state
FROM checkpoints c
WHERE c.job_id = $1
ORDER BY c.step
