-- Requirements that share telling words with a text and are of like length, the likeliest first: integrated ones of
-- every job, and those of job $1. With $4, a row of that job, only what counts before it: of two alike in one job the
-- first stays.
--
-- Telling words are the rarer half of a text's words, and one more: two requirements that are alike enough to be
-- reported share more than half of their words, so at least one of these. All of its words would find nearly every row,
-- by "the" and "must". How frequent a word is the column's statistics say, as of the last ANALYZE; among those that they
-- do not know the longest count as the rarest.
WITH frequent AS (
    SELECT e.word, e.share
    FROM pg_stats s
    CROSS JOIN unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) AS e (word, share)
    WHERE s.schemaname = 'public' AND s.tablename = 'requirement_cache' AND s.attname = 'words'
), ranked AS (
    SELECT w.lexeme, count(*) OVER () AS n_words,
           row_number() OVER (ORDER BY coalesce(f.share, 0), char_length(w.lexeme) DESC, w.lexeme) AS place
    FROM unnest(to_tsvector('simple', $2)) AS w
    LEFT JOIN frequent f ON f.word = w.lexeme
), wanted AS MATERIALIZED (
    SELECT string_agg('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''', '|')::tsquery AS words,
           char_length($2) AS chars
    FROM ranked
    WHERE place <= n_words / 2 + 1
)
SELECT r.id, r.job_id, r.candidate_id, r.name, r.text, r.status, r.graph_node_id
FROM wanted
JOIN requirement_cache r ON r.words @@ wanted.words
WHERE char_length(r.text) BETWEEN wanted.chars / 2 AND wanted.chars * 2
  AND (r.status = 'integrated' OR (r.job_id = $1 AND r.status IN ('pending', 'validating')))
  AND ($4::uuid IS NULL OR (r.id <> $4 AND (r.status = 'integrated' OR (r.created_at, r.id) < (
      SELECT own.created_at, own.id FROM requirement_cache own WHERE own.job_id = $1 AND own.id = $4))))
ORDER BY ts_rank(r.words, wanted.words) DESC, r.created_at, r.id
LIMIT $3
