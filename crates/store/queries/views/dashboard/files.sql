-- A page of a job's files in their latest version, by path, after path $2. Skips from each path of the job's own files
-- to the next, so that earlier versions of a file are not read; deleted files are skipped and do not count.
WITH RECURSIVE own AS (
    SELECT $2::text AS path, 0 AS found, NULL::bigint AS size, NULL::bytea AS sha256, NULL::bigint AS step,
           NULL::timestamptz AS created_at
    UNION ALL
    SELECT v.path, own.found + (v.sha256 IS NOT NULL)::int, v.size, v.sha256, v.step, v.created_at
    FROM own
    CROSS JOIN LATERAL (
        SELECT path FROM file_versions WHERE job_id = $1 AND path > own.path ORDER BY path LIMIT 1
    ) AS next
    CROSS JOIN LATERAL (
        SELECT path, size, sha256, step, created_at
        FROM file_versions
        WHERE job_id = $1 AND path = next.path
        ORDER BY step DESC
        LIMIT 1
    ) AS v
    WHERE own.found < $3::bigint
)
SELECT path AS "path!", size AS "size!", step AS "step!", created_at AS "updated_at!"
FROM (
    SELECT path, size, step, created_at FROM own WHERE sha256 IS NOT NULL
    UNION ALL
    SELECT path, size, step, created_at FROM shared_file_versions WHERE job_id = $1 AND path > $2::text
) AS files
ORDER BY path
LIMIT $3::bigint
