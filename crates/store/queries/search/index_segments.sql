-- Adds contents and their segments to the search index. Words are stored as written and as English stems, which does
-- not harm other languages: both sides of a search are stemmed in the same way.
WITH marked AS (
    INSERT INTO indexed_blobs (job_id, sha256)
    SELECT $1, unnest($2::bytea[])
    ON CONFLICT DO NOTHING
)
INSERT INTO file_segments (job_id, sha256, part, first_line, text, words)
SELECT $1, p.sha256, p.part, p.first_line, p.text, to_tsvector('simple', p.text) || to_tsvector('english', p.text)
FROM unnest($3::bytea[], $4::int[], $5::int[], $6::text[]) AS p (sha256, part, first_line, text)
ON CONFLICT DO NOTHING
