-- New versions of files. The same content is stored once a job; a null content is a deletion.
WITH given AS MATERIALIZED (
    SELECT f.path, f.content, f.placeholder, sha256(f.content) AS sha256
    FROM unnest($3::text[], $4::bytea[], $5::boolean[]) AS f (path, content, placeholder)
), stored AS (
    INSERT INTO blobs (job_id, sha256, content)
    SELECT DISTINCT ON (sha256) $1, sha256, content FROM given WHERE content IS NOT NULL
    ON CONFLICT (job_id, sha256) DO NOTHING
)
INSERT INTO file_versions (job_id, path, step, sha256, size, placeholder)
SELECT $1, path, $2, sha256, coalesce(octet_length(content), 0), placeholder FROM given
