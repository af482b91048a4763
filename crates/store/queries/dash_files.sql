-- A page of a job's files in their latest version, by path, after path $2. Jumps from each path to the next, so that a
-- file's earlier versions are not read; deleted files are passed over and do not count.
WITH RECURSIVE page AS (
    SELECT $2::text AS path, 0 AS found, NULL::bigint AS size, NULL::bytea AS sha256, NULL::bigint AS step,
           NULL::timestamptz AS created_at
    UNION ALL
    SELECT v.path, page.found + (v.sha256 IS NOT NULL)::int, v.size, v.sha256, v.step, v.created_at
    FROM page
    CROSS JOIN LATERAL (
        SELECT min(path) AS path
        FROM (
            (SELECT path FROM file_versions WHERE job_id = $1 AND path > page.path ORDER BY path LIMIT 1)
            UNION ALL
            (SELECT path FROM shared_file_versions WHERE job_id = $1 AND path > page.path ORDER BY path LIMIT 1)
        ) AS following
    ) AS next
    CROSS JOIN LATERAL (
        (SELECT path, size, sha256, step, created_at
         FROM file_versions
         WHERE job_id = $1 AND path = next.path
         ORDER BY step DESC
         LIMIT 1)
        UNION ALL
        SELECT path, size, sha256, step, created_at FROM shared_file_versions WHERE job_id = $1 AND path = next.path
    ) AS v
    WHERE page.found < $3::bigint
)
SELECT path AS "path!", size AS "size!", step AS "step!", created_at AS "updated_at!"
FROM page
WHERE sha256 IS NOT NULL
ORDER BY path
