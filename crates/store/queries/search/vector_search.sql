-- Whether pgvector compares embeddings of so many numbers here.
SELECT vector_type($1) IS NOT NULL AS "here!"
