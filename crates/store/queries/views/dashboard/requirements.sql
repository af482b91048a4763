-- A page of a job's requirements after $2; ids increase with the time of recording.
SELECT id, candidate_id, text, name, type AS "type", priority, source_document, source_location AS "source_location: UserJson", gobd_relevant,
       gdpr_relevant, citations AS "citations!: UserJson", mentioned_objects AS "mentioned_objects!: UserJson",
       mentioned_messages AS "mentioned_messages!: UserJson", reasoning, research_notes, confidence, status,
       validation_result AS "validation_result: UserJson", graph_node_id, rejection_reason, retry_count, last_error, created_at, updated_at,
       validated_at, tags AS "tags!: UserJson"
FROM requirement_cache
WHERE job_id = $1 AND id > $2
ORDER BY id
LIMIT $3
