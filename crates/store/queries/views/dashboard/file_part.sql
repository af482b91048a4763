-- A part of a file as of the last commit: $4 bytes from byte $3 (the first is 0).
SELECT octet_length(file.content)::bigint AS "size!", file.step AS "step!", file.created_at AS "updated_at!",
       substring(file.content FROM $3::int + 1 FOR $4::int) AS "part!"
FROM (
    SELECT b.content, latest.step, latest.created_at
    FROM (
        SELECT job_id, sha256, step, created_at
        FROM file_versions
        WHERE job_id = $1 AND path = $2
        ORDER BY step DESC
        LIMIT 1
    ) AS latest
    JOIN blobs b ON b.job_id = latest.job_id AND b.sha256 = latest.sha256
    UNION ALL
    SELECT content, step, created_at FROM shared_file_versions WHERE job_id = $1 AND path = $2
) AS file
