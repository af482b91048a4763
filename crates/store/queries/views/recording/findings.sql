-- The job's findings in the engine's types: citations, requirements as their steps recorded them, and later changes to
-- them.
SELECT step AS "step!", 'citation' AS "kind!",
       jsonb_build_object('id', id, 'source', source, 'page', page, 'page_to', page_to, 'quote', quote, 'verified', verified)
           || CASE WHEN passage IS NULL THEN '{}'::jsonb
                   ELSE jsonb_build_object('passage', passage, 'from', "from", 'to', "to") END AS "found!"
FROM citations
WHERE job_id = $1
UNION ALL
SELECT step, 'requirement',
       jsonb_build_object('number', number, 'candidate_id', candidate_id, 'text', text, 'name', name, 'type', type, 'priority', priority,
                          'source_document', source_document, 'source_location', source_location,
                          'gobd_relevant', gobd_relevant, 'gdpr_relevant', gdpr_relevant, 'citations', citations,
                          'mentioned_objects', mentioned_objects, 'mentioned_messages', mentioned_messages,
                          'reasoning', reasoning, 'research_notes', research_notes, 'confidence', confidence,
                          'tags', tags)
FROM requirements_at($1, -1)
WHERE step IS NOT NULL
UNION ALL
SELECT c.step, 'change',
       jsonb_build_object('candidate_id', r.candidate_id, 'kind', c.kind, 'reason', c.reason, 'fields', c.fields)
FROM requirement_changes c
JOIN requirement_cache r ON r.job_id = c.job_id AND r.id = c.requirement_id
WHERE c.job_id = $1
ORDER BY 1, 2, 3
