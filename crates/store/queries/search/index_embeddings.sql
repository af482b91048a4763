-- Makes the index for a model's embeddings in one of the two tables, where there is an extension for it.
SELECT index_embeddings($1, $2, $3) AS "indexed!"
