-- What belongs to a job from its first step on: its configuration, of which the first one stored is the job's for life,
-- and the set of files that it has in common with others.
WITH shared AS (
    INSERT INTO job_shared_files (job_id, set_id, step) SELECT $1, $3, $4 WHERE $3::bytea IS NOT NULL
)
INSERT INTO job_settings (job_id, resolved)
SELECT $1, $2::text::jsonb WHERE $2 IS NOT NULL
ON CONFLICT (job_id) DO NOTHING
