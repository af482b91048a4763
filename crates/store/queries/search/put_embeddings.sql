-- Stores one embedding per segment; they come as one array of $6 numbers each. A segment that was deleted meanwhile is
-- skipped.
INSERT INTO segment_embeddings (job_id, sha256, part, model, embedding)
SELECT $1, e.sha256, e.part, $2, ($5::real[])[(e.n - 1) * $6::int + 1 : e.n * $6::int]
FROM unnest($3::bytea[], $4::int[]) WITH ORDINALITY AS e (sha256, part, n)
WHERE EXISTS (SELECT 1 FROM file_segments p WHERE p.job_id = $1 AND p.sha256 = e.sha256 AND p.part = e.part)
ON CONFLICT DO NOTHING
