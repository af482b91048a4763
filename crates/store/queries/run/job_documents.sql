SELECT position, name, octet_length(content)::bigint AS "bytes!" FROM job_documents WHERE job_id = $1 ORDER BY position LIMIT 1001
