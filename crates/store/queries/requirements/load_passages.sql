-- The rows of the coverage ledger in the engine's form.
SELECT passage, document, ordinal, first_page, last_page, sha256, chunk_path, judged, n_sentences,
       n_not_judged, n_requirements, decisions AS "decisions: Decisions", state, answered_by, carried_from, read_step, answered_step,
       decided_step, asked_step, reason, cut_step, blocks, unseen, sentences AS "sentences: Sentences"
FROM passages
WHERE job_id = $1
ORDER BY passage
