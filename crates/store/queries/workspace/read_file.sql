SELECT b.content AS "content!"
FROM (
    SELECT job_id, sha256 FROM file_versions WHERE job_id = $1 AND path = $2 ORDER BY step DESC LIMIT 1
) AS latest
JOIN blobs b ON b.job_id = latest.job_id AND b.sha256 = latest.sha256
UNION ALL
SELECT content FROM shared_file_versions WHERE job_id = $1 AND path = $2
