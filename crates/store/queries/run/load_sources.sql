-- In the engine's order, independent of the database's collation.
SELECT path, size, pages, text_path, warnings, unread_pages, extraction FROM sources WHERE job_id = $1 ORDER BY path COLLATE "C"
