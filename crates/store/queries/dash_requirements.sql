-- A page of a job's requirements after $2; ids rise with the time they were recorded.
SELECT id, candidate_id, text, name, type AS "type", priority, source_document, source_location, gobd_relevant,
       gdpr_relevant, citations, mentioned_objects, mentioned_messages, reasoning, research_notes, confidence, status,
       validation_result, graph_node_id, rejection_reason, retry_count, last_error, created_at, updated_at,
       validated_at, tags
FROM requirement_cache
WHERE job_id = $1 AND id > $2
ORDER BY id
LIMIT $3
