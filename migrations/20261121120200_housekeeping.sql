-- What keeps a database small and explains itself: ended jobs by age, states that leave the window, a job's rows by step,
-- the job types a worker knows.

-- Prune reads ended jobs oldest first, and keeps those whose successors still work.
CREATE INDEX jobs_ended ON jobs (completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX jobs_parent ON jobs (parent_job_id) WHERE parent_job_id IS NOT NULL;

-- A step's row stays for ever; its state is given up when it is old, lies between two phases' beginnings and is none of
-- the kept ones (see record.sql).
ALTER TABLE checkpoints ALTER COLUMN state DROP NOT NULL;

-- A trace reads a few steps at a time.
CREATE INDEX messages_by_step ON messages (job_id, step);
CREATE INDEX llm_requests_by_step ON llm_requests (job_id, step);

-- Null: a worker of a release that did not say.
ALTER TABLE workers ADD COLUMN job_types text[];
