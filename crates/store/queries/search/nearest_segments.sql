-- Segments nearest to an embedding, compared by pgvector. The function is made of text when it runs, because this must
-- also compile where the extension is not.
SELECT path AS "path!", first_line AS "first_line!", text AS "text!"
FROM nearest_segments($1, $2, $3, $4, $5)
