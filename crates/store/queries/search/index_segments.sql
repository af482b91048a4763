-- Puts contents and their segments into the search index. Words are kept as they stand and by their English stems,
-- which does no harm to other languages: both sides of a search are stemmed alike.
WITH marked AS (
    INSERT INTO indexed_blobs (job_id, sha256)
    SELECT $1, unnest($2::bytea[])
    ON CONFLICT DO NOTHING
)
INSERT INTO file_segments (job_id, sha256, part, first_line, text, words)
SELECT $1, p.sha256, p.part, p.first_line, p.text, to_tsvector('simple', p.text) || to_tsvector('english', p.text)
FROM unnest($3::bytea[], $4::int[], $5::int[], $6::text[]) AS p (sha256, part, first_line, text)
ON CONFLICT DO NOTHING
