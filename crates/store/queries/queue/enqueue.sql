-- Inserts a job, or nothing when its key is known.
INSERT INTO jobs (id, job_type, prompt, document_path, document_content, context, config, priority, run_at,
                  idempotency_key, parent_job_id)
VALUES ($1, $2, $3, $4, $5, $6::text::jsonb, $7::text::jsonb, $8, coalesce($9::timestamptz, now()), $10, $11)
ON CONFLICT (job_type, idempotency_key) DO NOTHING
RETURNING id
