-- Gives a validator job up to $3 requirements: those it holds already, then the oldest pending ones, locked ones
-- skipped. Only the job's present worker gets any, and the job's row stays locked until they are its own, so that a job
-- which ends meanwhile leaves none behind. $4: whether rows that were accepted before, for want of a graph, count as
-- pending. $5: rows judged in this turn, whose judgement the turn's commit will write.
WITH me AS MATERIALIZED (
    SELECT j.id, validation_scope(j) AS scope
    FROM jobs j
    WHERE j.id = $1 AND j.lease_epoch = $2 AND j.status = 'running'
    FOR SHARE
), held AS MATERIALIZED (
    SELECT r.job_id, r.id
    FROM requirement_cache r
    JOIN me ON r.validator_job_id = me.id
    WHERE r.status = 'validating' AND r.id <> ALL ($5::uuid[])
    ORDER BY r.created_at, r.id
    LIMIT $3
), fresh AS MATERIALIZED (
    SELECT r.job_id, r.id
    FROM requirement_cache r
    CROSS JOIN me
    WHERE r.status = 'pending'
      AND (me.scope IS NULL OR r.job_id = me.scope)
      AND ($4 OR r.validation_result IS NULL)
    ORDER BY r.created_at, r.id
    LIMIT $3 - (SELECT count(*) FROM held)
    FOR UPDATE OF r SKIP LOCKED
), claimed AS (
    UPDATE requirement_cache r
    SET status = 'validating', validator_job_id = $1
    FROM (SELECT * FROM held UNION ALL SELECT * FROM fresh) AS mine
    WHERE r.job_id = mine.job_id AND r.id = mine.id
    RETURNING r.job_id, r.id
)
SELECT v.job_id AS "job_id!", v.id AS "id!", v.candidate_id, v.text AS "text!", v.name, v.type AS "type", v.priority,
       v.source_document, v.source_location, v.gobd_relevant AS "gobd_relevant!", v.gdpr_relevant AS "gdpr_relevant!",
       v.citations AS "citations!", v.mentioned_objects AS "mentioned_objects!",
       v.mentioned_messages AS "mentioned_messages!", v.reasoning, v.confidence AS "confidence!", v.tags AS "tags!",
       v.citations_given AS "citations_given!", v.citations_confirmed AS "citations_confirmed!"
FROM claimed
JOIN requirements_with_evidence v ON v.job_id = claimed.job_id AND v.id = claimed.id
ORDER BY v.created_at, v.id
