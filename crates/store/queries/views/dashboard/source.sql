-- Where the text of a document is: the extracted text's file, or the document itself where it is text.
SELECT coalesce(text_path, path) AS "text_path!", pages FROM sources WHERE job_id = $1 AND path = $2
