-- Corrects or withdraws a recorded requirement unless a validator has claimed it; a row that a validator has locked
-- counts as claimed. The earlier values are kept. $8: the columns to change, as an object.
WITH known AS MATERIALIZED (
    SELECT r AS whole, r.id
    FROM requirement_cache r
    WHERE r.job_id = $1 AND r.candidate_id = $2 AND r.status = 'pending' AND r.step IS NOT NULL
    LIMIT 1
    FOR UPDATE SKIP LOCKED
), change_log AS (
    INSERT INTO requirement_changes (job_id, requirement_id, step, position, kind, reason, fields, former)
    SELECT $1, k.id, $3, $4, $5, $6, $7::text::jsonb, requirement_as_written(k.whole)
    FROM known k
)
UPDATE requirement_cache r
SET text = n.text, name = n.name, type = n.type, priority = n.priority, source_document = n.source_document,
    source_location = n.source_location, gobd_relevant = n.gobd_relevant, gdpr_relevant = n.gdpr_relevant,
    citations = n.citations, mentioned_objects = n.mentioned_objects, mentioned_messages = n.mentioned_messages,
    reasoning = n.reasoning, research_notes = n.research_notes, confidence = n.confidence, tags = n.tags,
    content_key = n.content_key, status = n.status, validation_result = NULL, validated_at = NULL
FROM known k
CROSS JOIN LATERAL jsonb_populate_record(k.whole, $8::text::jsonb) AS n
WHERE r.id = k.id
