-- Creates the index for a model's embeddings in one of the two tables, if the extension is installed.
SELECT index_embeddings($1, $2, $3) AS "indexed!"
