SELECT substring(content FROM $3 FOR $4) FROM job_documents WHERE job_id = $1 AND position = $2
