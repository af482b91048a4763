-- Contents of current files that are not in the search index, oldest first: at least one, then up to a limit of bytes.
WITH present AS (
    SELECT DISTINCT ON (path) path, sha256, size, step
    FROM file_versions
    WHERE job_id = $1 AND path = ANY ($2::text[])
    ORDER BY path, step DESC
), missing AS (
    SELECT p.sha256, min(p.step) AS step, max(p.size) AS size
    FROM present p
    WHERE p.sha256 IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM indexed_blobs i WHERE i.job_id = $1 AND i.sha256 = p.sha256)
    GROUP BY p.sha256
), batch AS (
    SELECT sha256, step, sum(size) OVER (ORDER BY step, sha256) - size AS size_before
    FROM missing
)
SELECT b.sha256 AS "sha256!", b.content AS "content!"
FROM batch
JOIN blobs b ON b.job_id = $1 AND b.sha256 = batch.sha256
WHERE batch.size_before < $3::bigint
ORDER BY batch.step, b.sha256
