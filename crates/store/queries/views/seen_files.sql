-- The paths and sizes in bytes of a job's files, for logins that may read them; only paths that begin with $2.
SELECT path AS "path!", size AS "size!" FROM workspace_files WHERE job_id = $1 AND starts_with(path, $2) ORDER BY path
