-- The latest version of each path, without deleted ones.
SELECT path AS "path!", size AS "size!", encode(sha256, 'hex') AS "sha256!", placeholder AS "placeholder!",
       step AS "step!"
FROM (
    SELECT DISTINCT ON (path) path, size, sha256, placeholder, step
    FROM file_versions
    WHERE job_id = $1
    ORDER BY path, step DESC
) AS latest
WHERE sha256 IS NOT NULL
UNION ALL
SELECT path, size, encode(sha256, 'hex'), placeholder, step FROM shared_file_versions WHERE job_id = $1
ORDER BY 1
