-- The requirements that a validator job holds, oldest first, at most $3. $2: rows to exclude.
SELECT v.job_id AS "job_id!", v.id AS "id!", v.number, v.candidate_id, v.text AS "text!", v.name, v.type AS "type", v.priority,
       v.source_document, coalesce(v.source_location, 'null') AS "source_location!: UserJson", v.gobd_relevant AS "gobd_relevant!", v.gdpr_relevant AS "gdpr_relevant!",
       v.citations AS "citations!: UserJson", v.mentioned_objects AS "mentioned_objects!: UserJson",
       v.mentioned_messages AS "mentioned_messages!: UserJson", v.reasoning, v.confidence AS "confidence!", v.tags AS "tags!: UserJson",
       EXISTS (SELECT FROM requirement_cache r WHERE r.id = v.id AND r.step IS NOT NULL) AS "is_ours!",
       v.citations_given AS "citations_given!", v.citations_confirmed AS "citations_confirmed!"
FROM requirements_with_evidence v
WHERE v.validator_job_id = $1 AND v.status = 'validating' AND v.id <> ALL ($2::uuid[])
ORDER BY v.created_at, v.id
LIMIT $3
