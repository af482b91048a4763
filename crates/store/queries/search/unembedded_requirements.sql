-- Requirements used for comparison that have no embedding yet, the job's own first.
SELECT r.job_id, r.id, r.text
FROM requirement_cache r
WHERE is_comparable(r, $1)
  AND NOT EXISTS (
    SELECT 1 FROM requirement_embeddings e WHERE e.job_id = r.job_id AND e.requirement_id = r.id AND e.model = $2
)
ORDER BY r.job_id = $1 DESC, r.created_at, r.id
LIMIT $3
