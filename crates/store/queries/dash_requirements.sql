-- A page of a job's requirements after $2; ids rise with the time they were recorded.
SELECT id, candidate_id, text, name, type AS "type", priority, source_document, source_location, gobd_relevant,
       gdpr_relevant, citations, reasoning, research_notes, confidence, status, rejection_reason, last_error, created_at
FROM requirement_cache
WHERE job_id = $1 AND id > $2
ORDER BY id
LIMIT $3
