-- The paths that several jobs changed after these steps, each in its latest version: deleted if it has no hash, with
-- its content if that is no longer than $3 bytes.
SELECT c.job_id AS "job_id!", f.path AS "path!", f.size AS "size!", f.sha256 IS NULL AS "deleted!", f.content
FROM unnest($1::uuid[], $2::bigint[]) AS c (job_id, step)
CROSS JOIN LATERAL (
    SELECT latest.path, latest.size, latest.sha256, b.content
    FROM (
        SELECT DISTINCT ON (path) path, size, sha256
        FROM file_versions
        WHERE job_id = c.job_id AND step > c.step
        ORDER BY path, step DESC
    ) AS latest
    LEFT JOIN blobs b ON b.job_id = c.job_id AND b.sha256 = latest.sha256 AND latest.size <= $3
    UNION ALL
    SELECT path, size, sha256, CASE WHEN size <= $3 THEN content END
    FROM shared_file_versions
    WHERE job_id = c.job_id AND step > c.step
) AS f
ORDER BY 1, 2
