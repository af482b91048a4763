-- The embeddings of the requirements with which those of a job are compared.
SELECT e.job_id, e.requirement_id, e.embedding
FROM requirement_embeddings e
JOIN requirement_cache r ON r.job_id = e.job_id AND r.id = e.requirement_id
WHERE e.model = $2 AND cardinality(e.embedding) = $3 AND is_comparable(r, $1)
