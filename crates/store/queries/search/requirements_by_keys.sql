-- Requirements by their keys, in the order of the keys. With $3, a row of job $4, only earlier rows count: of two
-- duplicates in one job the first is kept.
SELECT k.n AS "n!", r.id, r.job_id, r.number, r.candidate_id, r.name, r.text, r.status, r.graph_node_id, r.citations -> 0 AS "first_quote: UserJson"
FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS k (job_id, id, n)
JOIN requirement_cache r ON r.job_id = k.job_id AND r.id = k.id
WHERE $3::uuid IS NULL OR (r.id <> $3 AND (r.status = 'integrated' OR (r.created_at, r.id) < (
    SELECT own.created_at, own.id FROM requirement_cache own WHERE own.job_id = $4 AND own.id = $3)))
ORDER BY k.n
