-- In the order the engine keeps them in, whatever the database's own collation is.
SELECT path, size, pages, text_path, warnings, unread_pages, extraction FROM sources WHERE job_id = $1 ORDER BY path COLLATE "C"
