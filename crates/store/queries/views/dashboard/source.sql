-- The file with the text of a document: the file of extracted text, or the document itself if it is text.
SELECT coalesce(text_path, path) AS "text_path!", pages FROM sources WHERE job_id = $1 AND path = $2
