-- The passages of a job in some states, in the order of their numbers.
SELECT passage, document, ordinal, first_page, last_page, chunk_path, candidates, candidates_cited, judged, state,
       answered_by, carried_from, read_step, answered_step, decided_step, n_requirements, reason
FROM passages
WHERE job_id = $1 AND state = ANY ($2)
ORDER BY passage
