-- Inserts a job, or nothing if its key is known.
INSERT INTO jobs (job_type, prompt, document_path, document_content, context, config, priority, run_at, idempotency_key,
                  parent_job_id)
VALUES ($1, $2, $3, $4, $5::text::jsonb, $6::text::jsonb, $7, coalesce($8::timestamptz, now()), $9, $10)
ON CONFLICT DO NOTHING
RETURNING id
