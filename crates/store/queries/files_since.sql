-- Paths that steps after the given one touched, each in its latest version; a null hash means deleted.
SELECT path AS "path!", size AS "size!", sha256, placeholder AS "placeholder!", step AS "step!"
FROM (
    SELECT DISTINCT ON (path) path, size, encode(sha256, 'hex') AS sha256, placeholder, step
    FROM file_versions
    WHERE job_id = $1 AND step > $2
    ORDER BY path, step DESC
) AS latest
UNION ALL
SELECT path, size, encode(sha256, 'hex'), placeholder, step FROM shared_file_versions WHERE job_id = $1 AND step > $2
ORDER BY 1
