-- Sources, citations and requirements of a step. The same citation or requirement text twice in a job is one row.
WITH taken_in AS (
    INSERT INTO sources (job_id, path, size, pages, text_path)
    SELECT $1, s.path, s.size, s.pages, s.text_path
    FROM json_to_recordset($3::text::json) AS s (path text, size bigint, pages int, text_path text)
    ON CONFLICT (job_id, path) DO UPDATE
    SET size = excluded.size, pages = excluded.pages, text_path = excluded.text_path
), cited AS (
    INSERT INTO citations (job_id, id, source, page, page_to, quote, verified, step)
    SELECT $1, c.id, c.source, c.page, c.page_to, c.quote, c.verified, $2
    FROM json_to_recordset($4::text::json) AS c (id text, source text, page int, page_to int, quote text, verified boolean)
    ON CONFLICT (job_id, id) DO NOTHING
)
INSERT INTO requirement_cache (job_id, id, candidate_id, text, name, type, priority, source_document, source_location,
                               gobd_relevant, gdpr_relevant, citations, mentioned_objects, mentioned_messages,
                               reasoning, research_notes, confidence, tags, content_key, step)
SELECT $1, r.id, r.candidate_id, r.text, r.name, r.type, r.priority, r.source_document, r.source_location,
       r.gobd_relevant, r.gdpr_relevant, r.citations, r.mentioned_objects, r.mentioned_messages,
       r.reasoning, r.research_notes, r.confidence, r.tags, decode(r.content_key_hex, 'hex'), $2
FROM json_to_recordset($5::text::json) AS r (
    id uuid, candidate_id text, text text, name text, type text, priority text, source_document text,
    source_location jsonb, gobd_relevant boolean, gdpr_relevant boolean, citations jsonb, mentioned_objects jsonb,
    mentioned_messages jsonb, reasoning text, research_notes text, confidence double precision, tags jsonb,
    content_key_hex text)
ON CONFLICT (job_id, content_key) WHERE content_key IS NOT NULL DO NOTHING
