-- Requirements nearest to an embedding, compared by pgvector; see nearest_segments.sql.
SELECT job_id AS "job_id!", id AS "id!", likeness AS "likeness!"
FROM nearest_requirements($1, $2, $3, $4)
