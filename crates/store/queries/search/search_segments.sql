-- Segments of these files with the query's words: first those that match the whole query ("quoted phrase", -without),
-- then those with any of its words, most and closest matches first.
WITH query AS (
    SELECT websearch_to_tsquery('simple', $2) || websearch_to_tsquery('english', $2) AS strict,
           replace(plainto_tsquery('english', $2)::text, ' & ', ' | ')::tsquery AS loose
), present AS (
    SELECT latest.sha256, min(latest.path) AS path
    FROM (
        SELECT DISTINCT ON (path) path, sha256
        FROM file_versions
        WHERE job_id = $1 AND path = ANY ($3::text[])
        ORDER BY path, step DESC
    ) AS latest
    GROUP BY latest.sha256
)
SELECT present.path AS "path!", p.first_line AS "first_line!", p.text AS "text!"
FROM query
CROSS JOIN present
JOIN file_segments p ON p.job_id = $1 AND p.sha256 = present.sha256
WHERE p.words @@ query.strict OR p.words @@ query.loose
ORDER BY p.words @@ query.strict DESC, ts_rank_cd(p.words, query.loose || query.strict, 1) DESC, present.path, p.part
LIMIT $4
