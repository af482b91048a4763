-- One line per document, by name, then one for the whole job.
SELECT document, passages AS "passages!", unread AS "unread!", read AS "read!", answered AS "answered!", cited AS "cited!",
       empty AS "empty!", closed AS "closed!", candidates AS "candidates!", candidates_cited AS "candidates_cited!",
       requirements AS "requirements!", share::double precision AS "share!", not_judged AS "not_judged!"
FROM coverage
WHERE job_id = $1
ORDER BY document NULLS LAST
