-- The first one stored is the job's for life.
INSERT INTO job_settings (job_id, resolved) VALUES ($1, $2::text::jsonb) ON CONFLICT (job_id) DO NOTHING
