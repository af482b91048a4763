-- The paths of a job's files, for whoever may read them.
SELECT path AS "path!" FROM workspace_files WHERE job_id = $1 ORDER BY path
