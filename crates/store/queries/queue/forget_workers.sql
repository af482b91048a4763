-- Deletes rows of long dead workers that hold nothing; a day keeps them visible for a post-mortem. Also deletes limits
-- of models that were not used for a day, because a job may name any model.
WITH unused AS (
    DELETE FROM endpoint_limits l
    WHERE greatest(l.requests_tat, l.tokens_tat, l.updated_at, l.refused_at, l.blocked_until) < now() - interval '1 day'
)
DELETE FROM workers w
WHERE w.heartbeat_at < now() - interval '1 day'
  AND NOT EXISTS (SELECT FROM jobs j WHERE j.status = 'running' AND j.worker_id = w.id)
