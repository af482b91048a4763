-- The current requirements of the job, in the order in which they were recorded.
SELECT number, coalesce(candidate_id, '') AS "candidate_id!", coalesce(content_key, '') AS "content_key!", text,
       coalesce(name, '') AS "name!", coalesce(type, '') AS "type!", coalesce(priority, '') AS "priority!", source_document,
       coalesce(source_location, '{}') AS "source_location!: UserJson", gobd_relevant, gdpr_relevant, citations AS "citations!: UserJson",
       mentioned_objects AS "mentioned_objects!: UserJson", mentioned_messages AS "mentioned_messages!: UserJson", reasoning,
       research_notes, confidence, tags AS "tags!: UserJson", status
FROM requirement_cache
WHERE job_id = $1 AND step IS NOT NULL
ORDER BY step, id
