-- Whether pgvector can compare embeddings of this dimension here.
SELECT vector_type($1) IS NOT NULL AS "here!"
