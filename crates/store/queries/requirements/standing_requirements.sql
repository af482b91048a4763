-- The requirements of a job that are not withdrawn, with the step that wrote their quotes.
SELECT r.number AS "number!", coalesce(r.candidate_id, '') AS "candidate_id!", r.text, r.tags AS "tags: UserJson", r.citations AS "citations!: UserJson",
       greatest(r.step, (
           SELECT max(c.step) FROM requirement_changes c
           WHERE c.job_id = r.job_id AND c.requirement_id = r.id AND c.fields ? 'citations')) AS "placed_step!"
FROM requirement_cache r
WHERE r.job_id = $1 AND r.number IS NOT NULL AND r.step IS NOT NULL AND r.status <> 'withdrawn'
ORDER BY r.number
