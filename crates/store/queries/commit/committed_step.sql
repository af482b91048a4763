-- The job's step after a COMMIT whose answer was lost. FOR SHARE waits until that transaction has ended.
SELECT step, lease_epoch FROM jobs WHERE id = $1 FOR SHARE
