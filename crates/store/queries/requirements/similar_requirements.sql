-- For each of several texts: the requirements that share distinctive words with it and have a similar length, most
-- likely first, at most $4: those of the job named beside the text, and integrated ones of every job of the same login.
-- If the text is itself a row of that job, only earlier rows count: of two duplicates in one job the first is kept. $1
-- jobs, $2 texts, $3 rows.
--
-- The two parts are read in different ways: integrated rows by the index of their words, the job's own one by one.
--
-- The distinctive words are the rarer half of a text's words plus one: two requirements similar enough to be reported
-- share more than half of their words, so they share at least one of these. Searching for all words would match nearly
-- every row by "the" and "must". Word frequencies come from the column's statistics as of the last ANALYZE; of the
-- words that are not in the statistics, the longest count as the rarest. If no such similarity is required ($5), all
-- words count, and so does any length.
WITH inputs AS (
    SELECT a.n, a.job_id, a.text, a.before, a.widely
    FROM unnest($1::uuid[], $2::text[], $3::uuid[], $5::boolean[])
        WITH ORDINALITY AS a (job_id, text, before, widely, n)
), frequent AS MATERIALIZED (
    SELECT e.word, e.share
    FROM pg_stats s
    CROSS JOIN unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) AS e (word, share)
    WHERE s.schemaname = 'public' AND s.tablename = 'requirement_cache' AND s.attname = 'words'
), ranked AS (
    SELECT a.n, a.widely, w.lexeme, count(*) OVER (PARTITION BY a.n) AS n_words,
           row_number() OVER (PARTITION BY a.n
                              ORDER BY coalesce(f.share, 0), char_length(w.lexeme) DESC, w.lexeme) AS place
    FROM inputs a
    CROSS JOIN LATERAL unnest(to_tsvector('simple', a.text)) AS w
    LEFT JOIN frequent f ON f.word = w.lexeme
), telling AS (
    SELECT n, string_agg('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''', '|')::tsquery AS words
    FROM ranked
    WHERE widely OR place <= n_words / 2 + 1
    GROUP BY n
), wanted AS MATERIALIZED (
    SELECT a.n, a.job_id, a.before, a.widely, own.created_at AS before_at, t.words, char_length(a.text) AS chars,
           (SELECT me.created_by FROM jobs me WHERE me.id = a.job_id) AS login
    FROM inputs a
    JOIN telling t ON t.n = a.n
    LEFT JOIN requirement_cache own ON own.job_id = a.job_id AND own.id = a.before
)
SELECT w.n AS "n!", s.id AS "id!", s.job_id AS "job_id!", s.number, s.candidate_id, s.name, s.text AS "text!", s.status AS "status!",
       s.graph_node_id, s.citations -> 0 AS "first_quote: UserJson"
FROM wanted w
CROSS JOIN LATERAL (
    SELECT r.*, ts_rank(r.words, w.words) AS rank
    FROM (
        SELECT i.*
        FROM requirement_cache i
        WHERE i.status = 'integrated' AND i.words @@ w.words
          AND (i.job_id = w.job_id OR EXISTS (SELECT FROM jobs o WHERE o.id = i.job_id AND o.created_by = w.login))
        UNION ALL
        SELECT o.*
        FROM requirement_cache o
        WHERE o.job_id = w.job_id AND o.status IN ('pending', 'validating') AND o.words @@ w.words
          AND (w.before IS NULL OR (o.created_at, o.id) < (w.before_at, w.before))
    ) AS r
    WHERE (w.widely OR char_length(r.text) BETWEEN w.chars / 2 AND w.chars * 2) AND r.id IS DISTINCT FROM w.before
    ORDER BY rank DESC, r.created_at, r.id
    LIMIT $4
) AS s
ORDER BY w.n, s.rank DESC, s.created_at, s.id
