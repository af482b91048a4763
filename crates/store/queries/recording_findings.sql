-- What the job found, as the engine's types have it: citations and requirements with their steps.
SELECT step AS "step!", 'citation' AS "kind!",
       jsonb_build_object('id', id, 'source', source, 'page', page, 'page_to', page_to, 'quote', quote, 'verified', verified) AS "found!"
FROM citations
WHERE job_id = $1
UNION ALL
SELECT step, 'requirement',
       jsonb_build_object('candidate_id', candidate_id, 'text', text, 'name', name, 'type', type, 'priority', priority,
                          'source_document', source_document, 'source_location', source_location,
                          'gobd_relevant', gobd_relevant, 'gdpr_relevant', gdpr_relevant, 'citations', citations,
                          'mentioned_objects', mentioned_objects, 'mentioned_messages', mentioned_messages,
                          'reasoning', reasoning, 'research_notes', research_notes, 'confidence', confidence,
                          'tags', tags)
FROM requirement_cache
WHERE job_id = $1 AND step IS NOT NULL
ORDER BY 1, 2, 3
