-- Every step, with whether the attempt before its own was cut off.
SELECT c.step, c.created_at, c.lease_epoch, c.state,
       coalesce((SELECT a.outcome IN ('crashed', 'lost') OR a.outcome IS NULL
                 FROM attempts a
                 WHERE a.job_id = c.job_id AND a.lease_epoch < c.lease_epoch
                 ORDER BY a.lease_epoch DESC
                 LIMIT 1), false) AS "interrupted!"
FROM checkpoints c
WHERE c.job_id = $1
ORDER BY c.step
