SELECT path, size, pages, text_path FROM sources WHERE job_id = $1 ORDER BY path
