-- Paths that steps after the given one touched, each in its latest version; a null hash means deleted.
SELECT DISTINCT ON (path) path, size, encode(sha256, 'hex') AS sha256, placeholder, step
FROM file_versions
WHERE job_id = $1 AND step > $2
ORDER BY path, step DESC
