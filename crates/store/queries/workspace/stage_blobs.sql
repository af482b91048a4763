-- Stages contents of a job for a later step, under its lease; returns whether the lease is still valid. No file has
-- them until a step names them by hash, and staging is idempotent. The job's row is locked only against deletion.
WITH fence AS (
    SELECT id FROM jobs WHERE id = $1 AND lease_epoch = $2 AND status = 'running' FOR KEY SHARE
),
new_blobs AS (
    INSERT INTO blobs (job_id, sha256, content)
    SELECT DISTINCT ON (contents.sha256) fence.id, contents.sha256, contents.content
    FROM fence CROSS JOIN (
        SELECT sha256(content) AS sha256, content FROM unnest($3::bytea[]) AS f (content)
    ) AS contents
    ON CONFLICT (job_id, sha256) DO NOTHING
)
SELECT EXISTS (SELECT FROM fence) AS "held!"
