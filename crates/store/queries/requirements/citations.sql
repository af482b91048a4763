SELECT id, source, page, page_to, passage, "from", "to", quote, verified FROM citations WHERE job_id = $1 ORDER BY id
