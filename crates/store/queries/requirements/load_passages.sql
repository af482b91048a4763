-- The rows of the coverage ledger, as the engine holds them.
SELECT passage, document, ordinal, first_page, last_page, sha256, chunk_path, judged, state, answered_by, read_step,
       answered_step, reason, cut_step, blocks, unseen, sentences AS "sentences: Sentences"
FROM passages
WHERE job_id = $1
ORDER BY passage
