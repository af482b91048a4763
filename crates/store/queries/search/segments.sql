-- Segments by their keys, in the order of the keys.
SELECT k.path AS "path!", p.first_line AS "first_line!", p.text AS "text!"
FROM unnest($2::text[], $3::bytea[], $4::int[]) WITH ORDINALITY AS k (path, sha256, part, n)
JOIN file_segments p ON p.job_id = $1 AND p.sha256 = k.sha256 AND p.part = k.part
ORDER BY k.n
