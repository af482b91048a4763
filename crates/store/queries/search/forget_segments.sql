-- Removes contents that no current file has from the search index.
DELETE FROM indexed_blobs i
WHERE i.job_id = $1
  AND i.sha256 NOT IN (
    SELECT latest.sha256
    FROM (
        SELECT DISTINCT ON (path) path, sha256
        FROM file_versions
        WHERE job_id = $1
        ORDER BY path, step DESC
    ) AS latest
    WHERE latest.sha256 IS NOT NULL
)
