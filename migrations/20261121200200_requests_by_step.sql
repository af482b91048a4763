-- The requests have one index in place of two: their key begins with the step, by which they are read a page at a time.

ALTER TABLE llm_requests DROP CONSTRAINT llm_requests_pkey, ADD PRIMARY KEY (job_id, step, id);
DROP INDEX llm_requests_by_step;
