-- The files that the step which took the job in left for later, under the job's lease; says whether the lease still
-- holds. They are files of that step, which is known by the job's instructions. Writing them again does nothing.
WITH fence AS (
    SELECT j.id, (SELECT min(f.step) FROM file_versions f WHERE f.job_id = j.id AND f.path = 'instructions.md') AS step
    FROM jobs j
    WHERE j.id = $1 AND j.lease_epoch = $2 AND j.status = 'running'
    FOR NO KEY UPDATE OF j
),
given AS MATERIALIZED (
    SELECT fence.id, fence.step, f.path, f.content, f.placeholder, sha256(f.content) AS sha256
    FROM fence CROSS JOIN unnest($3::text[], $4::bytea[], $5::boolean[]) AS f (path, content, placeholder)
    WHERE fence.step IS NOT NULL
),
stored AS (
    INSERT INTO blobs (job_id, sha256, content)
    SELECT id, sha256, content FROM given
    ON CONFLICT (job_id, sha256) DO NOTHING
),
filed AS (
    INSERT INTO file_versions (job_id, path, step, sha256, size, placeholder)
    SELECT id, path, step, sha256, octet_length(content), placeholder FROM given
    ON CONFLICT (job_id, path, step) DO NOTHING
)
SELECT EXISTS (SELECT FROM fence) AS "held!"
