-- A page of a job's files in their latest version, by path, after path $2.
SELECT path AS "path!", size AS "size!", step AS "step!", created_at AS "updated_at!"
FROM (
    SELECT DISTINCT ON (path) path, size, sha256, step, created_at
    FROM file_versions
    WHERE job_id = $1 AND path > $2
    ORDER BY path, step DESC
) AS latest
WHERE sha256 IS NOT NULL
ORDER BY path
LIMIT $3
