SELECT id, candidate_id, text, name, type AS "type", priority, source_document, source_location AS "source_location: Given", gobd_relevant,
       gdpr_relevant, citations AS "citations!: Given", mentioned_objects AS "mentioned_objects!: Given",
       mentioned_messages AS "mentioned_messages!: Given", reasoning, research_notes, confidence, status,
       validation_result AS "validation_result: Given", graph_node_id, rejection_reason, retry_count, last_error, created_at, updated_at,
       validated_at, tags AS "tags!: Given"
FROM requirement_cache
WHERE job_id = $1
ORDER BY step NULLS LAST, id
