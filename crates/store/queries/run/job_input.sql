-- The user's input, for the worker that runs the job. Rows from before the limits may hold more than $2 bytes: these
-- are not read, and the sizes show it.
SELECT octet_length(prompt)::bigint AS "prompt_bytes!",
       octet_length(document_path)::bigint AS "path_bytes?",
       octet_length(context::text)::bigint AS "context_bytes!",
       octet_length(config::text)::bigint AS "config_bytes!",
       octet_length(document_content)::bigint AS "document_bytes?",
       documents_bytes AS "documents_bytes!", documents_count AS "documents_count!",
       CASE WHEN octet_length(prompt) <= $2::bigint THEN prompt END AS "prompt?",
       CASE WHEN octet_length(document_path) <= $2::bigint THEN document_path END AS "document_path?",
       CASE WHEN octet_length(context::text) <= $2::bigint THEN context END AS "context?: UserJson",
       CASE WHEN octet_length(config::text) <= $2::bigint THEN config END AS "config?: UserJson",
       raised_limits, waited_s, untrusted_step
FROM jobs
WHERE id = $1
