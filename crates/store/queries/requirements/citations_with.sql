SELECT id, source, page, page_to, passage, "from", "to", quote, verified
FROM citations
WHERE job_id = $1 AND id = ANY($2::text[])
