-- Several files at once; missing ones are left out.
SELECT latest.path AS "path!", b.content AS "content!"
FROM unnest($2::text[]) AS wanted (path)
CROSS JOIN LATERAL (
    SELECT v.job_id, v.path, v.sha256
    FROM file_versions v
    WHERE v.job_id = $1 AND v.path = wanted.path
    ORDER BY v.step DESC
    LIMIT 1
) AS latest
JOIN blobs b ON b.job_id = latest.job_id AND b.sha256 = latest.sha256
UNION ALL
SELECT path, content FROM shared_file_versions WHERE job_id = $1 AND path = ANY ($2)
