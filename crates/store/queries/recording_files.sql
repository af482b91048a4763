-- Every version of every file with its content; none where the step deleted it.
SELECT v.step, v.path, b.content AS "content?"
FROM file_versions v
LEFT JOIN blobs b ON b.job_id = v.job_id AND b.sha256 = v.sha256
WHERE v.job_id = $1
ORDER BY v.step, v.path
