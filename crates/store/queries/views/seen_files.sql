-- The paths of a job's files and their sizes in bytes, for whoever may read them; only those that begin with $2.
SELECT path AS "path!", size AS "size!" FROM workspace_files WHERE job_id = $1 AND starts_with(path, $2) ORDER BY path
