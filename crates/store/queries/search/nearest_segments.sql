-- Segments nearest to an embedding, compared by pgvector. The function's body is text that is compiled when it runs,
-- because this statement must also compile without the extension.
SELECT path AS "path!", first_line AS "first_line!", text AS "text!"
FROM nearest_segments($1, $2, $3, $4, $5)
