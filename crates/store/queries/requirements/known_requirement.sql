-- What the job has recorded, in the order in which it did, as the rows stand.
SELECT coalesce(candidate_id, '') AS "candidate_id!", coalesce(content_key, '') AS "content_key!", text,
       coalesce(name, '') AS "name!", coalesce(type, '') AS "type!", coalesce(priority, '') AS "priority!", source_document,
       coalesce(source_location, '{}') AS "source_location!: Given", gobd_relevant, gdpr_relevant, citations AS "citations!: Given",
       mentioned_objects AS "mentioned_objects!: Given", mentioned_messages AS "mentioned_messages!: Given", reasoning,
       research_notes, confidence, tags AS "tags!: Given", status
FROM requirement_cache
WHERE job_id = $1 AND step IS NOT NULL
ORDER BY step, id
