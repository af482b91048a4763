-- What a validator job has judged, by status and reason, and how many rows wait for it. An accepted row is pending
-- again and still names its validator.
SELECT r.status AS "status!", coalesce(r.rejection_reason, r.last_error) AS reason, count(*) AS "n!",
       count(*) FILTER (WHERE r.status = 'pending' AND r.validation_result ->> 'by' = 'rule') AS "by_rule!"
FROM requirement_cache r
WHERE r.validator_job_id = $1 AND r.status <> 'validating'
GROUP BY 1, 2
UNION ALL
SELECT 'waiting', NULL, coalesce(sum(w.n), 0)::bigint, 0
FROM (SELECT judged_job(j) AS job_id FROM jobs j WHERE j.id = $1) AS scope
CROSS JOIN LATERAL (
    SELECT count(*) AS n
    FROM requirement_cache r
    -- Not "=": see claim_requirements.sql.
    WHERE r.job_id = scope.job_id AND r.status IS NOT DISTINCT FROM 'pending'
      AND ($2 OR r.validation_result IS NULL)
    UNION ALL
    SELECT count(*)
    FROM requirement_cache r
    WHERE scope.job_id IS NULL AND r.status = 'pending' AND ($2 OR r.validation_result IS NULL)
) AS w
ORDER BY 1, 3 DESC, 2
