-- The dashboard's lists: a status or a job type, newest first, a page at a time from any place on. Neither column
-- changes in a step, so steps stay heap-only updates. The first one also answers how many jobs have which status.
CREATE INDEX jobs_by_status ON jobs (status, created_at DESC, id);
CREATE INDEX jobs_by_type ON jobs (job_type, created_at DESC, id);
