-- What a validator job has judged, by status and reason, and how many rows wait for it. An accepted row is pending
-- again, and still says who judged it.
SELECT r.status AS "status!", coalesce(r.rejection_reason, r.last_error) AS reason, count(*) AS "n!"
FROM requirement_cache r
WHERE r.validator_job_id = $1 AND r.status <> 'validating'
GROUP BY 1, 2
UNION ALL
SELECT 'waiting', NULL, count(*)
FROM requirement_cache r
JOIN jobs j ON j.id = $1
WHERE r.status = 'pending'
  AND (validation_scope(j) IS NULL OR r.job_id = validation_scope(j))
  AND ($2 OR r.validation_result IS NULL)
ORDER BY 1, 3 DESC, 2
