-- Stores one embedding per requirement; they come as one array of $5 numbers each. A requirement that was deleted or
-- reworded meanwhile is skipped.
INSERT INTO requirement_embeddings (job_id, requirement_id, model, embedding)
SELECT e.job_id, e.id, $1, ($4::real[])[(e.n - 1) * $5::int + 1 : e.n * $5::int]
FROM unnest($2::uuid[], $3::uuid[], $6::text[]) WITH ORDINALITY AS e (job_id, id, text, n)
JOIN requirement_cache r ON r.job_id = e.job_id AND r.id = e.id AND r.text = e.text
ON CONFLICT DO NOTHING
