-- Requirements that share words with a text and are of like length, the likeliest first: integrated ones of every job,
-- and those of job $1. With $4, a row of that job, only what counts before it: of two alike in one job the first stays.
SELECT r.id, r.job_id, r.candidate_id, r.name, r.text, r.status, r.graph_node_id
FROM requirement_cache r
WHERE r.words @@ any_word_of($2)
  AND char_length(r.text) BETWEEN char_length($2) / 2 AND char_length($2) * 2
  AND (r.status = 'integrated' OR (r.job_id = $1 AND r.status IN ('pending', 'validating')))
  AND ($4::uuid IS NULL OR (r.id <> $4 AND (r.status = 'integrated' OR (r.created_at, r.id) < (
      SELECT own.created_at, own.id FROM requirement_cache own WHERE own.job_id = $1 AND own.id = $4))))
ORDER BY ts_rank(r.words, any_word_of($2)) DESC, r.created_at, r.id
LIMIT $3
