INSERT INTO job_documents (job_id, position, name, content) VALUES ($1, $2, $3, $4)
