-- Rows of workers that are long dead and hold nothing; a day keeps them visible for a post-mortem.
DELETE FROM workers w
WHERE w.heartbeat_at < now() - interval '1 day'
  AND NOT EXISTS (SELECT FROM jobs j WHERE j.status = 'running' AND j.worker_id = w.id)
