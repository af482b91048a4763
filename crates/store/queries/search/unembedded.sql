-- Segments of these files without an embedding.
SELECT p.sha256 AS "sha256!", p.part AS "part!", p.text AS "text!"
FROM (
    SELECT DISTINCT latest.sha256
    FROM (
        SELECT DISTINCT ON (path) path, sha256
        FROM file_versions
        WHERE job_id = $1 AND path = ANY ($2::text[])
        ORDER BY path, step DESC
    ) AS latest
) AS present
JOIN file_segments p ON p.job_id = $1 AND p.sha256 = present.sha256
WHERE NOT EXISTS (
    SELECT 1 FROM segment_embeddings e
    WHERE e.job_id = $1 AND e.sha256 = p.sha256 AND e.part = p.part AND e.model = $3
)
ORDER BY p.sha256, p.part
LIMIT $4
