-- One requirement that a validator job holds.
SELECT v.job_id AS "job_id!", v.id AS "id!", v.candidate_id, v.text AS "text!", v.name, v.type AS "type", v.priority,
       v.source_document, v.source_location, v.gobd_relevant AS "gobd_relevant!", v.gdpr_relevant AS "gdpr_relevant!",
       v.citations AS "citations!", v.mentioned_objects AS "mentioned_objects!",
       v.mentioned_messages AS "mentioned_messages!", v.reasoning, v.confidence AS "confidence!", v.tags AS "tags!",
       v.citations_given AS "citations_given!", v.citations_confirmed AS "citations_confirmed!"
FROM requirements_with_evidence v
WHERE v.id = $2 AND v.validator_job_id = $1 AND v.status = 'validating'
