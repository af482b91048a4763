-- Every version of every file with its content; the content is null if the step deleted the file.
SELECT v.step AS "step!", v.path AS "path!", b.content AS "content?"
FROM file_versions v
LEFT JOIN blobs b ON b.job_id = v.job_id AND b.sha256 = v.sha256
WHERE v.job_id = $1
UNION ALL
SELECT step, path, content FROM shared_file_versions WHERE job_id = $1
ORDER BY 1, 2
