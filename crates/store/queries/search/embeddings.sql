-- The embeddings of these files' segments.
SELECT present.path AS "path!", e.sha256 AS "sha256!", e.part AS "part!", e.embedding AS "embedding!"
FROM (
    SELECT latest.sha256, min(latest.path) AS path
    FROM (
        SELECT DISTINCT ON (path) path, sha256
        FROM file_versions
        WHERE job_id = $1 AND path = ANY ($2::text[])
        ORDER BY path, step DESC
    ) AS latest
    GROUP BY latest.sha256
) AS present
JOIN segment_embeddings e ON e.job_id = $1 AND e.sha256 = present.sha256 AND e.model = $3
